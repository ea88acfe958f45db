"""`segue serve`: checkpoints, fork and rewind, and what happens when one is broken."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.serve import GOOD, QUESTION, TWO, House
from kit.server import Json, Server
from kit.waiting import until

ASK = "block USER_QUESTION <<END\nquestion: Which one?\nEND\n"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.end_everything()


def checkpoints(server: Server, task: str, at_least: int = 1) -> list[Json]:
    """Those of a task, the oldest first. Whoever has seen a wait finds its checkpoint at once."""
    found = server.items(f"/tasks/{task}/checkpoints")
    assert len(found) >= at_least, found
    return sorted(found, key=lambda c: str(c["createdAt"]))


def test_one_at_every_wait_and_phase_and_at_the_end(house: House) -> None:
    """Question, each phase, the end: a checkpoint each, and the agent says when the last was saved."""
    house.hand(
        "a",
        f"case $n in 1) {QUESTION} ;; 2) {GOOD} ;; *) write two.md 'The rest of it.'; phase 2 ;; esac\n",
    )
    server = house.serve()
    task = server.new(kind="two")
    server.agent_is(task, "waiting_question")
    checkpoints(server, task, 1)
    server.answer(task, "SQLite").ok()
    server.reaches(task, "review")
    checkpoints(server, task, 2)
    server.approve(task).ok()
    until(lambda: server.task(task)["currentPhase"] == 2, "phase 2")
    server.reaches(task, "review")
    checkpoints(server, task, 3)
    server.approve(task).ok()
    server.reaches(task, "completed")
    found = checkpoints(server, task, 4)
    assert {c["phase"] for c in found} == {1, 2}
    assert server.agent(task)["checkpoint"]["lastSaved"] is not None


def test_the_newest_ten_are_kept_and_one_for_each_phase(house: House) -> None:
    """Fourteen questions in phase 2: ten checkpoints, and that of phase 1."""
    house.hand("a", f"case $n in 1) {GOOD} ;; *) {ASK} ;; esac\n")
    server = house.serve()
    task = server.new(kind="two")
    server.reaches(task, "review")
    first = checkpoints(server, task)[0]["id"]
    server.approve(task).ok()
    last = ""
    for _number in range(14):
        gate = server.waiting("questions", task)
        until(lambda old=last: server.agent(task)["checkpoint"]["lastSaved"] != old, "a checkpoint")
        last = server.agent(task)["checkpoint"]["lastSaved"]
        server.post(f"/questions/{gate['id']}/answer", {"answer": "this"}).ok()
    server.waiting("questions", task)
    until(lambda: server.agent(task)["checkpoint"]["lastSaved"] != last, "the last one")
    found = checkpoints(server, task, 10)
    assert first in [c["id"] for c in found], "that of the phase stays"
    assert 10 <= len(found) <= 11
    assert server.get(f"/tasks/{task}/checkpoints").ok()["total"] == len(found)


def test_a_fork_goes_on_from_a_checkpoint_in_a_place_of_its_own(house: House) -> None:
    """A new task that names the old one, with its files as they were; the old one is untouched."""
    house.hand("a", f"""
if [ -e one.md ]; then note "found $(cat one.md)"; fi
case $n in 1) write one.md "As it was at first."; {QUESTION} ;; *) write one.md "Written by $SEGUE_TASK."; phase 1 ;; esac
""")  # fmt: skip
    server = house.serve()
    task = server.new()
    server.agent_is(task, "waiting_question")
    checkpoint = checkpoints(server, task)[0]["id"]
    server.answer(task, "SQLite").ok()
    server.reaches(task, "review")
    forked = server.post(f"/tasks/{task}/fork", {"checkpointId": checkpoint})
    assert forked.status == 201, forked
    new = forked.json["id"]
    assert new != task and task in str(forked.json["forkedFrom"])
    workspace = Path(until(lambda: server.task(new)["workspace"], "its workspace"))
    assert workspace != Path(server.task(task)["workspace"])
    until((workspace / "one.md").exists, "its files")
    if server.task(new)["status"] == "draft":
        server.do(new, "submit")
    if server.agent(new)["status"] == "waiting_question":
        server.answer(new, "PostgreSQL").ok()
    noted = until(lambda: house.lines(new, "notes"), "its agent")
    assert noted[0] == "found As it was at first."
    assert (Path(server.task(task)["workspace"]) / "one.md").read_text() == f"Written by {task}.\n"
    assert server.task(task)["status"] == "review"


def test_a_fork_takes_the_newest_checkpoint_if_none_is_named(house: House) -> None:
    """No id: the newest. An unknown id, or one of another task: refused. No checkpoint: 409."""
    house.hand("a", TWO)
    server = house.serve()
    task, other = server.new(kind="two"), server.new(kind="two")
    for each in (task, other):
        server.reaches(each, "review")
    foreign = checkpoints(server, other)[0]["id"]
    checkpoints(server, task)
    server.post(f"/tasks/{task}/fork", {"checkpointId": "cp_nothing"}).problem(404, 422)
    server.post(f"/tasks/{task}/fork", {"checkpointId": foreign}).problem(404, 409, 422)
    assert server.post(f"/tasks/{task}/fork", {}).status == 201
    assert server.post(f"/tasks/{task}/fork").status == 201
    draft = server.new(submit=False)
    server.post(f"/tasks/{draft}/fork").problem(409)


def test_a_rewind_takes_work_back(house: House) -> None:
    """In review: files as they were at the checkpoint, the later review closed, the agent goes on once."""
    house.hand("a", f"""note "$(ls)"
case $n in
1) write one.md "The first part, whole."; write kept.txt "here"; {QUESTION} ;;
*) write one.md "The second try, whole."; write later.txt "later"; phase 1 ;; esac
""")  # fmt: skip
    server = house.serve()
    task = server.new()
    server.agent_is(task, "waiting_question")
    checkpoint = checkpoints(server, task)[0]["id"]
    server.answer(task, "SQLite").ok()
    review = server.review(task)
    server.post(f"/tasks/{task}/rewind", {"checkpointId": "cp_nothing"}).problem(404, 422)
    server.do(task, "rewind", {"checkpointId": checkpoint})
    server.post(f"/reviews/{review}/approve").problem(409)
    agent = until(lambda: (a := server.agent(task)) and a["status"] in ("waiting_question", "running",
                  "waiting_review") and a, "it goes on")  # fmt: skip
    if agent["status"] == "waiting_question":
        server.answer(task, "SQLite").ok()
    second = server.review(task)
    assert second != review
    assert house.starts(task) == 3
    seen = (house.out / task / "notes").read_text()
    assert "later.txt" not in seen, "what came after the checkpoint is not there when it goes on"
    assert seen.count("kept.txt") >= 2


def test_a_failed_task_can_be_rewound(house: House) -> None:
    """After a cancel it goes on from an earlier checkpoint, in the same task."""
    house.hand("a", f"case $n in 1) {QUESTION} ;; 2) hold never ;; *) {GOOD} ;; esac\n")
    server = house.serve()
    task = server.new()
    server.agent_is(task, "waiting_question")
    checkpoint = checkpoints(server, task)[0]["id"]
    server.answer(task, "SQLite").ok()
    until(lambda: house.starts(task) == 2, "it works")
    server.post(f"/tasks/{task}/rewind", {"checkpointId": checkpoint}).problem(409)
    server.do(task, "cancel")
    server.reaches(task, "failed")
    server.do(task, "rewind", {"checkpointId": checkpoint})
    agent = until(lambda: (a := server.agent(task)) and a["status"] != "failed" and a, "it goes on")
    if agent["status"] == "waiting_question":
        server.answer(task, "SQLite").ok()
    done = server.reaches(task, "review")
    assert done["failedAt"] is None and done["error"] is None


def checkpoint_files(house: House) -> list[Path]:
    """The files of checkpoints in the server's memory, the newest last."""
    files = [p for p in (house.root / ".segue").rglob("*")
             if p.is_file() and "checkpoints" in p.parts]  # fmt: skip
    return sorted(files, key=lambda path: path.stat().st_mtime_ns)


def two_waits(house: House) -> tuple[Server, str]:
    """A task at work in phase 2, with a checkpoint of a question and one of phase 1 behind it."""
    house.hand("a", f"""case $n in
1) write early.txt "early"; {QUESTION} ;;
2) {GOOD} ;;
3) touch {house.out}/up; hold never ;;
*) write two.md "The rest of it all."; phase 2 ;; esac
""")  # fmt: skip
    server = house.serve()
    task = server.new(kind="two")
    server.answer(task, "SQLite").ok()
    server.reaches(task, "review")
    checkpoints(server, task, 2)
    server.approve(task).ok()
    until((house.out / "up").exists, "phase 2")
    return server, task


@pytest.mark.parametrize("harm", ["cut off", "garbage", "empty"])
def test_a_broken_checkpoint_falls_back_to_the_one_before(house: House, harm: str) -> None:
    """A power cut and a broken newest checkpoint: the task goes on all the same, and it is said."""
    _server, task = two_waits(house)
    house.power_cut()
    newest = checkpoint_files(house)[-1]
    whole = newest.read_bytes()
    newest.write_bytes({"cut off": whole[: len(whole) // 2], "garbage": b"\xff\x00{]" * 50,
                        "empty": b""}[harm])  # fmt: skip
    server = house.serve()
    server.reaches(task, "review")
    assert server.task(task)["currentPhase"] == 2
    assert house.starts(task) == 4
    said = server.going.result.said + server.log(task) + str(server.journal(task))
    assert "checkpoint" in said.lower(), "it is said"
    broken = [c for c in server.items(f"/tasks/{task}/checkpoints") if not c.get("whole", True)]
    for each in broken:
        server.post(f"/tasks/{task}/rewind", {"checkpointId": each["id"]}).problem(404, 409, 422)


def test_without_any_checkpoint_it_starts_cold(house: House) -> None:
    """All are gone: it goes on from the deliverables, and the user is told what was lost."""
    _server, task = two_waits(house)
    house.power_cut()
    for path in checkpoint_files(house):
        path.unlink()
    server = house.serve()
    server.reaches(task, "review")
    assert server.task(task)["currentPhase"] == 2, "what was approved is not done again"
    said = (server.going.result.said + server.log(task) + str(server.journal(task))
            + str(server.task(task)) + str(server.items(f"/tasks/{task}/checkpoints")))  # fmt: skip
    assert "checkpoint" in said.lower() or "lost" in said.lower() or "cold" in said.lower()


def test_a_lost_workspace_is_restored_at_a_restart(house: House) -> None:
    """Power cut and the workspace gone: it comes back from the checkpoint, or the loss is told."""
    server, task = two_waits(house)
    workspace = Path(server.task(task)["workspace"])
    house.power_cut()
    shutil.rmtree(workspace)
    server = house.serve()
    now = until(
        lambda: (t := server.task(task))["status"] in ("review", "failed") and t, "it is told"
    )
    if now["status"] == "review":
        assert (workspace / "one.md").exists(), "what was approved is there again"
    else:
        assert "workspace" in str(now["error"])


def test_a_fork_right_after_the_review_was_seen(house: House) -> None:
    """The state is seen before its checkpoint is whole: the fork waits for it and is not refused."""
    house.hand("a", GOOD)
    server = house.serve()
    for _round in range(3):
        task = server.new()
        server.reaches(task, "review")
        forked = server.post(f"/tasks/{task}/fork").ok()
        assert forked["forkedFrom"] == task
        assert server.agent(task)["checkpoint"]["lastSaved"] is not None
