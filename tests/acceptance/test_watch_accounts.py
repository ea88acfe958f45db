"""One limit holds a whole account: the others wait with it, one goes first, the rest follow."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from kit.box import Box
from kit.waiting import until
from kit.watch import RESUME, Commands, Tui, Watch, soon

pytestmark = pytest.mark.moments


@pytest.fixture
def desk(box: Box) -> Iterator[Commands]:
    with Commands(box) as made:
        yield made


def three_limited(desk: Commands, reset: int, **view: object) -> list[Tui]:
    return [desk.limited(reset, **view) for _number in range(3)]


def all_paused(watch: Watch, tuis: list[Tui]) -> None:
    for tui in tuis:
        watch.state(tui.pane, "paused")


def test_one_goes_first_and_the_rest_follow_when_it_works(desk: Commands) -> None:
    """The canary alone at the reset; while it is slow the others wait; then one after the other."""
    reset = soon(4)
    slow = [{"mode": "busy", "delay_s": 2}]
    desk.recovery(recheck_after=3)
    tuis = three_limited(desk, reset, reactions=slow)
    watch = desk.watch()
    all_paused(watch, tuis)
    for tui in tuis:
        tui.wait("busy", wait_s=90)
    canary, second, third = sorted(tuis, key=Tui.first_sent_at)
    assert canary.first_sent_at() >= reset
    assert second.first_sent_at() >= canary.wait("busy")["at"], "only when the first one works"
    assert third.first_sent_at() > second.first_sent_at() + 0.2, "spaced out"
    for tui in tuis:
        tui.resumed_once()


def test_the_rest_wait_while_the_first_is_refused(desk: Commands) -> None:
    """The canary is stopped again: nobody else is sent into the same wall."""
    reset = soon(4)
    later = soon(10)
    again = {"mode": "prompt", "more": [f"  ⎿  Claude AI usage limit reached|{later}"]}
    tuis = three_limited(desk, reset, reactions=[again, {"mode": "busy"}])
    watch = desk.watch()
    all_paused(watch, tuis)
    until(lambda: any(tui.submitted for tui in tuis), "the canary")
    until(lambda: time.time() > later - 1, "the time before the later reset")
    assert sum(len(tui.submitted) for tui in tuis) == 1, [tui.log for tui in tuis]
    for tui in tuis:
        tui.wait("submitted", wait_s=90)
        assert tui.of("submitted")[-1]["at"] >= later or tui.submitted == [RESUME]


def test_an_account_is_parked_until_its_last_reset(desk: Commands) -> None:
    """Two banners with two resets: what applies to the account applies to both panes."""
    reset = soon(8)
    tuis = [desk.limited(reset), desk.limited(soon(2))]
    watch = desk.watch()
    all_paused(watch, tuis)
    until(lambda: all(tui.submitted for tui in tuis), "both")
    firsts = sorted(tui.first_sent_at() for tui in tuis)
    assert firsts[0] >= reset - 0.01, "the account is parked until its last reset"


def test_a_working_pane_of_the_account_is_left_alone(desk: Commands) -> None:
    """Runs that are under way when the account is parked go on."""
    works = desk.tui(mode="busy", body=["❯ hello"])
    stopped = desk.limited(soon(3))
    watch = desk.watch()
    watch.state(stopped.pane, "paused")
    stopped.wait("busy")
    works.untouched()
    assert "paused" not in watch.states(works.pane)


def test_accounts_can_be_told_apart(desk: Commands) -> None:
    """`--account PANE=NAME`: each waits for its own reset and needs no canary of another."""
    late = desk.limited(soon(12))
    early = desk.limited(soon(3), reactions=[None])
    third = desk.limited(soon(3))
    watch = desk.watch("--account", f"{late.pane}=work", "--account", f"{third.pane}=home")
    all_paused(watch, [late, early, third])
    third.wait("busy", wait_s=90)
    third.resumed_once()
    until(lambda: early.submitted, "the early one's text")
    late.untouched()


def test_another_brand_is_another_account(desk: Commands) -> None:
    """Codex does not wait for Claude's reset."""
    claude = desk.limited(soon(60))
    codex = desk.tui(
        "codex", body=["› hello", "■ You've hit your usage limit. Try again in 2 seconds."]
    )
    watch = desk.watch()
    watch.state(claude.pane, "paused")
    codex.wait("busy", wait_s=90)
    codex.resumed_once()
    claude.untouched()


@pytest.mark.parametrize("wrong", ["work", "=work", "%0="])
def test_a_wrong_account_is_refused_in_words(desk: Commands, wrong: str) -> None:
    """PANE=NAME is what it takes; anything else is told, with exit code 2."""
    desk.limited(soon(60))
    done = desk.box.segue(*desk.words("--account", wrong), wait_s=90)
    assert done.code == 2
    assert done.json["error"]["hint"]


def test_killed_between_the_canary_and_the_rest(desk: Commands) -> None:
    """The watcher dies when the first has gone on: the next one wakes the rest, each once."""
    reset = soon(4)
    tuis = three_limited(desk, reset)
    watch = desk.watch()
    all_paused(watch, tuis)
    until(lambda: any(tui.submitted for tui in tuis), "the canary")
    watch.kill()
    desk.watch()
    for tui in tuis:
        tui.wait("busy", wait_s=90)
        tui.resumed_once()
