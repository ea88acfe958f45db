"""What a plan does about accounts: how much of a window is used, canaries that nobody sees."""

from __future__ import annotations

from datetime import timedelta

from kit.bench import CLAUDE, Bench
from segue.core.plan import TaskState
from segue.dialects.events import Finished, WindowUsed

TWO = "- [ ] T-1: a\n  - retries: 0\n- [ ] T-2: b\n  - retries: 0\n"


def test_an_account_that_is_nearly_used_up_starts_nothing_new(bench: Bench) -> None:
    """What runs may finish; the rest of the window is kept for it."""
    bench.settings("jobs = 1\n" + CLAUDE)
    bench.begin(TWO)
    bench.starts()
    bench.says(WindowUsed("session_limit", 0.97, bench.clock.now() + timedelta(hours=1)))
    bench.says(Finished(False))
    bench.ends(0)
    assert bench.state("T-1") is TaskState.COMPLETED
    assert len(bench.engine.begun) == 1
    assert bench.state("T-2") is TaskState.PENDING


def test_a_new_window_lets_the_rest_start(bench: Bench) -> None:
    """At the end of the window it goes on by itself; until then the plan is not over."""
    bench.settings("jobs = 1\n" + CLAUDE)
    bench.begin(TWO)
    bench.starts()
    until = bench.clock.now() + timedelta(hours=1)
    bench.says(WindowUsed("session_limit", 0.97, until), Finished(False))
    bench.ends(0)
    assert not bench.driver.is_over()
    assert bench.engine.wakes_at == until
    bench.pass_s(3601)
    assert len(bench.engine.begun) == 2


def test_the_fullest_of_several_windows_counts(bench: Bench) -> None:
    """A weekly window that is nearly empty says nothing about the one of five hours."""
    bench.settings("jobs = 1\n" + CLAUDE)
    bench.begin(TWO)
    bench.starts()
    bench.says(
        WindowUsed("session_limit", 0.97, bench.clock.now() + timedelta(hours=1)),
        WindowUsed("weekly_limit", 0.2, bench.clock.now() + timedelta(days=5)),
        Finished(False),
    )
    bench.ends(0)
    assert len(bench.engine.begun) == 1


def test_a_canary_without_a_living_run_is_given_up_at_once(bench: Bench) -> None:
    """Its owner died between the claim and the run's start: the next start need not wait."""
    bench.begin(TWO)
    accounts, clock = bench.run.accounts, bench.clock
    accounts.park("work", "rate_limit", clock.now())
    clock.pass_s(60)  # a run that is older than the claim says nothing about it
    assert accounts.probe("work", bench.run.ledger.task_id("T-2"))
    assert accounts.view()["work"].probing
    clock.pass_s(11)
    assert accounts.view()["work"].parked_until is not None
