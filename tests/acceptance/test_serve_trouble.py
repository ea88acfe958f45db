"""A database that somebody else holds, and a disk that is full, under the real server.

Nothing that was asked for meanwhile is done by halves, no agent is lost, and once it is over the
work goes on by itself and is done once.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.command import SEGUE, Going
from kit.processes import all_running, state_of
from kit.serve import GOOD, QUESTION, House
from kit.server import POLL_S, TOKEN, Answer, Json, Server
from kit.waiting import until

ANSWERED_WITHIN_S = 30.0  # the server waits for a lock for a while; nobody waits for ever
RECORD_BYTES = 4096  # what a keeper has for its record, also on a full disk
HELD = f"hold go\n{GOOD}"
NEW = {"title": "B", "description": "Do it.", "type": "one", "agent": "b", "submit": True}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    made.hand("a", HELD)
    made.hand("b", GOOD)
    made.hand("q", f"case $n in 1) {QUESTION} ;; *) {GOOD} ;; esac\n")
    yield made
    made.end_everything()


def refused(server: Server, path: str, body: object = None, **headers: str) -> Json:
    """A problem document in good time that says when to come back; the server lives."""
    began = time.monotonic()
    answer = server.post(path, body, **headers)
    assert time.monotonic() - began < ANSWERED_WITHIN_S
    said = answer.problem(503)
    assert int(answer.headers["retry-after"]) >= 1
    assert server.going.process.poll() is None
    return said


def accepted(server: Server, path: str, body: object = None, **headers: str) -> Answer:
    """A client that comes back for as long as it is told to."""

    def tried() -> Answer | None:
        answer = server.post(path, body, **headers)
        if answer.status == 503:
            return None
        return answer

    found = until(tried, f"{path} is taken", every_s=POLL_S)
    assert found is not None
    return found


def steps_once(server: Server, task: str) -> None:
    """No step of the task was made twice."""
    rows = [(r["from"], r["to"]) for r in server.journal(task) if r["entity"] == "task"]
    assert len(rows) == len(set(rows)), rows


@contextlib.contextmanager
def held(database: Path, how: str) -> Iterator[None]:
    """Another program has the database for itself."""
    db = sqlite3.connect(database, timeout=20, isolation_level=None)
    try:
        db.execute(f"BEGIN {how}")
        yield
        db.execute("ROLLBACK")
    finally:
        db.close()


def waits(server: Server) -> bool:
    """Whether the server has said that it waits for the disk or the database."""
    return "everything waits" in server.going.result.err


@pytest.mark.parametrize("how", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_database_that_is_held_is_waited_for(house: House, how: str) -> None:
    """Requests get 503, looks are answered, an agent that ends meanwhile is taken in afterwards."""
    server = house.serve()
    asked = server.new("q")
    question = server.waiting("questions", asked)["id"]
    task = server.new("a")
    until(lambda: house.starts(task) == 1, "its agent")
    before = server.items("/tasks")
    with held(house.database, how):
        assert refused(server, "/tasks", NEW)["code"] == "database_busy"
        refused(server, f"/questions/{question}/answer", {"answer": "SQLite"})
        refused(server, f"/tasks/{task}/cancel")
        house.release("go")
        until(lambda: waits(server), "the end that cannot be kept")
        assert server.task(task)["status"] == "in_progress"
        assert server.items("/tasks") == before, "nothing was done by halves"
        for _again in range(5):
            refused(server, "/tasks", NEW)
    server.reaches(task, "review")
    assert house.starts(task) == 1, "its one run was enough"
    steps_once(server, task)
    accepted(server, f"/questions/{question}/answer", {"answer": "SQLite"}).ok()
    server.reaches(asked, "review")
    assert house.starts(asked) == 2
    server.approve(task).ok()
    server.reaches(task, "completed")
    assert len(server.items("/tasks")) == 2
    assert server.stop() == 0


def test_agents_run_on_while_the_database_is_held(house: House) -> None:
    """A living one is the same process afterwards, and what it told meanwhile counts once."""
    house.live("talker", f"hold ask\n{QUESTION}\nlisten\n{GOOD}listen\n")
    server = house.serve()
    living, ends = server.new("talker"), server.new("a")
    until(lambda: house.starts(living) and house.starts(ends), "both agents")
    pid = int(house.lines(living, "starts")[0])
    with held(house.database, "IMMEDIATE"):
        house.release("go")
        house.release("ask")
        until(lambda: waits(server), "it waits")
        assert state_of(pid), "it lives"
    question = server.waiting("questions", living)
    assert len(server.items(f"/tasks/{living}/questions")) == 1
    server.post(f"/questions/{question['id']}/answer", {"answer": "SQLite"}).ok()
    server.reaches(living, "review")
    server.reaches(ends, "review")
    assert house.starts(living) == 1
    assert sum("question_answer" in line for line in house.lines(living, "heard")) == 1
    server.approve(living).ok()
    server.reaches(living, "completed")


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_server_that_waits_can_be_ended(house: House, is_killed: bool) -> None:
    """In order or by kill -9, while the database is held; the next one makes good."""
    server = house.serve()
    task = server.new("a")
    until(lambda: house.starts(task) == 1, "its agent")
    with held(house.database, "IMMEDIATE"):
        house.release("go")
        until(lambda: waits(server), "it waits")
        if is_killed:
            server.kill()
        else:
            assert server.stop() == 0
    server = house.serve()
    server.reaches(task, "review")
    assert house.starts(task) == 1


# A full disk. Without privileges: no file of a process may grow, which is told as an error by
# write(2) at the same places; the soft limit can be put back at any time.


def limit_files(pid: int, size: int) -> None:
    hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))


@contextlib.contextmanager
def full_for(pids: list[int], size: int = 0) -> Iterator[None]:
    """None of these processes can write to a file, other than its first bytes."""
    for pid in pids:
        limit_files(pid, size)
    yield
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            limit_files(pid, resource.RLIM_INFINITY)


def test_a_full_disk_is_waited_for(house: House) -> None:
    """As with a held database: 503, nothing by halves, then on by itself."""
    server = house.serve()
    asked = server.new("q")
    question = server.waiting("questions", asked)["id"]
    task = server.new("a")
    until(lambda: house.starts(task) == 1, "its agent")
    before = server.items("/tasks")
    with full_for([server.going.pid]):
        assert refused(server, "/tasks", NEW, **{"Idempotency-Key": "k"})["code"] == "disk_full"
        refused(server, f"/questions/{question}/answer", {"answer": "SQLite"})
        house.release("go")
        ended = house.root / ".segue" / "runs"
        until(lambda: list(ended.glob(f"{task}-*.end")), "the end of its agent")
        refused(server, f"/tasks/{task}/cancel")
        assert server.items("/tasks") == before, "nothing was done by halves"
        assert server.get("/health").status == 200
    server.reaches(task, "review")
    assert house.starts(task) == 1
    steps_once(server, task)
    made = accepted(server, "/tasks", NEW, **{"Idempotency-Key": "k"})
    assert made.status == 201
    assert server.post("/tasks", NEW, **{"Idempotency-Key": "k"}).json["id"] == made.json["id"]
    server.reaches(made.json["id"], "review")
    accepted(server, f"/questions/{question}/answer", {"answer": "SQLite"}).ok()
    server.reaches(asked, "review")
    until(lambda: server.items(f"/tasks/{task}/checkpoints"), "its checkpoint")
    assert server.stop() == 0


def test_output_that_cannot_be_logged_is_told(house: House) -> None:
    """The agent goes on, the server goes on; people and the log are told what is missing."""
    told = house.out / "told"
    command = f"command:tee -a {told}"
    much = f"printf '%{2 * RECORD_BYTES}s\\n' much"
    lost = f'{much}; note ready; hold go; echo "a lost line"'
    house.hand("loud", f"case $n in 1) {lost} ;; *) {GOOD} ;; esac\n")
    server = house.serve(top=f"reviews.notify = {json.dumps([command])}\n")
    task = server.new("loud")
    until(lambda: "much" in server.log(task), "its log")
    keepers = [pid for pid, words in house.left_behind().items() if "nursery" in words]
    assert keepers
    with full_for(keepers, RECORD_BYTES):
        house.release("go")
        until(lambda: list((house.root / ".segue" / "runs").glob(f"{task}-*.end")), "its end")
    server.reaches(task, "review")
    assert "a lost line" not in server.log(task)
    assert house.starts(task) == 2, "it was asked once more"
    until(lambda: told.exists() and "bytes of the agent's output" in told.read_text(), "a notice")
    assert f"task {task}: " in server.going.result.err
    lines = (house.root / ".segue" / "logs" / "server.log").read_text().splitlines()
    inside = [line for line in map(json.loads, lines) if "said" in line]
    assert [line["task"] for line in inside if "could not store" in line["said"]] == [task]


def test_a_report_that_cannot_be_logged_counts(house: House) -> None:
    """It is in the record of the run's end: the work is not done again."""
    much = f"printf '%{2 * RECORD_BYTES}s\\n' much"
    house.hand("loud", f"{much}; note ready; hold go; {much}\n{GOOD}")
    server = house.serve()
    task = server.new("loud")
    until(lambda: "much" in server.log(task), "its log")
    keepers = [pid for pid, words in house.left_behind().items() if "nursery" in words]
    with full_for(keepers, RECORD_BYTES):
        house.release("go")
        until(lambda: list((house.root / ".segue" / "runs").glob(f"{task}-*.end")), "its end")
    server.reaches(task, "review")
    assert "COMPLETE" not in server.log(task)
    assert house.starts(task) == 1


# A disk of its own, in a name space of its own, where the system allows it.

NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")


def can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    mount = "mount -t tmpfs -o size=1m none /tmp"
    done = subprocess.run([*NAMESPACE, "sh", "-c", mount], capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.skipif(not can_mount(), reason="no disk of one's own can be mounted here")
def test_a_disk_without_any_room(house: House) -> None:
    """Database, logs, runs and workspaces on one full disk: all of it waits, then is done."""
    memory = house.root / ".segue"
    memory.mkdir()
    house.extra_env["XDG_STATE_HOME"] = str(memory / "of-the-user")
    server = serve_on_a_small_disk(house, memory)
    inside = Path(f"/proc/{server.going.pid}/root{memory}")
    task, following = server.new("a"), None
    until(lambda: house.starts(task) == 1, "its agent")
    agent = int(house.lines(task, "starts")[0])
    filler = inside / "filler"
    fill(filler)
    assert refused(server, "/tasks", NEW)["code"] == "disk_full"
    house.release("go")
    until(lambda: not all_running([agent]), "the end of its agent")
    for _again in range(3):
        refused(server, "/tasks", NEW)
    assert server.task(task)["status"] == "in_progress"
    filler.unlink()
    server.reaches(task, "review")
    steps_once(server, task)
    assert house.starts(task) <= 2, "what it wrote was lost: it was asked once more"
    following = accepted(server, "/tasks", NEW).json["id"]
    server.reaches(following, "review")
    server.approve(task).ok()
    server.reaches(task, "completed")
    assert "first part" in server.zip(task)["one.md"]
    assert server.stop() == 0


def asked_early(port: int, method: str, path: str) -> Answer:
    """A request of a server that does not serve yet."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERED_WITHIN_S)
    with contextlib.closing(link):
        body = json.dumps(NEW) if method == "POST" else None
        link.request(method, path, body, {"Content-Type": "application/json"})
        reply = link.getresponse()
        named = {name.lower(): value for name, value in reply.getheaders()}
        return Answer(reply.status, named, reply.read())


@pytest.mark.skipif(not can_mount(), reason="no disk of one's own can be mounted here")
def test_a_disk_that_is_full_at_the_start_is_waited_for(house: House) -> None:
    """In words, and without an end: clients get 503 and when to come back, as later; once there is
    room it begins by itself."""
    memory = house.root / ".segue"
    memory.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    fill_it = f'cat /dev/zero > "{memory}/filler" 2>/dev/null;'
    going = start_on_a_small_disk(house, memory, fill_it, port)
    until(lambda: "starts as soon as it can write" in going.result.err, "that it waits")
    assert "Traceback" not in going.result.err
    for method, path in (("POST", "/api/tasks"), ("GET", "/"), ("GET", "/health")) * 2:
        answer = asked_early(port, method, path)
        assert answer.problem(503)["code"] == "disk_full"
        assert int(answer.headers["retry-after"]) >= 1
        assert answer.headers["x-content-type-options"] == "nosniff"
    Path(f"/proc/{going.pid}/root{memory}/filler").unlink()
    server = Server(going, TOKEN)
    server.reaches(server.new("b"), "review")
    assert server.stop() == 0


@pytest.mark.skipif(not can_mount(), reason="no disk of one's own can be mounted here")
def test_a_server_that_waits_for_a_disk_can_be_ended(house: House) -> None:
    """SIGTERM ends it in order before it has begun."""
    memory = house.root / ".segue"
    memory.mkdir()
    going = start_on_a_small_disk(house, memory, f'cat /dev/zero > "{memory}/filler" 2>/dev/null;')
    until(lambda: "starts as soon as it can write" in going.result.err, "that it waits")
    going.send(signal.SIGTERM)
    assert going.end().code == 0


def serve_on_a_small_disk(house: House, memory: Path) -> Server:
    return Server(start_on_a_small_disk(house, memory), TOKEN)


def start_on_a_small_disk(house: House, memory: Path, before: str = "", port: int = 0) -> Going:
    house.config("\n".join(house.tables))
    mount = f'mount -t tmpfs -o size=16m none "{memory}" && {before} exec "$0"'
    mount += f" serve --port {port} --json"
    out, err = house.tmp / "disk.out", house.tmp / "disk.err"
    with out.open("wb") as o, err.open("wb") as e:
        process = subprocess.Popen(
            [*NAMESPACE, "sh", "-c", mount, str(SEGUE)], cwd=house.root, env=house.env(),
            stdin=subprocess.DEVNULL, stdout=o, stderr=e, start_new_session=True,
        )  # fmt: skip
    going = Going(process, out, err)
    house.started.append(going)
    return going


def fill(path: Path) -> None:
    """Take all the room there is, to the last page."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        for size in (1 << 20, 4096, 1):
            with contextlib.suppress(OSError):
                while True:
                    os.write(fd, b"x" * size)
    finally:
        os.close(fd)


def test_a_database_that_is_lost_is_said_with_what_was_lost(house: House) -> None:
    """The files of its tasks are still there: each is named, and where it is."""
    server = house.serve()
    known = server.new(agent="b")
    server.reaches(known, "review")
    assert server.stop() == 0
    assert known not in server.going.result.err, "nothing is lost yet"
    for path in house.state.glob("segue.db*"):
        path.unlink()
    again = house.serve()
    assert again.get("/tasks").json["total"] == 0
    said = until(lambda: again.going.result.err, "words")
    assert known in said
    assert str(house.root / ".segue" / "server" / "workspaces") in said
