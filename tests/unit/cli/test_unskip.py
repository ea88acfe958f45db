"""`segue unskip`: what was skipped is open again, and how it gets done."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.bench import Bench
from kit.shell import Shell

PLAN = "- [x] T-1: a\n- [-] T-2: b\n- [-] T-3: c (deps: T-2)\n"


def test_the_command_that_does_it_is_named(segue: Shell, alone: Path) -> None:
    (alone / "PLAN.md").write_text(PLAN)
    said = segue("unskip", "T-2")
    assert (said.code, said.out) == (0, "T-2 reopened — to do it: segue run PLAN.md\n")
    assert "[ ] T-2" in (alone / "PLAN.md").read_text()


def test_what_it_waits_for_is_named_too(segue: Shell, alone: Path) -> None:
    """A task behind a skipped one would be skipped again."""
    (alone / "PLAN.md").write_text(PLAN)
    said = segue("unskip", "T-3")
    assert said.code == 0
    assert said.out.endswith("It depends on T-2: finish those first, or Segue skips it again\n")


def test_a_program_reads_the_task_its_plan_and_what_holds_it(segue: Shell, alone: Path) -> None:
    (alone / "PLAN.md").write_text(PLAN)
    assert segue("unskip", "T-3", "--json").json == {
        "task": "T-3",
        "path": str(alone / "PLAN.md"),
        "kind": "tasklist",
        "held_by": ["T-2"],
    }


@pytest.mark.usefixtures("owned")
def test_a_running_plan_picks_it_up(bench: Bench, segue: Shell) -> None:
    """Nothing has to be started for it."""
    (bench.root / "PLAN.md").write_text(PLAN)
    assert segue("unskip", "T-2").out == "T-2 reopened — the running plan picks it up\n"


def test_a_task_that_is_not_skipped_is_refused(segue: Shell, alone: Path) -> None:
    (alone / "PLAN.md").write_text(PLAN)
    error = segue.refused("unskip", "T-1")
    assert (error["code"], error["message"]) == ("not_skipped", "T-1 is not skipped")
    assert (alone / "PLAN.md").read_text() == PLAN
