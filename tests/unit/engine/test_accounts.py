"""Accounts: what a limit applies to, and how much of a window is used."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from kit.clock import HandClock
from segue.engine.accounts import Accounts
from segue.store.sqlite import Store


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
    accounts.opened("work")
    assert not accounts.probe("work", "plan/T-1")
    assert accounts.view() == {}
    accounts.park("work", "rate_limit", clock.now())
    assert accounts.view()["work"].parked_until == clock.now(), "nobody has tried it yet"
    assert accounts.probe("work", "plan/T-1")
    assert not accounts.probe("work", "plan/T-2"), "one tries it alone"
    view = accounts.view()["work"]
    assert (view.probing, view.parked_until) == (True, None)
    accounts.opened("work")
    view = accounts.view()["work"]
    assert (view.probing, view.parked_until) == (False, None)


def test_those_that_follow_a_canary_are_spaced_whoever_starts_them(
    accounts: Accounts, clock: HandClock, tmp_path: Path
) -> None:
    """The spacing is in the account's row: a second owner keeps it, too."""
    store = Store.open(tmp_path / "segue.db")
    other = Accounts(store, clock)
    accounts.park("work", "rate_limit", clock.now())
    accounts.probe("work", "plan/T-1")
    accounts.opened("work")
    assert not other.follow("work"), "the canary itself has just started"
    clock.pass_s(2)
    assert other.view()["work"].follows_at == clock.now()
    assert other.follow("work")
    assert not accounts.follow("work")
    clock.pass_s(2)
    assert accounts.follow("work")
    clock.pass_s(60)
    assert accounts.view() == {}, "that time is over"
    assert accounts.follow("work")
    assert other.follow("work")
    store.close()


def test_a_canary_that_proved_nothing_leaves_the_account_to_the_next(
    accounts: Accounts, clock: HandClock
) -> None:
    """The account counts as parked until now."""
    accounts.park("work", "rate_limit", clock.now())
    accounts.probe("work", "plan/T-1")
    clock.pass_s(5)
    accounts.unproven("work")
    assert accounts.view()["work"].parked_until == clock.now()
    assert accounts.probe("work", "plan/T-2")


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


def test_a_canary_whose_sender_died_is_given_up(accounts: Accounts, clock: HandClock) -> None:
    """A run is written down at once; where none was, another may try soon. The account counts as
    parked until just now."""
    until = clock.now() + timedelta(minutes=1)
    accounts.park("work", "rate_limit", until)
    clock.pass_s(60)
    accounts.probe("work", "panes/%1")
    clock.pass_s(9)
    assert accounts.view()["work"].probing
    clock.pass_s(2)
    view = accounts.view()["work"]
    assert (view.probing, view.parked_until) == (False, until)
    assert accounts.probe("work", "another")
