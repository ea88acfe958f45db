"""`segue skip`: the work continues without a task."""

from __future__ import annotations

import pytest

from kit.bench import Bench
from kit.questions import asked
from kit.shell import Shell
from segue.dialects.events import Finished


def test_a_task_is_passed_over_at_the_next_start(bench: Bench, segue: Shell) -> None:
    """Named by its plan, as where several plans have a task of that name."""
    asked(bench)
    said = segue("skip", "T-2", "--plan", "PLAN.md")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("T-2 is skipped — the work is not running now")


@pytest.mark.usefixtures("owned")
def test_a_running_plan_takes_it_in_by_itself(bench: Bench, segue: Shell) -> None:
    """No command is named: nothing has to be started."""
    asked(bench)
    said = segue("skip", "T-2")
    assert (said.code, said.out) == (
        0,
        "T-2 is skipped — queued; the running Segue has not processed it yet\n",
    )


def test_a_completed_task_is_not_skipped(bench: Bench, segue: Shell) -> None:
    bench.begin("- [ ] T-1: Build\n")
    bench.starts()
    bench.says(Finished(False))
    bench.ends(0)
    error = segue.refused("skip", "T-1")
    assert (error["code"], error["message"]) == ("not_allowed", "T-1 has already ended")


def test_it_is_said_in_korean(bench: Bench, segue: Shell) -> None:
    """The language of this command alone."""
    asked(bench)
    said = segue("skip", "T-2", "--lang", "ko")
    assert said.code == 0
    assert "T-2" in said.out
    assert "is skipped" not in said.out
