"""What follows for a pane from its screen, from a try, and from a person; the loop is in
`test_watcher.py`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import pytest

from kit.clock import HandClock
from segue import i18n
from segue.core.leash import Leash
from segue.core.machines import PaneState
from segue.dialects.screen import Screen
from segue.engine.accounts import Accounts
from segue.engine.executors.pane_screen import ScreenReading, read_screen
from segue.engine.executors.pane_typing import Attended, InVain, Resumed, WouldSend
from segue.store.sqlite import Store
from segue.work.panes.messages import PaneMessages
from segue.work.panes.options import CommandOptions
from segue.work.panes.pane_records import PaneRecords
from segue.work.panes.policy import DOUBT_S, PanePolicy
from segue.work.panes.watched_pane import WatchedPane

RULE = "─" * 60
LIMIT = "  ⎿ You've hit your 5-hour limit · resets 3pm"
BUSY = "✻ Thinking… (3s · esc to interrupt)"
HOUR = timedelta(hours=1)


class Desk:
    """A policy over a few panes, without a loop and without a terminal."""

    def __init__(self, store: Store, **options: Any) -> None:
        i18n.use("en")
        self.clock, self.panes = HandClock(), {}
        self.events: list[dict[str, Any]] = []
        self.looks: list[tuple[str, float]] = []
        self.accounts = Accounts(store, self.clock)
        self.records = PaneRecords(store, self.clock)
        self.options = CommandOptions(resume_text="계속", **options)
        messages = PaneMessages(self.clock, UTC, lambda line: None, self.events.append)
        self.policy = PanePolicy(
            self.panes,
            self.records,
            self.accounts,
            messages,
            self.options,
            self.clock,
            lambda job, after_s: self.looks.append((job, after_s)),
        )

    panes: dict[str, WatchedPane]

    def pane(self, number: int = 1) -> WatchedPane:
        job = f"job{number}"
        self.panes[job] = self.records.adopt(job, f"%{number}", "claude", "work")
        return self.panes[job]

    def reading(self, body: str) -> ScreenReading:
        lines = tuple(f"❯ do it\n{body}\n\n{RULE}\n❯ \n{RULE}\n".split("\n"))
        screen = Screen(lines, lines, (), None, 24, 80)
        return read_screen(screen, "claude", self.clock.now(), UTC)

    def shows(self, pane: WatchedPane, body: str) -> None:
        self.policy.shown(pane, self.reading(body))

    @property
    def actions(self) -> list[str | None]:
        return [event["action"] for event in self.events]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store.open(tmp_path / "segue.db")) as store:
        yield store


def test_a_stop_parks_the_pane_and_its_account(store: Store) -> None:
    """At the same time; at a second look nothing changes."""
    desk = Desk(store)
    pane = desk.pane()
    desk.shows(pane, LIMIT)
    assert pane.state is PaneState.PAUSED
    assert pane.wakes_at == desk.accounts.parked_until("work")
    desk.clock.pass_s(60)
    desk.shows(pane, LIMIT)
    assert desk.actions == ["park"]


def test_a_pane_waits_as_long_as_its_account_whoever_parked_that(store: Store) -> None:
    """A plan of the project has run into the weekly limit."""
    desk = Desk(store)
    later = desk.clock.now() + 30 * HOUR
    desk.accounts.park("work", "weekly_limit", later)
    pane = desk.pane()
    desk.shows(pane, LIMIT)
    assert pane.wakes_at == later


def test_a_stop_that_is_gone_is_looked_at_twice(store: Store) -> None:
    """A screen may be caught while it is painted; one at work is believed at once."""
    desk = Desk(store)
    pane = desk.pane()
    desk.shows(pane, LIMIT)
    desk.shows(pane, "⏺ Done.")
    assert (pane.state, desk.looks) == (PaneState.PAUSED, [("job1", DOUBT_S)])
    desk.shows(pane, "⏺ Done.")
    assert pane.state is PaneState.IDLE


@pytest.mark.parametrize(
    ("row", "leash"),
    [
        ("  ⎿ Credit balance is too low", Leash()),
        ("  ⎿ You've hit your weekly limit · resets Mar 29, 3pm", Leash()),
        (LIMIT, Leash(max_windows=0)),
    ],
)
def test_what_must_not_be_waited_for_is_put_to_a_person(
    store: Store, row: str, leash: Leash
) -> None:
    """Money, more than eight days, more windows than the leash allows."""
    desk = Desk(store, leash=leash)
    pane = desk.pane()
    desk.shows(pane, row)
    assert (pane.state, pane.wakes_at, desk.actions) == (PaneState.BLOCKED, None, ["ask"])


def parked(desk: Desk) -> WatchedPane:
    """A pane whose time has come, and that was sent to once."""
    pane = desk.pane()
    desk.shows(pane, LIMIT)
    assert pane.wakes_at is not None
    desk.clock.at = pane.wakes_at
    desk.policy.canaries.send("work", pane.task)
    desk.records.sending(pane, "text", is_new=True)
    return pane


def test_an_agent_that_reacted_must_work_for_real_to_open_its_account(store: Store) -> None:
    """Five seconds of work, not a greeting."""
    desk = Desk(store)
    pane = parked(desk)
    desk.policy.typed(pane, Resumed(desk.reading(BUSY)))
    assert pane.state is PaneState.BUSY
    desk.shows(pane, BUSY)
    assert desk.accounts.canary("work") == pane.task
    desk.clock.pass_s(6)
    desk.shows(pane, BUSY)
    assert desk.accounts.canary("work") is None
    assert not desk.accounts.is_parked("work")


def test_a_refusal_until_a_later_time_is_no_failed_try(store: Store) -> None:
    """The pane waits anew, and the account with it."""
    desk = Desk(store, max_sends=1)
    pane = parked(desk)
    later = desk.reading(LIMIT.replace("3pm", "9pm"))
    desk.policy.typed(pane, InVain(later, is_refused=True))
    assert (pane.state, pane.sends) == (PaneState.PAUSED, 0)
    assert pane.resets_at == desk.clock.now().replace(hour=21, minute=0, second=0)


def test_tries_in_vain_come_to_an_end(store: Store) -> None:
    """No reaction: the next try at once; after the last one a person sees to it."""
    desk = Desk(store, max_sends=2)
    pane = parked(desk)
    same = desk.reading(LIMIT)
    desk.policy.typed(pane, InVain(same, is_refused=False))
    assert (pane.state, pane.wakes_at) == (PaneState.PAUSED, desk.clock.now())
    desk.records.sending(pane, "text", is_new=True)
    desk.policy.typed(pane, InVain(same, is_refused=False))
    assert (pane.state, desk.actions[-1]) == (PaneState.ERROR, "give_up")
    assert desk.accounts.canary("work") is None, "another one may try"


def test_a_pane_where_a_person_types_is_left_until_the_line_is_empty(store: Store) -> None:
    """And one that a dry run has shown is shown once."""
    desk = Desk(store)
    pane = parked(desk)
    desk.policy.typed(pane, Attended())
    assert not pane.is_waiting
    desk.shows(pane, LIMIT)
    assert pane.is_waiting
    desk.policy.typed(pane, WouldSend())
    assert not pane.is_waiting


def test_others_of_the_account_wait_as_long(store: Store) -> None:
    """And need not wait any longer once one that a person woke works."""
    desk = Desk(store)
    first, second = desk.pane(1), desk.pane(2)
    desk.shows(first, LIMIT)
    desk.shows(second, LIMIT.replace("3pm", "9pm"))
    assert first.wakes_at == second.wakes_at
    assert desk.policy.wake(first)
    desk.policy.canaries.send("work", first.task)
    desk.records.sending(first, "text", is_new=True)
    desk.policy.typed(first, Resumed(desk.reading(BUSY)))
    desk.clock.pass_s(6)
    desk.shows(first, BUSY)
    assert second.wakes_at == desk.clock.now()


def test_a_pane_of_another_watcher_is_only_shown(store: Store) -> None:
    """Nothing is written down for it."""
    desk = Desk(store)
    pane = desk.pane()
    pane.holder = 7
    desk.shows(pane, LIMIT)
    assert (pane.state, desk.accounts.is_parked("work")) == (PaneState.PAUSED, False)
    (row,) = store.all("SELECT state FROM panes")
    assert row["state"] == "idle"
    assert not desk.policy.wake(pane)
