"""The task, runs and parks of a pane: rows like those of every other kind of work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kit.clock import HandClock
from segue.core.machines import PaneState
from segue.store.sqlite import Store
from segue.work.panes.pane_records import PaneRecords
from segue.work.panes.watched_pane import WatchedPane

LIMIT: dict[str, Any] = {"kind": "session_limit", "evidence": "5-hour limit · resets 3pm"}


class Desk:
    def __init__(self, store: Store) -> None:
        self.store, self.clock = store, HandClock()
        self.records = PaneRecords(store, self.clock)

    def adopt(self) -> WatchedPane:
        return self.records.adopt("job", "%1", "claude", "work")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with closing(Store.open(tmp_path / "segue.db")) as store:
        yield Desk(store)


def rows(desk: Desk, table: str, *columns: str) -> list[tuple[object, ...]]:
    found = desk.store.all(f"SELECT {', '.join(columns)} FROM {table} ORDER BY rowid")
    return [tuple(row) for row in found]


def states(desk: Desk) -> tuple[str, list[str], list[str]]:
    """Of the task, of its runs, of its parks."""
    ((task,),) = rows(desk, "tasks", "state")
    runs = [str(state) for (state,) in rows(desk, "runs", "state")]
    return str(task), runs, [str(state) for (state,) in rows(desk, "parks", "state")]


def parked(desk: Desk) -> WatchedPane:
    pane, at = desk.adopt(), desk.clock.now() + timedelta(hours=1)
    assert desk.records.park(pane, wakes_at=at, resets_at=at, windows=1, **LIMIT)
    return pane


def test_a_pane_is_a_task_and_its_agent_a_run(desk: Desk) -> None:
    """By the name that people give it."""
    desk.adopt()
    assert rows(desk, "tasks", "id", "work", "key", "title") == [
        ("panes/%1", "panes", "%1", "claude")
    ]
    assert rows(desk, "runs", "task", "agent", "account", "attempt") == [
        ("panes/%1", "claude", "work", 1)
    ]
    assert states(desk) == ("in_progress", ["running"], [])


def test_a_limit_parks_the_run(desk: Desk) -> None:
    """In the transaction of the pane's own move, with journal rows of each."""
    pane = parked(desk)
    assert states(desk) == ("in_progress", ["parked"], ["waiting"])
    found = desk.store.all("SELECT entity, at FROM journal WHERE cause = 'park'")
    assert {row["entity"] for row in found} == {"pane", "task", "run", "park"}
    assert len({row["at"] for row in found}) == 1
    (park,) = rows(desk, "parks", "task", "account", "kind")
    assert park == (pane.task, "work", "session_limit")


def test_what_is_typed_is_a_run_that_is_intended_first(desk: Desk) -> None:
    """The park has woken; the run continues the one that the limit stopped."""
    pane = parked(desk)
    assert desk.records.sending(pane, "compact", is_new=True)
    assert desk.records.sending(pane, "text", is_new=False)
    assert states(desk) == ("in_progress", ["parked", "intended"], ["woken"])
    (first, _), (_, resumes) = rows(desk, "runs", "id", "resumes")
    assert resumes == first
    assert desk.records.see(pane, PaneState.BUSY)
    assert states(desk) == ("in_progress", ["parked", "running"], ["woken"])


def test_a_try_that_was_cut_off_is_found(desk: Desk) -> None:
    """The next watcher looks at it when the agent had its time to react, and tries again once."""
    pane = parked(desk)
    desk.records.sending(pane, "text", is_new=True)
    again = desk.adopt()
    assert again.is_waiting and again.wakes_at == again.sent_at
    assert desk.records.sending(again, "text", is_new=True)
    assert states(desk) == ("in_progress", ["parked", "cut_off", "intended"], ["woken"])


@pytest.mark.parametrize(("is_refused", "ended"), [(True, "parked"), (False, "failed")])
def test_a_try_in_vain_is_a_new_park(desk: Desk, is_refused: bool, ended: str) -> None:
    """Its run has ended: refused again, or the agent did not react."""
    pane, at = parked(desk), desk.clock.now() + timedelta(hours=2)
    desk.records.sending(pane, "text", is_new=True)
    desk.records.wait_until(pane, at, is_refused=is_refused)
    assert states(desk) == ("in_progress", ["parked", ended], ["woken", "waiting"])
    assert desk.adopt().wakes_at == at


def test_another_time_moves_the_park(desk: Desk) -> None:
    """There is one, not two."""
    pane, at = parked(desk), desk.clock.now() + timedelta(hours=5)
    desk.records.wait_until(pane, at)
    assert len(rows(desk, "parks", "id")) == 1
    assert pane.wakes_at == desk.adopt().wakes_at == at


def test_one_that_was_given_up_has_failed_until_a_person_wakes_it(desk: Desk) -> None:
    """Its task is tried again then."""
    pane = parked(desk)
    desk.records.sending(pane, "text", is_new=True)
    assert desk.records.give_up(pane)
    assert states(desk) == ("failed", ["parked", "failed"], ["woken"])
    assert rows(desk, "tasks", "error") == [(LIMIT["evidence"],)]
    assert desk.records.park(pane, wakes_at=desk.clock.now())
    assert states(desk) == ("in_progress", ["parked", "failed"], ["woken", "waiting"])
    assert rows(desk, "tasks", "error") == [(None,)]


def test_a_person_who_came_first_ends_the_park(desk: Desk) -> None:
    """The agent runs again, and nobody wakes it."""
    pane = parked(desk)
    assert desk.records.see(pane, PaneState.BUSY)
    assert states(desk) == ("in_progress", ["parked", "running"], ["cancelled"])


def test_one_that_asks_is_a_run_that_asked(desk: Desk) -> None:
    """With a gate of its task."""
    pane = desk.adopt()
    desk.records.see(pane, PaneState.BLOCKED, "Proceed?")
    assert states(desk) == ("in_progress", ["asked"], [])
    assert rows(desk, "gates", "task") == [("panes/%1",)]
    desk.records.see(pane, PaneState.BUSY)
    assert states(desk) == ("in_progress", ["asked", "running"], [])


def test_an_agent_that_ended_completes_its_task(desk: Desk) -> None:
    """And begins it again when it is back."""
    pane = desk.adopt()
    desk.records.see(pane, PaneState.DONE)
    assert states(desk) == ("completed", ["completed"], [])
    desk.records.see(pane, PaneState.BUSY)
    assert states(desk) == ("in_progress", ["completed", "running"], [])


def test_a_pane_that_is_gone_was_cut_off(desk: Desk) -> None:
    """Nothing waits for it any more."""
    pane = parked(desk)
    desk.records.lose(pane)
    assert states(desk) == ("pending", ["parked"], ["cancelled"])
    back = desk.adopt()
    assert back.state is PaneState.IDLE
    desk.records.lose(back)
    assert states(desk) == ("pending", ["parked", "cut_off"], ["cancelled"])
