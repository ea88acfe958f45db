"""The budget of a plan counts what agents at work have used so far."""

from __future__ import annotations

import pytest

from kit.bench import CLAUDE, Bench
from segue.core.plan import TaskState
from segue.dialects.events import Finished, Opened, Used
from segue.engine.executors import Alive
from segue.engine.plan.beginning import go_on_with
from segue.engine.plan.finish import WAITS, finish
from segue.store.rows import GateRow
from segue.work.agents import profiles as agents

ONE = "- [ ] T-1: a\n"
TWO = f"{ONE}- [ ] T-2: b\n"


def asked(bench: Bench) -> list[GateRow]:
    return list(bench.run.ledger.gates.values())


def ends_well(bench: Bench) -> None:
    bench.says(Finished(is_error=False))
    bench.ends()


def test_what_a_run_has_used_so_far_counts_at_once(bench: Bench) -> None:
    """The gate opens while the agent works, it is not ended, and nothing new starts."""
    bench.settings(f"jobs = 2\n{CLAUDE}")
    bench.begin(TWO, budget_usd=20.0)
    first, second = bench.engine.begun
    bench.says(Used(1, 1, 12.0), job=first)
    assert not asked(bench)
    bench.says(Used(1, 1, 9.0), job=second)
    [gate] = asked(bench)
    assert gate.about == {"budget": 20.0, "cost": 21.0}
    assert bench.engine.to_end == []


def test_nothing_new_starts_once_it_is_used_up(bench: Bench) -> None:
    """The slot of a run that ended stays empty until a person allows more."""
    bench.settings(f"jobs = 1\n{CLAUDE}")
    bench.begin(TWO, budget_usd=20.0)
    bench.says(Used(1, 1, 30.0))
    ends_well(bench)
    assert len(bench.engine.begun) == 1
    [gate] = asked(bench)
    go_on_with(bench.run, gate, "yes")
    bench.turn()
    assert len(bench.engine.begun) == 2


def test_what_was_counted_while_it_ran_is_not_counted_again(bench: Bench) -> None:
    """A run that ended, and the check of its work, cost once."""
    bench.settings(f"jobs = 1\n{CLAUDE}")
    bench.begin(f"{ONE}  - verify: true\n- [ ] T-2: b\n", budget_usd=20.0)
    bench.says(Used(1, 1, 12.0))
    ends_well(bench)
    assert ".verify-" in bench.engine.begun[-1]
    assert not asked(bench)
    bench.ends()
    assert bench.engine.begun[-1].startswith("T-2")


def test_a_failed_try_is_not_repeated_past_the_budget(bench: Bench) -> None:
    """The next try is a new start: it waits for a person, and counts as the next one then."""
    bench.begin(f"{ONE}  - retries: 2\n", budget_usd=20.0)
    bench.says(Used(1, 1, 30.0))
    bench.ends(1)
    assert (len(bench.engine.begun), bench.state()) == (1, TaskState.PENDING)
    [gate] = asked(bench)
    go_on_with(bench.run, gate, "yes")
    bench.turn()
    assert bench.attempt.run.attempt == 2


def test_the_question_goes_when_nothing_is_left_to_pay_for(bench: Bench) -> None:
    """The last run spent too much and is done: nobody has to decide anything."""
    bench.begin(ONE, budget_usd=20.0)
    bench.says(Used(1, 1, 30.0))
    assert asked(bench)
    ends_well(bench)
    assert bench.driver.is_over()
    assert not asked(bench)


def test_nobody_is_asked_when_the_last_run_reports_its_cost_with_its_end(bench: Bench) -> None:
    """It cannot cost more, however long its process takes to end."""
    bench.begin(ONE, budget_usd=20.0)
    bench.says(Used(1, 1, 30.0), Finished(is_error=False))
    assert not asked(bench)
    bench.ends()
    assert bench.driver.is_over()
    assert not asked(bench)


def test_an_end_that_is_reported_asks_about_what_is_left(bench: Bench) -> None:
    """The run that spent too much is not the last one: the question comes at once."""
    bench.settings(f"jobs = 1\n{CLAUDE}")
    bench.begin(TWO, budget_usd=20.0)
    bench.says(Used(1, 1, 30.0), Finished(is_error=False))
    assert asked(bench)


def test_a_last_run_that_ends_badly_asks_before_its_next_try(bench: Bench) -> None:
    """Its reported end leaves nothing to pay for; the next try does."""
    bench.begin(f"{ONE}  - retries: 1\n", budget_usd=20.0)
    bench.says(Used(1, 1, 30.0), Finished(is_error=True))
    assert not asked(bench)
    bench.ends(1)
    assert len(bench.engine.begun) == 1
    assert asked(bench)


def test_a_next_start_does_not_ask_anew(bench: Bench) -> None:
    """The agent lives on and has not been heard again yet: the question stays as it was."""
    bench.begin(ONE, budget_usd=20.0)
    bench.starts()
    bench.says(Used(1, 1, 30.0))
    [before] = asked(bench)
    job = bench.job
    bench.start(budget_usd=20.0)
    bench.engine.became[job] = Alive()
    bench.recover()
    assert [(gate.id, gate.about) for gate in asked(bench)] == [(before.id, before.about)]


def test_a_program_that_counts_its_conversation_pays_its_share(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What earlier runs of the conversation used is not counted again while it works."""
    monkeypatch.setattr(agents.Profile, "counts_conversation", property(lambda self: True))
    bench.begin(f"{ONE}  - retries: 1\n  - resume: conversation\n", budget_usd=20.0)
    bench.says(Opened("talk-1"), Used(1, 1, 12.0))
    bench.ends(1)
    bench.says(Opened("talk-1"), Used(1, 1, 15.0))
    assert not asked(bench)
    bench.says(Used(1, 1, 21.0))
    assert [gate.about["cost"] for gate in asked(bench)] == [21.0]


def test_no_answers_the_question_and_the_plan_waits(bench: Bench) -> None:
    """It is answered once; nothing new starts, and the exit code says that a person must decide."""
    bench.settings(f"jobs = 1\n{CLAUDE}")
    bench.begin(TWO, budget_usd=20.0)
    bench.says(Used(1, 1, 30.0))
    ends_well(bench)
    [gate] = asked(bench)
    go_on_with(bench.run, gate, "no")
    bench.turn()
    assert (asked(bench), len(bench.engine.begun), bench.driver.is_over()) == ([], 1, True)
    result = finish(bench.run)
    assert (result.exit, result.waiting) == (WAITS, ["T-2"])
