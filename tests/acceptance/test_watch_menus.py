"""Menus at a limit: answered by the entry that waits, wherever it stands; never by one that costs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kit.box import Box
from kit.watch import LATE_S, RESUME, Commands, claude_stopped, codex_stopped, menu_view, soon

pytestmark = pytest.mark.moments

WAIT = "Stop and wait for limit to reset"
PAID = ["Upgrade your plan", "Add funds to continue with extra usage"]
ORDERS = {
    "first": ([WAIT, *PAID], 0),
    "last": ([*PAID, WAIT], 0),
    "in the middle": ([PAID[0], WAIT, PAID[1]], 0),
    "above the cursor": ([WAIT, *PAID], 2),
    "the cursor on a paid one": ([PAID[0], WAIT, PAID[1]], 2),
}


@pytest.fixture
def desk(box: Box) -> Iterator[Commands]:
    with Commands(box) as made:
        yield made


@pytest.mark.parametrize("order", ORDERS)
def test_the_waiting_entry_is_found_by_its_text(desk: Commands, order: str) -> None:
    """Wherever it stands and wherever the cursor is; then the work goes on after the reset, once."""
    entries, cursor = ORDERS[order]
    reset = soon(4)
    tui = desk.tui(**menu_view(claude_stopped(reset), entries, cursor))
    watch = desk.watch()
    assert watch.state(tui.pane, "paused")["kind"] == "session_limit"
    sent = tui.wait("submitted")
    assert tui.chosen == [WAIT]
    assert sent["at"] >= reset
    assert sent["at"] <= reset + LATE_S + 2
    assert tui.submitted == [RESUME]
    watch.now(tui.pane, "busy")
    assert tui.chosen == [WAIT]
    assert tui.submitted == [RESUME]


def test_the_menu_of_today(desk: Commands) -> None:
    """Two entries wait: either may be taken, none that costs; the work goes on once."""
    reset = soon(4)
    entries = [WAIT, "Wait here, then continue automatically at 6:32pm", "Upgrade your plan"]
    tui = desk.tui(**menu_view(claude_stopped(reset), entries))
    desk.watch()
    tui.wait("submitted")
    assert tui.chosen == [WAIT], "the other one goes on by itself, and it would be done twice"
    assert tui.submitted == [RESUME]


def test_entries_without_numbers(desk: Commands) -> None:
    """The entry is found by its text there, too."""
    tui = desk.tui(
        **menu_view(claude_stopped(soon(3)), ["Upgrade your plan", WAIT], numbered=False)
    )
    desk.watch()
    tui.wait("submitted")
    assert tui.chosen == [WAIT]


@pytest.mark.parametrize("deaf", [1, 3])
def test_enter_is_pressed_on_the_waiting_entry_and_on_no_other(desk: Commands, deaf: int) -> None:
    """Arrow keys get lost: where the cursor really is decides, not how often a key was sent."""
    tui = desk.tui(**menu_view(claude_stopped(soon(3)), [*PAID, WAIT], deaf=deaf))
    watch = desk.watch()
    watch.wait(lambda: tui.chosen or "blocked" in watch.states(tui.pane), "an outcome")
    assert set(tui.chosen) <= {WAIT}, tui.log


@pytest.mark.parametrize("entries", [PAID, ["Upgrade your plan"], ["Buy more", "Log out"]])
def test_a_menu_that_offers_no_waiting_is_for_a_person(desk: Commands, entries: list[str]) -> None:
    """Nothing is pressed; it is told that a person is needed."""
    tui = desk.tui(**menu_view(claude_stopped(soon(1)), entries))
    watch = desk.watch_all()
    assert watch.states(tui.pane)[-1] == "blocked", watch.told
    tui.untouched()


def test_waiting_that_costs_is_not_taken(desk: Commands) -> None:
    """An entry that speaks of waiting and of money is a paid one."""
    entries = ["Upgrade your plan instead of waiting for the limit to reset", "Buy extra usage"]
    tui = desk.tui(**menu_view(claude_stopped(soon(1)), entries))
    watch = desk.watch_all()
    assert watch.states(tui.pane)[-1] == "blocked", watch.told
    tui.untouched()


def test_codex_asking_for_an_increase_is_for_a_person(desk: Commands) -> None:
    """A request to the owner costs, and the other entry does not wait."""
    body = [*codex_stopped(1), "  Usage limit reached"]
    title = ["Request a limit increase from your owner to continue using codex. Request increase?"]
    tui = desk.tui("codex", **menu_view(body, ["Yes (y)", "No (default) (n)"], 1, title=title))
    witness = desk.limited(soon(3))
    watch = desk.watch()
    witness.wait("busy")
    watch.state(tui.pane, "blocked")
    tui.untouched()


def test_a_person_who_answers_the_menu_first_is_not_disturbed(desk: Commands) -> None:
    """The person took an entry and works on: no key comes afterwards."""
    tui = desk.tui(**menu_view(claude_stopped(soon(30)), [*PAID, WAIT]), after_choice={})
    watch = desk.watch("--dry-run")
    watch.state(tui.pane, "paused")
    watch.stop()
    tui.show(mode="busy", more=["❯ go on, I have upgraded"])
    watch = desk.watch()
    watch.state(tui.pane, "busy")
    desk.witness(watch)
    tui.untouched()


def test_a_menu_that_does_not_close_is_not_pressed_for_ever(desk: Commands) -> None:
    """The entry is taken a bounded number of times, then a person is told."""
    desk.recovery(max_retries=2)
    entries = [WAIT, "Upgrade your plan"]
    tui = desk.tui(**menu_view(claude_stopped(soon(2)), entries), after_choice={"mode": "menu"})
    watch = desk.watch()
    watch.wait(
        lambda: {"error", "blocked"} & set(watch.states(tui.pane)), "a person is told", wait_s=60
    )
    assert set(tui.chosen) <= {WAIT}
    assert len(tui.chosen) <= 4
    assert tui.submitted == []
