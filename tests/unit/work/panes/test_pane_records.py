"""The rows of watched panes: each change with its journal row, its gate and its notice."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kit.clock import HandClock
from segue.core.machines import AccountState, PaneState, Trigger
from segue.engine.accounts import Accounts
from segue.store.sqlite import Store
from segue.work.panes.pane_notices import People
from segue.work.panes.pane_records import PaneRecords
from segue.work.panes.watched_pane import WatchedPane

LIMIT: dict[str, Any] = {"kind": "session_limit", "evidence": "5-hour limit · resets 3pm"}


class Desk:
    def __init__(self, store: Store) -> None:
        self.store, self.clock = store, HandClock()
        self.records = PaneRecords(store, self.clock, People())
        self.accounts = Accounts(store, self.clock)

    def adopt(self) -> WatchedPane:
        return self.records.adopt("job", "%1", "claude", "work")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with closing(Store.open(tmp_path / "segue.db")) as store:
        yield Desk(store)


def test_a_pane_is_found_as_it_was_left(desk: Desk) -> None:
    """By the next watcher, with its stop, its time and its tries."""
    pane = desk.adopt()
    at = desk.clock.now() + timedelta(hours=1)
    assert desk.records.park(pane, wakes_at=at, resets_at=at, windows=1, refusals=2, **LIMIT)
    again = desk.adopt()
    assert (again.state, again.wakes_at, again.refusals) == (PaneState.PAUSED, at, 2)
    assert again.limit == pane.limit
    assert desk.records.sending(pane, "text", is_new=True)
    again = desk.adopt()
    assert (again.state, again.sends, again.step) == (PaneState.PAUSED, 1, "text")


def test_a_park_takes_its_account_along_or_nothing(desk: Desk) -> None:
    """Both are in one transaction: whoever lost the race changes neither."""
    pane, late = desk.adopt(), desk.adopt()
    at = desk.clock.now() + timedelta(hours=1)
    assert desk.records.park(pane, wakes_at=None, **LIMIT)
    also = lambda: desk.accounts.parked("work", "session_limit", at)  # noqa: E731 - a value
    assert not desk.records.park(late, wakes_at=at, also=also, **LIMIT)
    assert not desk.accounts.is_parked("work")
    assert desk.records.park(pane, wakes_at=at, also=also, **LIMIT)
    assert desk.accounts.parked_until("work") == at
    (row,) = desk.store.all("SELECT state FROM accounts")
    assert row["state"] == AccountState.PARKED


def test_one_that_works_again_forgets_its_stop(desk: Desk) -> None:
    """And how often it was sent to."""
    pane = desk.adopt()
    desk.records.park(pane, wakes_at=desk.clock.now(), **LIMIT)
    desk.records.sending(pane, "text", is_new=True)
    assert desk.records.see(pane, PaneState.BUSY)
    assert (pane.kind, pane.evidence, pane.sends, pane.step) == (None, "", 0, "")


def test_one_that_was_given_up_is_put_to_a_person_once(desk: Desk) -> None:
    """A gate and a notice, which go when it works again."""
    pane = desk.adopt()
    desk.records.park(pane, wakes_at=desk.clock.now(), **LIMIT)
    assert desk.records.give_up(pane)
    assert [row["state"] for row in desk.store.all("SELECT state FROM gates")] == ["pending"]
    assert len(desk.store.all("SELECT 1 FROM notices")) == 1
    desk.records.see(pane, PaneState.BUSY)
    assert [row["state"] for row in desk.store.all("SELECT state FROM gates")] == ["withdrawn"]


def test_a_pane_whose_host_was_out_of_reach_is_idle_again(desk: Desk) -> None:
    """It was lost, and is there."""
    pane = desk.adopt()
    desk.records.lose(pane)
    desk.records.lose(pane)
    assert desk.adopt().state is PaneState.IDLE


def test_every_change_is_in_the_journal(desk: Desk) -> None:
    """With what caused it."""
    pane = desk.adopt()
    desk.records.park(pane, cause=Trigger.ASK, wakes_at=None, **LIMIT)
    rows = desk.store.all("SELECT cause FROM journal WHERE entity = 'pane' ORDER BY rowid")
    assert [row["cause"] for row in rows] == ["see", "ask"]


def test_a_new_pane_of_the_same_name_takes_its_task_over(desk: Desk) -> None:
    """The server of the old one was started again: its park, run and gate are over."""
    pane = desk.adopt()
    desk.records.park(pane, wakes_at=desk.clock.now(), **LIMIT)
    new = desk.records.adopt("job2", "%1", "codex", "other")
    assert new.task == "panes/%1"
    for table, states in {
        "tasks": ["in_progress"],
        "runs": ["parked", "running"],
        "parks": ["cancelled"],
        "panes": ["dead", "idle"],
    }.items():
        found = desk.store.all(f"SELECT state FROM {table} ORDER BY rowid")
        assert [row["state"] for row in found] == states


def test_panes_of_two_servers_have_two_names(desk: Desk) -> None:
    """Both are called %1 by their servers, and both are alive."""
    one = desk.records.adopt(f"tmux:aaaaaaaaaaaa:%1:{os.getpid()}", "%1", "claude", "work")
    other = desk.records.adopt(f"tmux:bbbbbbbbbbbb:%1:{os.getpid()}", "%1", "claude", "work")
    assert (one.name, other.name) == ("%1", "%1@bbbbbb")
    assert (one.place, other.place) == ("%1", "%1")
