"""Segue's memory removed: by an agent in the middle of a run, between two runs, or never a folder."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess

import pytest

from kit.box import Box
from kit.waiting import until


def rows(box: Box, sql: str) -> list[tuple[str, ...]]:
    db = sqlite3.connect(box.database)
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


@pytest.mark.parametrize("removed", [".segue", ".segue/runs", ".segue/logs"])
def test_memory_removed_in_the_middle_of_a_run_is_put_back(box: Box, removed: str) -> None:
    """An agent removes it, or a part of it: the run goes on to its end, each task is done once,
    and the next start knows it all."""
    box.plan(
        f"- [ ] T-1: a\n  - retries: 0\n  - run: echo hello; rm -rf {removed}; sleep 0.5; {box.note()}\n"
        f"- [ ] T-2: b (deps: T-1)\n  - retries: 0\n  - run: {box.note()}\n"
        f"- [ ] T-3: c (deps: T-2)\n  - retries: 0\n  - run: {box.note()}\n  - verify: true\n",
    )
    done = box.run()
    assert done.code == 0, done.said
    assert done.finished["completed"] == ["T-1", "T-2", "T-3"]
    if removed != ".segue/runs":  # that may be there again before anybody looks
        assert any("records were removed" in event["text"] for event in done.of("notice"))
    assert box.notes() == ["T-1", "T-2", "T-3"]
    assert box.run().code == 0
    assert box.notes() == ["T-1", "T-2", "T-3"]
    assert rows(box, "SELECT state FROM tasks") == [("completed",)] * 3
    assert len(rows(box, "SELECT id FROM runs")) == 3
    assert (box.root / ".segue" / ".gitignore").exists()
    assert not box.left_behind()


def test_an_agent_that_cleans_the_repository_ends_its_run(box: Box) -> None:
    """`git clean -fdx` of an agent takes the memory away; tasks side by side are not harmed."""
    for words in (["init", "-q"], ["add", "-A"]):
        box.plan(
            f"- [ ] T-1: a\n  - run: git clean -fdxq; {box.note()}; {box.hold('go')}\n"
            f"- [ ] T-2: b\n  - run: {box.hold('go')}; {box.note()}\n"
        )
        subprocess.run(["git", *words], cwd=box.root, env=box.env(), check=True)
    going = box.start_run("--jobs", "2")
    until(lambda: (box.database).exists() and box.notes(), "put back")
    box.release("go")
    done = going.end()
    assert done.code == 0, done.said
    assert sorted(box.notes()) == ["T-1", "T-2"]


def test_a_run_that_lost_its_memory_is_still_locked_and_adopted(box: Box) -> None:
    """With the memory put back, nobody else can run the plan; and after a kill -9 the agent that
    still works is found again."""
    box.plan(f"- [ ] T-1: a\n  - run: {box.note()}; rm -rf .segue; {box.hold('go')}\n")
    going = box.start_run()
    going.event("notice")
    second = box.run()
    assert (second.code, second.json["error"]["code"]) == (2, "plan_locked")
    going.kill()
    third = box.start_run()
    third.event("run_adopted", "T-1")
    box.release("go")
    done = third.end()
    assert done.code == 0, done.said
    assert box.notes() == ["T-1"]


def test_another_memory_in_its_place_ends_the_run_in_words(box: Box) -> None:
    """What is there now is not ours to overwrite: the run ends with an error, and no agent is left."""
    box.plan(f"- [ ] T-1: a\n  - run: {box.hold('go')}\n- [ ] T-2: b\n  - run: true\n")
    going = box.start_run("--jobs", "1")
    going.event("task_started", "T-1")
    other = box.tmp / "other.db"
    sqlite3.connect(other).close()
    going.send(signal.SIGSTOP)
    shutil.rmtree(box.state)
    box.state.mkdir()
    other.rename(box.database)
    going.send(signal.SIGCONT)
    done = going.end()
    assert done.code == 2, done.said
    assert '"memory_replaced"' in done.out
    assert not box.left_behind()


def test_a_worktree_removed_with_the_memory_is_not_a_success(box: Box) -> None:
    """What was not committed in it is lost: the try has failed, and the next one does it."""
    subprocess.run(["git", "init", "-q"], cwd=box.root, env=box.env(), check=True)
    box.plan(
        f"- [ ] T-1: a\n  - run: echo x > made; {box.note()};"
        f' test $SEGUE_ATTEMPT = 2 || rm -rf "{box.root}/.segue"\n'
    )
    who = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    for words in (["add", "PLAN.md"], [*who, "commit", "-qm", "begin"]):
        subprocess.run(["git", *words], cwd=box.root, env=box.env(), check=True)
    done = box.run("--isolate", "worktree")
    assert done.code == 0, done.said
    assert (box.root / "made").exists()
    assert box.notes() == ["T-1", "T-1"]


def test_a_start_without_memory_says_what_is_lost(box: Box) -> None:
    """Deleted between two runs: the marks say what is done, and what they do not say is named."""
    box.plan(
        "- [ ] T-1: a\n  - run: echo done\n"
        f"- [ ] T-2: b (deps: T-1)\n  - retries: 0\n  - run: test -e {box.out}/go\n"
        "- [ ] T-3: c\n  - run: true\n"
    )
    assert not box.run().of("notice")
    box.edit("[x] T-3", "[~] T-3")
    box.release("go")
    box.forget()
    done = box.run("--on-failed", "retry")
    assert done.code == 0, done.said
    (notice,) = done.of("notice")
    assert [task in notice["text"] for task in ("T-1", "T-2", "T-3")] == [True] * 3
    assert not box.run().of("notice"), "told once"


def test_marks_that_nothing_hangs_on_are_no_loss(box: Box) -> None:
    """A person ticked what was done before Segue came: there is nothing to be told."""
    box.plan("- [x] T-1: a\n- [-] T-2: b\n- [ ] T-3: c\n  - run: true\n")
    assert not box.run().of("notice")


@pytest.mark.parametrize("args", [["status"], [], ["resume"], ["resume", "--json"]])
def test_a_file_where_the_memory_should_be_harms_no_look(box: Box, args: list[str]) -> None:
    """To look needs no memory: there is just none."""
    box.plan("- [~] T-1: a\n  - run: true\n")
    (box.root / ".segue").touch()
    assert "PLAN.md" in box.segue(*args).said


@pytest.mark.parametrize("where", [".segue", "the database"])
def test_what_cannot_be_the_memory_is_told_in_words(box: Box, where: str) -> None:
    """A file where the folder should be, a folder where the database should be: named, with a
    cure that helps."""
    box.plan("- [ ] T-1: a\n  - run: true\n")
    place = box.root / ".segue" if where == ".segue" else box.database
    if where == ".segue":
        place.touch()
    else:
        place.mkdir(parents=True)
    for args in (["run", "PLAN.md", "--json"], ["resume", "--reset", "--json"]):
        if args[0] == "resume":
            box.plan("- [~] T-1: a\n  - run: true\n")
        error = box.segue(*args).json["error"]
        assert error["code"] == "memory_unusable"
        assert error["file"] == str(place)
        assert "move it away" in error["hint"]
    assert box.segue("status").code == 0


def test_ctrl_c_still_ends_a_run_without_memory(box: Box) -> None:
    """Removed, and stopped before anything else happened: the place is kept in the plan."""
    box.plan(f"- [ ] T-1: a\n  - run: {box.hold('go')}\n")
    going = box.start_run()
    going.event("task_started", "T-1")
    shutil.rmtree(box.root / ".segue", ignore_errors=True)
    going.send(signal.SIGINT)
    assert going.end().code == 130
    assert box.marks() == {"T-1": "~"}
    box.release("go")
    assert box.run().code == 0


def flip_a_bit(box: Box) -> None:
    """One bit of the first page in the database's write-ahead log."""
    path = box.state / "segue.db-wal"
    data = bytearray(path.read_bytes())
    data[32 + 24 + 100] ^= 1
    path.write_bytes(data)


def spoil_the_database(box: Box) -> None:
    """Its first page is not that of a database."""
    path = box.database
    path.write_bytes(b"garbage" * 1000 + path.read_bytes()[7000:])


def test_status_says_that_the_newest_records_are_lost(box: Box) -> None:
    """A damaged write-ahead log: in words with its name, for programs too, exit 0; the next run
    still says so, and after that it is over."""
    box.plan(f"- [ ] T-1: a\n  - run: {box.note('begun')}; {box.hold('go')}\n")
    going = box.start_run()
    until(lambda: box.notes("begun"), "the agent up")
    beside = box.segue("status", "--json")
    assert "damage" not in beside.json, "a log that is in use is not damaged"
    going.kill()
    assert "damage" not in box.segue("status", "--json").json
    flip_a_bit(box)
    for _look in range(2):
        done = box.segue("status", "--json")
        assert done.code == 0
        assert done.json["damage"]["file"] == str(box.state / "segue.db-wal")
        assert "damaged" in done.json["damage"]["message"]
        said = box.segue("status")
        assert said.code == 0
        assert "segue.db-wal" in said.out
        assert "T-1" in said.out
    assert "손상" in box.segue("--lang", "ko", "status").out
    box.release("go")
    assert any("damaged" in notice["text"] for notice in box.run().of("notice"))
    assert "damage" not in box.segue("status", "--json").json


def test_status_says_that_the_database_cannot_be_read(box: Box) -> None:
    """In words with its name and the cure, as a run does: exit 2."""
    box.plan("- [ ] T-1: a\n  - run: true\n")
    assert box.run().code == 0
    spoil_the_database(box)
    done = box.segue("status", "--json")
    assert done.code == 2
    error = done.json["error"]
    assert (error["code"], error["file"]) == (
        "database_damaged", str(box.database)
    )  # fmt: skip
    assert "move it away" in error["hint"]
    assert box.segue("status").code == 2


LOSSES = {
    "all": Box.forget,
    "logs": lambda box: shutil.rmtree(box.root / ".segue"),
    "claims": lambda box: shutil.rmtree(box.root / ".segue" / "runs"),
    "cleaned": lambda box: subprocess.run(
        "git init -q && git add PLAN.md && git clean -fdxq -e segue.toml",
        shell=True, cwd=box.root, env=box.env(), check=True,
    ),
    "log damaged": flip_a_bit,
}  # fmt: skip


@pytest.mark.parametrize("kind", ["shell", "command"])
@pytest.mark.parametrize("lost", LOSSES)
def test_an_agent_that_lives_is_not_doubled_when_the_memory_is_lost(
    box: Box, lost: str, kind: str
) -> None:
    """Killed, then forgotten: the next start finds the agent at work and begins no second one."""
    work = f"{box.note('begun')}; {box.hold('go')}; {box.note('ended')}"
    box.config(
        f'agent = "a"\n[agents.a]\nkind = "{kind}"\n'
        + (f"command = ['/bin/sh', '-c', '{work}']\n" if kind == "command" else "")
    )
    field = f"  - run: {work}\n" if kind == "shell" else ""
    box.plan(f"- [ ] T-1: a\n{field}")
    going = box.start_run()
    until(lambda: box.notes("begun"), "the agent up")
    going.kill()
    (first,) = {environ["SEGUE_RUN"] for environ in box.agents().values()}
    LOSSES[lost](box)
    status = box.segue("status", "--json").json
    (standing,) = status["plans"]
    assert (standing["running"], standing["state"]) == (["T-1"], "interrupted")
    assert ("damage" in status) == (lost == "log damaged")
    again = box.start_run()
    adopted = again.event("run_adopted", "T-1")
    assert adopted["run"] == first
    assert {environ["SEGUE_RUN"] for environ in box.agents().values()} == {first}
    assert box.notes("begun") == ["T-1"]
    box.release("go")
    done = again.end()
    assert done.code == 0, done.said
    is_heard = kind == "shell" or lost != "all"
    assert box.notes("ended") == ["T-1"] * (1 if is_heard else 2)
    assert box.marks() == {"T-1": "x"}
    if lost == "log damaged":
        assert any("damaged" in notice["text"] for notice in done.of("notice"))
    assert not box.left_behind()
