"""A mistake of Segue's own that shows with one task: the real server goes on without it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.processes import all_gone
from kit.serve import GOOD, House
from kit.waiting import until

# Imported by every Python below: the server's check of a phase stumbles over this title.
SABOTAGE = """
from segue.work.phases import checking

real = checking.begin

def begin(app, task, *rest):
    if task.title == "Stumble":
        raise RuntimeError("nobody thought of this")
    return real(app, task, *rest)

checking.begin = begin
"""


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    folder = tmp_path / "sabotage"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(SABOTAGE, "utf-8")
    paths = [str(folder), os.environ.get("PYTHONPATH", "")]
    made.extra_env["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    made.hand("a", GOOD)
    made.live("living", f"{GOOD}hold never\n")
    made.hand("slow", f"hold go\n{GOOD}")
    yield made
    made.end_everything()


def test_an_exception_about_one_task_does_not_end_the_server(house: House) -> None:
    """It fails, with its error, a row in the journal and a traceback in the log under its id; a
    task that runs meanwhile and those that come later are not concerned."""
    server = house.serve()
    other = server.new("slow")
    until(lambda: house.starts(other) == 1, "its agent")
    stumbled = [server.new(agent, title="Stumble") for agent in ("a", "living", "a")]
    for task in stumbled:
        failed = server.reaches(task, "failed")
        assert "nobody thought of this" in failed["error"]
        assert (failed["agentStatus"], failed["allowedActions"]) == (
            "failed",
            ["retry", "archive", "delete"],
        )
        assert server.path(task)[-1] == "failed"
        assert house.starts(task) == 1, "it is not tried again"
        pids = [int(line) for line in house.lines(task, "starts")]
        until(lambda: all_gone(pids), "its agent is ended")  # noqa: B023
    house.release("go")
    server.reaches(other, "review")
    server.reaches(server.new("a"), "review")
    log = house.root / ".segue" / "logs" / "server.log"
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    told = {line["task"]: line["traceback"] for line in lines if "traceback" in line}
    assert told.keys() == set(stumbled)
    assert all("RuntimeError: nobody thought of this" in text for text in told.values())
    assert server.going.result.err.count("Traceback") == len(stumbled), "once for each"
    server.do(stumbled[0], "retry")
    assert server.stop() == 0


def test_a_server_with_such_a_task_starts_again(house: House) -> None:
    """Killed before the task stumbled: the next one stumbles over it too, and goes on."""
    server = house.serve()
    task = server.new("slow", title="Stumble")
    until(lambda: house.starts(task) == 1, "its agent")
    server.kill()
    house.release("go")
    until(lambda: list((house.root / ".segue" / "runs").glob(f"{task}-*.end")), "its end")
    server = house.serve()
    server.reaches(task, "failed")
    server.reaches(server.new("a"), "review")
    assert server.stop() == 0
