"""`segue retry`: a failed task gets another try."""

from __future__ import annotations

import pytest

from kit.bench import Bench
from kit.questions import asked
from kit.shell import Shell


def test_a_failed_task_is_tried_again_at_the_next_start(bench: Bench, segue: Shell) -> None:
    asked(bench)
    said = segue("retry", "T-2")
    assert said.code == 0
    assert said.out == (
        "T-2 will be retried — the work is not running now; to apply this, run: segue run PLAN.md\n"
    )


@pytest.mark.usefixtures("owned")
def test_a_program_learns_that_the_owner_has_still_to_take_it_in(
    bench: Bench, segue: Shell
) -> None:
    asked(bench)
    told = segue("retry", "T-2", "--json").json
    assert (told["task"], told["waiting"], told["by_run"]) == ("T-2", True, True)


def test_to_ask_twice_is_refused(bench: Bench, segue: Shell) -> None:
    """The first act still waits, and the error says who asked."""
    asked(bench)
    assert segue("retry", "T-2").code == 0
    error = segue.refused("retry", "T-2")
    assert error["code"] == "already_wanted"
    assert "already requested this" in error["message"]
    assert error["message"].endswith(": retry")


def test_a_task_that_nobody_knows_is_refused_with_a_hint(bench: Bench, segue: Shell) -> None:
    asked(bench)
    error = segue.refused("retry", "T-9")
    assert (error["code"], "segue status" in error["hint"]) == ("unknown_name", True)


def test_a_plan_that_is_not_there_is_a_usage_error(segue: Shell) -> None:
    error = segue.refused("retry", "T-1", "--plan", "other.md")
    assert error["code"] == "usage"
    assert "other.md" in error["message"]
