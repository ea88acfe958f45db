"""Accounts: what a limit applies to, and how much of a window is used."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from work_kit import CLAUDE, Bench, HandClock

from segue.core.plan import TaskState
from segue.dialects.events import Finished, WindowUsed
from segue.store.sqlite import Store
from segue.work.accounts import Accounts


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def accounts(tmp_path: Path, clock: HandClock) -> Iterator[Accounts]:
    store = Store.open(tmp_path / "segue.db")
    yield Accounts(store, clock)
    store.close()


def test_an_account_that_nothing_is_known_of_is_open(accounts: Accounts) -> None:
    """Only what is out of the ordinary is told."""
    assert accounts.view() == {}


def test_the_longer_park_stays(accounts: Accounts, clock: HandClock) -> None:
    """A second limit can only make it longer."""
    now = clock.now()
    accounts.park("work", "weekly_limit", now + timedelta(hours=5))
    accounts.park("work", "rate_limit", now + timedelta(minutes=1))
    assert accounts.view()["work"].parked_until == now + timedelta(hours=5)
    accounts.park("work", "rate_limit", now + timedelta(hours=6))
    assert accounts.view()["work"].parked_until == now + timedelta(hours=6)


def test_a_park_ends_by_way_of_a_canary(accounts: Accounts, clock: HandClock) -> None:
    """Parked, tried by one, open again; and only in that order."""
    accounts.open("work")
    accounts.probe("work")
    assert accounts.view() == {}
    accounts.park("work", "rate_limit", clock.now())
    accounts.open("work")
    assert accounts.view()["work"].parked_until == clock.now(), "nobody has tried it yet"
    accounts.probe("work")
    view = accounts.view()["work"]
    assert (view.probing, view.parked_until) == (True, None)
    accounts.open("work")
    assert "work" not in accounts.view()


def test_the_share_of_a_window_is_noted(accounts: Accounts, clock: HandClock) -> None:
    """The newest word counts; an account that is parked keeps its park."""
    accounts.note_used("work", 0.5, None)
    assert accounts.view()["work"].used == 0.5
    accounts.note_used("work", 0.97, clock.now() + timedelta(hours=1))
    accounts.park("work", "rate_limit", clock.now())
    accounts.note_used("work", 0.98, clock.now() + timedelta(hours=1))
    view = accounts.view()["work"]
    assert (view.used, view.parked_until) == (0.98, clock.now())


def test_a_share_counts_until_its_window_ends(accounts: Accounts, clock: HandClock) -> None:
    """Whoever decides must know until when: afterwards the window is a new one."""
    until = clock.now() + timedelta(hours=1)
    accounts.note_used("work", 0.97, until)
    assert accounts.view()["work"].used_until == until


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
    assert not bench.run.is_over()
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


def test_a_canary_whose_sender_died_is_given_up(accounts: Accounts, clock: HandClock) -> None:
    """After a while somebody else may try: the account counts as parked until just now."""
    until = clock.now() + timedelta(minutes=1)
    accounts.park("work", "rate_limit", until)
    clock.pass_s(60)
    accounts.probe("work")
    clock.pass_s(300)
    assert accounts.view()["work"].probing
    clock.pass_s(301)
    view = accounts.view()["work"]
    assert (view.probing, view.parked_until) == (False, until)
