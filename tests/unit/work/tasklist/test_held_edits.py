"""Edits of the plan while agents work, against the tables."""

from __future__ import annotations

import pytest

from kit.bench import Bench
from segue.core.plan import TaskState
from segue.engine.plan.beginning import go_on_with
from segue.engine.question_texts import PLAN_EDIT

TWO = "- [ ] T-1: a\n  - run: one\n- [ ] T-2: b\n  - blocked by: T-1\n  - run: two\n"


@pytest.fixture
def bench(bench: Bench) -> Bench:
    """A plan whose first task is at work."""
    bench.begin(TWO)
    bench.starts()
    return bench


def edit(bench: Bench, old: str, new: str) -> None:
    path = bench.root / "PLAN.md"
    path.write_text(path.read_text().replace(old, new))
    bench.turn()


def answer(bench: Bench, said: str) -> None:
    (gate,) = bench.run.ledger.gates.values()
    assert gate.category == PLAN_EDIT
    go_on_with(bench.run, gate, said)
    bench.turn()


def test_a_task_keeps_its_pin_until_the_edit_is_accepted(bench: Bench) -> None:
    """The graph has the old command, then the new one."""
    edit(bench, "run: two", "run: other")
    assert bench.run.graph.task("T-2").run == "two"
    answer(bench, "accept")
    assert bench.run.graph.task("T-2").run == "other"
    assert not bench.run.ledger.gates


def test_an_edit_that_is_undone_is_not_asked_about(bench: Bench) -> None:
    """Its gate is withdrawn."""
    edit(bench, "run: two", "run: other")
    edit(bench, "run: other", "run: two")
    assert not bench.run.ledger.gates


def test_an_accepted_edit_counts_for_the_agent_at_work(bench: Bench) -> None:
    """Its check is the one that was accepted."""
    edit(bench, "run: one\n", "run: one\n  - verify: true\n")
    assert bench.attempt.task.verify is None
    answer(bench, "accept")
    assert bench.attempt.task.verify == "true"


def test_an_edit_counts_at_once_where_no_agent_can_write_the_plan(bench: Bench) -> None:
    """Then it is a person's."""
    bench.attempt.can_edit_plan = False
    bench.turn()
    edit(bench, "run: two", "run: other")
    assert bench.run.graph.task("T-2").run == "other"
    assert not bench.run.ledger.gates


def test_a_new_task_that_is_accepted_is_scheduled(bench: Bench) -> None:
    """Until then it is not part of the plan that runs."""
    edit(bench, TWO[-6:], TWO[-6:] + "- [ ] T-3: c\n  - run: three\n")
    assert "T-3" not in bench.run.graph
    assert bench.run.file.withheld == ["T-3"]
    answer(bench, "accept")
    assert bench.state("T-3") in (TaskState.PENDING, TaskState.IN_PROGRESS)


def test_a_new_task_that_is_rejected_is_skipped(bench: Bench) -> None:
    """By a person: nothing reopens it."""
    edit(bench, "run: two\n", "run: two\n- [ ] T-3: c\n  - run: three\n")
    answer(bench, "reject")
    assert bench.state("T-3") is TaskState.SKIPPED
    assert bench.mark("T-3") == "-"


def test_a_removal_that_is_accepted_is_forgotten(bench: Bench) -> None:
    """The task is not missed again."""
    edit(bench, TWO[TWO.index("- [ ] T-2") :], "")
    answer(bench, "accept")
    assert bench.run.ledger.tasks["T-2"].pinned is None
    assert not bench.run.ledger.gates


def test_a_removal_that_is_rejected_is_told(bench: Bench) -> None:
    """A person must put the task back; they are not asked again and again."""
    edit(bench, TWO[TWO.index("- [ ] T-2") :], "")
    answer(bench, "reject")
    assert not bench.run.ledger.gates
    assert any("T-2" in told["text"] for told in bench.told("notice"))
