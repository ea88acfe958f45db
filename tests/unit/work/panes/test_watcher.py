"""The watcher on panes in memory: what is parked, sent, left alone, and found again."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kit import clock as virtual_time
from kit.clock import LoopClock
from kit.pane_bench import Bench, FakePane, ignores, in_s, make_bench, works
from segue import i18n
from segue.core.leash import Leash
from segue.core.limits import Waits
from segue.dialects.claude_transcript import TranscriptStop
from segue.errors import UserError
from segue.store.sqlite import Store

SOON = "  ⎿ You've hit your 5-hour limit · try again in 1 second"
LATER = "  ⎿ You've hit your 5-hour limit · try again in 2 hours"
now = LoopClock().now
SENT = ["계속", "\r"]

Scene = Callable[[Bench], Awaitable[None]]


@pytest.fixture
def play(tmp_path: Path) -> Callable[[Scene], Bench]:
    def run(scene: Scene) -> Bench:
        i18n.use("en")
        bench = make_bench(tmp_path)
        virtual_time.play(scene(bench))  # type: ignore[arg-type]
        return bench

    return run


def test_a_stop_is_parked_and_resumed_once(play: Callable[[Scene], Bench]) -> None:
    """Parked with its kind and instant, told once to go on, and busy again."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)
        async with bench.watching():
            await bench.state(pane, "paused")
            assert bench.last(pane)["kind"] == "session_limit"
            await bench.state(pane, "busy")
            await asyncio.sleep(0.3)
        assert pane.sent == SENT
        assert bench.actions(pane) == ["park", "send"]

    lines = play(scene).lines
    assert [line.partition("] ")[2][:12] for line in lines] == [
        "[paused] Wor",
        "[resume] rea",
        "⏳ Worker 1: ",
        "[resume] wai",
        "[resume] the",
        "▶️ Worker 1:",
        "✅ Worker 1: ",
    ]


def test_nothing_is_sent_before_the_instant(play: Callable[[Scene], Bench]) -> None:
    """Not even after a look at an unchanged screen, which would read the words anew."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)
        began = now()
        async with bench.watching():
            await bench.state(pane, "paused")
            for _n in range(20):
                bench.host.change(pane)
                await asyncio.sleep(0.02)
            assert pane.sent == []
            await bench.until(lambda: pane.sent)
            waited = now() - began
        assert timedelta(seconds=1) <= waited < timedelta(seconds=1.9)

    play(scene)


def test_whoever_watches_next_goes_on_with_the_wait(play: Callable[[Scene], Bench]) -> None:
    """The instant is kept: words like “in 1 second” are not read anew. Sent once."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)
        async with bench.watching():
            await bench.state(pane, "paused")
            at = bench.last(pane)["wakes_at"]
        await asyncio.sleep(1.2)
        began = now()
        async with bench.watching():
            await bench.until(lambda: pane.sent)
            assert now() - began < timedelta(seconds=0.8), "the instant had passed"
            assert at == next(e for e in bench.events if e["state"] == "paused")["wakes_at"]
            await bench.state(pane, "busy")
        assert pane.sent == SENT

    play(scene)


@pytest.mark.parametrize("dies_before", ["계속", "\r"])
def test_a_death_while_sending_sends_nothing_twice(
    play: Callable[[Scene], Bench], dies_before: str
) -> None:
    """Before the text: it is sent by the next watcher. Between text and Enter: Enter alone."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)

        async def hang(text: str) -> None:
            if text == dies_before:
                await asyncio.Event().wait()

        bench.host.before_send = hang
        async with bench.watching():
            await bench.until(lambda: pane.sent == SENT[: SENT.index(dies_before)])
            await bench.until(lambda: bench.sends() == 1)
            await asyncio.sleep(0.8)
        bench.host.before_send = None
        async with bench.watching():
            await bench.state(pane, "busy")
        assert pane.sent == SENT
        assert bench.actions(pane)[-1] == ("enter" if dies_before == "\r" else "send")

    play(scene)


def test_a_person_who_came_first_is_not_disturbed(play: Callable[[Scene], Bench]) -> None:
    """The screen shows work when the instant comes: nothing is sent."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)
        async with bench.watching():
            await bench.state(pane, "paused")
            works(pane, "go on please")  # and no word of it reaches the watcher
            await bench.state(pane, "busy")
            await asyncio.sleep(0.3)
        assert pane.sent == []

    assert any("already working again" in line for line in play(scene).lines)


def test_what_a_person_has_typed_stays(play: Callable[[Scene], Bench]) -> None:
    """Neither sent nor cleared; when the line is empty again the work goes on."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)
        pane.draft = "perhaps I should"
        async with bench.watching():
            await bench.until(lambda: bench.last(pane).get("attended"))
            assert (pane.sent, pane.draft) == ([], "perhaps I should")
            pane.draft = ""
            bench.host.change(pane)
            await bench.state(pane, "busy")
        assert pane.sent == SENT

    play(scene)


def test_an_agent_that_does_not_react_is_given_up(play: Callable[[Scene], Bench]) -> None:
    """Three sends at most, then error; a person who mends it is noticed."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)
        pane.reacts = ignores
        async with bench.watching(max_sends=3):
            await bench.state(pane, "error")
            bench.host.change(pane)
            await asyncio.sleep(0.3)
            assert pane.sent == SENT * 3
            works(pane, "by hand")
            bench.host.change(pane)
            await bench.state(pane, "busy")
        async with bench.watching():
            await asyncio.sleep(0.3)
        assert pane.sent == SENT * 3

    lines = play(scene).lines
    assert [line.rpartition("(")[2] for line in lines if "could not" in line] == [
        "1/3)",
        "2/3)",
        "3/3)",
    ]
    assert sum("❌ Worker 1" in line for line in lines) == 1


@pytest.mark.parametrize("gap", [[], [""]])
def test_a_text_that_only_stands_there_was_sent_in_vain(
    play: Callable[[Scene], Bench], gap: list[str]
) -> None:
    """The agent shows what it was sent and does nothing more: no work followed, so it is tried
    again, and given up at last. A look in between does not take it for an answer."""

    def echoes(pane: FakePane, said: str) -> None:
        pane.body += [*gap, f"❯ {said}"]

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)
        pane.reacts = echoes
        async with bench.watching(max_sends=3):
            await bench.state(pane, "error")
            bench.host.change(pane)
            await asyncio.sleep(0.8)
            assert bench.last(pane)["state"] == "error"
        assert pane.sent == SENT * 3

    lines = play(scene).lines
    assert [line.rpartition("(")[2] for line in lines if "could not" in line] == [
        "1/3)",
        "2/3)",
        "3/3)",
    ]
    assert not any("working again" in line for line in lines)


def test_a_person_who_types_below_an_unanswered_text_is_not_disturbed(
    play: Callable[[Scene], Bench],
) -> None:
    """The next try waits until the input line is empty again."""

    def echoes(pane: FakePane, said: str) -> None:
        pane.body += ["", f"❯ {said}"]
        pane.draft = "what is" if len(pane.sent) == len(SENT) else ""
        pane.is_busy = len(pane.sent) > len(SENT)

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)
        pane.reacts = echoes
        async with bench.watching():
            await bench.until(lambda: bench.last(pane).get("attended"))
            assert (pane.sent, pane.draft) == (SENT, "what is")
            pane.draft = ""
            bench.host.change(pane)
            await bench.state(pane, "busy")
        assert pane.sent == SENT * 2

    play(scene)


def test_an_agent_that_answered_at_once_is_not_asked_again(
    play: Callable[[Scene], Bench],
) -> None:
    """It is idle when it is looked at, with words of its own below the text."""

    def answers(pane: FakePane, said: str) -> None:
        pane.body += ["", f"❯ {said}", "", "⏺ All of it is done already."]

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)
        pane.reacts = answers
        async with bench.watching():
            await bench.until(lambda: pane.sent == SENT)
            await bench.state(pane, "idle")
            await asyncio.sleep(0.5)
        assert pane.sent == SENT

    assert any("working again" in line for line in play(scene).lines)


def test_error_stays_after_a_restart(play: Callable[[Scene], Bench]) -> None:
    """What was given up is not tried again only because somebody else watches."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)
        pane.reacts = ignores
        async with bench.watching(max_sends=1):
            await bench.state(pane, "error")
        async with bench.watching(max_sends=1):
            await asyncio.sleep(0.5)
            assert bench.last(pane)["state"] == "error"
        assert pane.sent == SENT

    play(scene)


def test_a_refusal_with_a_later_time_is_a_new_wait(play: Callable[[Scene], Bench]) -> None:
    """No try in vain: it waits for the new instant."""

    def refuses(pane: FakePane, said: str) -> None:
        pane.body += ["", f"❯ {said}", LATER]

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)
        pane.reacts = refuses
        async with bench.watching():
            await bench.until(lambda: bench.actions(pane) == ["park", "send", "park"])
            wakes_at = datetime.fromisoformat(bench.last(pane)["wakes_at"])
            assert wakes_at > now() + timedelta(hours=1, minutes=59)
            assert bench.last(pane)["state"] == "paused"
        assert pane.sent == SENT

    assert not any("could not" in line for line in play(scene).lines)


def test_short_times_again_and_again_come_to_an_end(play: Callable[[Scene], Bench]) -> None:
    """Each refusal names a moment: it is waited for, and is a try all the same."""

    def refuses(pane: FakePane, said: str) -> None:
        pane.body += ["", f"❯ {said}", "  ⎿ Rate limited · try again in 1 second"]

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1")
        refuses(pane, "start")
        pane.reacts = refuses
        async with bench.watching(max_sends=2, waits=Waits(rate_s=1, margin_s=0)):
            await bench.state(pane, "error")
        assert pane.sent == SENT * 2

    play(scene)


def test_a_refusal_without_a_time_waits_longer_each_time(play: Callable[[Scene], Bench]) -> None:
    """A rate limit that comes again and again: no storm, and an end."""

    def refuses(pane: FakePane, said: str) -> None:
        pane.body += ["", f"❯ {said}", "  ⎿ API Error: Request rejected (429) · rate limited"]

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1")
        refuses(pane, "start")
        pane.reacts = refuses
        async with bench.watching(waits=Waits(rate_s=0.3, margin_s=0)):
            await bench.state(pane, "error", 20)
        waits = [
            datetime.fromisoformat(e["wakes_at"]) - datetime.fromisoformat(e["at"])
            for e in bench.events
            if e["action"] == "park"
        ]
        assert waits[0] < waits[1] < waits[2]
        assert pane.sent == SENT * 3

    play(scene)


@pytest.mark.parametrize(
    "row",
    [
        "  ⎿ Credit balance is too low",
        "  ⎿ Invalid API key · Please run /login",
        "  ⎿ You've hit your weekly limit · try again in 12 days",
    ],
)
def test_what_waiting_cannot_mend_is_for_a_person(play: Callable[[Scene], Bench], row: str) -> None:
    """Blocked, told, and nothing sent: billing, login, a reset in the far future."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "❯ do it", row)
        async with bench.watching():
            await bench.state(pane, "blocked")
            await asyncio.sleep(0.3)
        assert pane.sent == []
        assert bench.actions(pane) == ["ask"]

    play(scene)


def test_an_agent_that_goes_on_by_itself_is_left_alone(play: Callable[[Scene], Bench]) -> None:
    """Hands off; and when its own waiting was cancelled it is waited for after all."""

    async def scene(bench: Bench) -> None:
        body = ["❯ do it", "⚠ Usage limit reached · limit resets in 1 second"]
        own = "  Continuing automatically in 1 second · Esc to cancel"
        pane = bench.host.add("%1", *body, own)
        async with bench.watching():
            await bench.state(pane, "paused")
            await asyncio.sleep(1.5)
            assert (pane.sent, bench.actions(pane)) == ([], ["wait"])

    play(scene)


def test_a_full_context_is_compacted_first(play: Callable[[Scene], Bench]) -> None:
    """The agent's own remedy, its end awaited, then the resume text."""

    def reacts(pane: FakePane, said: str) -> None:
        if said == "/compact":
            pane.body = ["❯ /compact", "  ⎿ Compacted"]
        else:
            works(pane, said)

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "❯ do it", "  ⎿ Prompt is too long · context limit reached")
        pane.reacts = reacts
        async with bench.watching():
            await bench.state(pane, "busy")
        assert pane.sent == ["/compact", "\r", *SENT]

    play(scene)


def test_of_one_account_one_goes_first_and_the_others_follow(
    play: Callable[[Scene], Bench],
) -> None:
    """The second is not sent anything before the first is seen at work."""

    async def scene(bench: Bench) -> None:
        panes = [bench.host.add(f"%{n}", "⏺ I begin.", "", SOON) for n in (1, 2, 3)]
        async with bench.watching():
            await bench.until(lambda: all(bench.last(p).get("state") == "busy" for p in panes))
        order = [
            (event["pane"], event["action"] or event["state"])
            for event in bench.events
            if event["action"] == "send" or event["state"] == "busy"
        ]
        assert [what for _pane, what in order] == ["send", "busy"] * 3
        times = [
            datetime.fromisoformat(event["at"])
            for event in bench.events
            if event["action"] == "send"
        ]
        assert times[1] - times[0] > timedelta(seconds=1.5), "spaced out"
        assert times[2] - times[1] > timedelta(seconds=1.5)

    play(scene)


def test_the_latest_reset_of_an_account_counts_for_all(play: Callable[[Scene], Bench]) -> None:
    """What is known to stop one stops the others, too: they wait as long."""

    async def scene(bench: Bench) -> None:
        later = bench.host.add("%1", "⏺ I begin.", "", LATER)
        soon = bench.host.add("%2", "⏺ I begin.", "", SOON)
        async with bench.watching():
            await bench.state(later, "paused")
            await bench.state(soon, "paused")
            await asyncio.sleep(1.5)
        assert soon.sent == []
        assert bench.last(soon)["wakes_at"] > in_s(7000)

    play(scene)


def test_a_wait_without_a_time_names_the_configured_default(
    play: Callable[[Scene], Bench],
) -> None:
    """Also where others of its account wait longer, which is told as theirs."""

    async def scene(bench: Bench) -> None:
        later = bench.host.add("%1", "⏺ I begin.", "", LATER)
        waits = Waits(weekly_s=3600, margin_s=0)
        async with bench.watching(waits=waits, accounts={"%3": "another"}):
            await bench.state(later, "paused")
            mate = bench.host.add("%2", "⏺ I begin.", "", "  ⎿ Weekly limit reached")
            await bench.state(mate, "paused")
            alone = bench.host.add("%3", "⏺ I begin.", "", "  ⎿ Weekly limit reached")
            await bench.state(alone, "paused")

    told = [line.partition("] ")[2] for line in play(scene).lines]
    lines = [line for line in told if not line.startswith(("[paused]", "[resume]"))]
    warning = "[WARN] could not read the reset time; waiting 3600 s"
    assert (lines[1], lines[3]) == (warning, warning)
    assert lines[2].startswith("⏳ Worker 2: Weekly limit, its account is parked until ")
    assert lines[4] == "⏳ Worker 3: Weekly limit, waiting 3600 s"


def test_a_zone_that_is_not_known_is_told(play: Callable[[Scene], Bench]) -> None:
    """In a line, and in the event of the stop; its time is read in the machine's zone."""

    async def scene(bench: Bench) -> None:
        at = now() + timedelta(days=2)
        when = f"{at:%b} {at.day}, 6:32pm (Mars/Base)"
        row = f"  ⎿ You've hit your weekly limit · resets {when}"
        pane = bench.host.add("%1", "⏺ I begin.", "", row)
        async with bench.watching():
            await bench.state(pane, "paused")
        assert bench.last(pane)["notes"] == ["unknown_zone"]

    lines = play(scene).lines
    assert "[WARN] unknown time zone “Mars/Base”: Segue ignores the reset time" in lines[0]


def test_the_first_word_about_a_stopped_pane_is_that_it_is_stopped(
    play: Callable[[Scene], Bench],
) -> None:
    """And about an idle one that it is idle, once."""

    async def scene(bench: Bench) -> None:
        stopped = bench.host.add("%1", "⏺ I begin.", "", LATER)
        idle = bench.host.add("%2", "⏺ All is done.")
        async with bench.watching():
            await bench.state(stopped, "paused")
            await bench.state(idle, "idle")
        states = [(event["pane"], event["state"]) for event in bench.events]
        assert states == [("%1", "paused"), ("%2", "idle")]

    play(scene)


def test_a_pane_of_another_watcher_is_told_as_it_stands(play: Callable[[Scene], Bench]) -> None:
    """Paused, then busy, each with who has it; nothing is written down about it."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", LATER)
        other = make_bench(bench.folder / "other")
        other.folder.mkdir()
        other.host.panes = bench.host.panes
        async with bench.watching(), other.watching():
            await bench.state(pane, "paused")
            await other.state(pane, "paused")
            assert other.last(pane)["kind"] == "session_limit"
            works(pane, "go on please")
            other.host.change(pane)
            await other.state(pane, "busy")
            assert [event["held_by"] for event in other.events] == [os.getpid()] * 2
            assert other.store is not None
            rows = other.store.all("SELECT state FROM panes")
            assert [row["state"] for row in rows] == ["idle"]

    play(scene)


def test_a_canary_that_is_refused_holds_the_others(play: Callable[[Scene], Bench]) -> None:
    """Only one of three runs into the wall again."""

    def refuses(pane: FakePane, said: str) -> None:
        pane.body += ["", f"❯ {said}", LATER]

    async def scene(bench: Bench) -> None:
        panes = [bench.host.add(f"%{n}", "⏺ I begin.", "", SOON) for n in (1, 2, 3)]
        for pane in panes:
            pane.reacts = refuses
        async with bench.watching():
            await bench.until(lambda: all(bench.actions(pane)[1:] for pane in panes))
            await asyncio.sleep(1.0)
        assert sum(len(pane.sent) for pane in panes) == len(SENT)
        assert all(bench.last(pane)["wakes_at"] > in_s(7000) for pane in panes)

    play(scene)


def test_panes_of_different_accounts_do_not_wait_for_each_other(
    play: Callable[[Scene], Bench],
) -> None:
    """`--account` tells them apart."""

    async def scene(bench: Bench) -> None:
        panes = [bench.host.add(f"%{n}", "⏺ I begin.", "", SOON) for n in (1, 2)]
        async with bench.watching(accounts={"%1": "work", "%2": "home"}):
            await bench.until(lambda: all(pane.is_busy for pane in panes))

    play(scene)


def test_a_dry_run_sends_nothing_and_says_what_it_would(play: Callable[[Scene], Bench]) -> None:
    """Once, at the instant."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)
        async with bench.watching(is_dry=True):
            await bench.until(lambda: bench.actions(pane) == ["park", "send"])
            await asyncio.sleep(0.5)
        assert bench.actions(pane) == ["park", "send"]
        assert pane.sent == []
        assert bench.last(pane)["dry_run"] is True

    assert any("would send" in line for line in play(scene).lines)


def test_quiet_hours_and_the_end_of_the_leash_hold(play: Callable[[Scene], Bench]) -> None:
    """Past `until` nothing is woken: it stays parked."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)
        async with bench.watching(leash=Leash(until=now())):
            await bench.state(pane, "paused")
            await asyncio.sleep(1.5)
        assert pane.sent == []

    play(scene)


def test_after_so_many_windows_a_person_is_asked(play: Callable[[Scene], Bench]) -> None:
    """`max_windows` counts the limits that one pane has waited through."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)
        async with bench.watching(leash=Leash(max_windows=1)):
            await bench.state(pane, "busy")
            pane.is_busy = False
            pane.body += ["", "⏺ More.", "", LATER]
            bench.host.change(pane)
            await bench.state(pane, "blocked")
        assert pane.sent == SENT

    play(scene)


def test_a_pane_that_dies_is_dead(play: Callable[[Scene], Bench]) -> None:
    """While it waits, and while something is being sent to it."""

    async def scene(bench: Bench) -> None:
        waiting = bench.host.add("%1", "⏺ I begin.", "", LATER)
        sending = bench.host.add("%2", "⏺ I begin.", "", SOON)

        async def kill(text: str) -> None:
            del bench.host.panes["%2"]

        bench.host.before_send = kill
        async with bench.watching(accounts={"%2": "another"}):
            await bench.state(waiting, "paused")
            bench.host.kill(waiting)
            await bench.state(waiting, "dead")
            await bench.state(sending, "dead")

    play(scene)


def test_a_person_may_hold_and_wake_a_pane(play: Callable[[Scene], Bench]) -> None:
    """Held, it is left alone, also by the next watcher; woken, it goes on at once."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)
        async with bench.watching() as watcher:
            await bench.state(pane, "paused")
            watcher.hold(watcher.panes["%1"], is_held=True)
        async with bench.watching() as watcher:
            await asyncio.sleep(1.5)
            assert pane.sent == []
            watcher.wake(watcher.panes["%1"])
            await bench.state(pane, "busy")
        assert pane.sent == SENT

    play(scene)


def test_where_a_pane_woken_by_hand_works_the_others_follow(
    play: Callable[[Scene], Bench],
) -> None:
    """The limit is over, as the person thought: nobody waits for the reset any more."""

    async def scene(bench: Bench) -> None:
        panes = [bench.host.add(f"%{n}", "⏺ I begin.", "", LATER) for n in (1, 2, 3)]
        elsewhere = bench.host.add("%4", "⏺ I begin.", "", LATER)
        async with bench.watching(accounts={"%4": "another"}) as watcher:
            for pane in (*panes, elsewhere):
                await bench.state(pane, "paused")
            watcher.wake(watcher.panes["%2"])
            await bench.until(lambda: all(bench.last(p)["state"] == "busy" for p in panes))
        assert [pane.sent for pane in panes] == [SENT] * 3
        assert elsewhere.sent == []
        times = [datetime.fromisoformat(e["at"]) for e in bench.events if e["action"] == "send"]
        assert all(b - a > timedelta(seconds=1.5) for a, b in pairwise(times)), "spaced out"

    play(scene)


def test_two_watchers_never_both_send(play: Callable[[Scene], Bench]) -> None:
    """The second one says who has the pane."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)
        other = make_bench(bench.folder)
        other.host.panes = bench.host.panes
        async with bench.watching():
            await bench.state(pane, "paused")
            async with other.watching():
                await bench.state(pane, "busy")
                await asyncio.sleep(0.3)
        assert pane.sent == SENT
        assert other.events[0]["held_by"]
        assert other.actions(pane) == []

    play(scene)


def test_a_screen_that_is_being_painted_is_looked_at_twice(
    play: Callable[[Scene], Bench],
) -> None:
    """A banner that is not there for a moment does not end the wait."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", LATER)
        async with bench.watching():
            await bench.state(pane, "paused")
            at, body = bench.last(pane)["wakes_at"], pane.body
            pane.body = []
            bench.host.change(pane)
            await asyncio.sleep(0.1)
            pane.body = body
            await asyncio.sleep(0.6)
        assert bench.last(pane)["wakes_at"] == at
        assert bench.actions(pane) == ["park"]

    play(scene)


def test_the_transcript_is_believed_before_the_screen(play: Callable[[Scene], Bench]) -> None:
    """Its instant counts where the kind is the same."""

    async def scene(bench: Bench) -> None:
        resets_at = now().replace(microsecond=1) + timedelta(hours=3)
        bench.transcript = TranscriptStop("session_limit", resets_at, "", now())
        pane = bench.host.add("%1", "⏺ I begin.", "", LATER)
        object.__setattr__(pane.pane, "pid", 1)
        async with bench.watching():
            await bench.state(pane, "paused")
        assert datetime.fromisoformat(bench.last(pane)["resets_at"]) == resets_at

    play(scene)


def test_words_of_an_earlier_process_are_not_believed(play: Callable[[Scene], Bench]) -> None:
    """A resumed conversation shows that it goes on by itself; the transcript says that it won't."""

    async def scene(bench: Bench) -> None:
        at = now()
        resets_at = at + timedelta(seconds=1)
        bench.transcript = TranscriptStop("session_limit", resets_at, "", at, False, False)
        pane = bench.host.add(
            "%1",
            "❯ do it",
            "⚠ Usage limit reached · limit resets in 1 second",
            "  Continuing automatically in 1 second · Esc to cancel",
        )
        object.__setattr__(pane.pane, "pid", 1)
        async with bench.watching():
            await bench.state(pane, "busy")
        assert pane.sent == SENT

    play(scene)


WORK = [row for n in range(8) for row in (f"$ make step-{n}", f"step {n} is done", "")]


def test_a_probable_limit_is_told_to_a_person_and_nothing_is_typed(
    play: Callable[[Scene], Bench],
) -> None:
    """On a screen without marks the agent may have said it, and simply have finished."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", *WORK, "Usage limit reached. Resets in 1 second.")
        async with bench.watching(agent="goose", probable_after_s=0.5):
            await bench.state(pane, "idle")
            await bench.state(pane, "blocked")
        assert pane.sent == []
        assert bench.last(pane)["action"] == "ask"

    play(scene)


def test_a_pane_that_is_not_there_is_told(play: Callable[[Scene], Bench]) -> None:
    """With those that are."""

    async def scene(bench: Bench) -> None:
        bench.host.add("%1")
        with pytest.raises(UserError, match="no such pane: %7"):
            async with bench.watching(panes=frozenset({"%7"})):
                await asyncio.sleep(1)

    play(scene)


AUTO = "  ⏵⏵ auto mode on (shift+tab to cycle)"


def test_an_agent_that_no_process_shows_is_found_by_its_screen(
    play: Callable[[Scene], Bench],
) -> None:
    """Beyond ssh, or in a terminal that names no process: listed, parked, resumed."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)
        pane.status = AUTO
        shell = bench.host.add("%2", "$ cat notes", "Claude Code v2 · ⏵⏵ auto mode on", SOON)
        async with bench.watching(agent=None):
            await bench.state(pane, "busy")
            assert (bench.last(pane)["agent"], bench.last(pane)["account"]) == ("claude", "claude")
        assert pane.sent == SENT
        assert (shell.sent, bench.last(shell)) == ([], {}), "text about an agent is none"

    play(scene)


def test_an_agent_that_is_drawn_later_is_found_then(play: Callable[[Scene], Bench]) -> None:
    """The pane printed something: it is looked at again; quiet ones are not."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", LATER)
        async with bench.watching(agent=None):
            await asyncio.sleep(0.2)
            assert bench.last(pane) == {}
            pane.status = AUTO
            bench.host.change(pane)
            await bench.state(pane, "paused")

    play(scene)


def test_nothing_is_typed_where_the_screen_is_no_agents_any_more(
    play: Callable[[Scene], Bench],
) -> None:
    """It was found by its screen, and at its instant a shell waits there."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)
        pane.status = AUTO
        async with bench.watching(agent=None):
            await bench.state(pane, "paused")
            pane.is_at_shell = True  # and no word of it reaches the watcher
            await asyncio.sleep(2.0)
            assert pane.sent == []
            pane.body += ["", "⏺ Bye."]
            bench.host.change(pane)
            await bench.state(pane, "done")
        assert pane.sent == []

    play(scene)


def test_a_named_pane_is_known_by_its_screen_too(play: Callable[[Scene], Bench]) -> None:
    """Its account is that of the agent that it shows."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", LATER)
        pane.status = AUTO
        async with bench.watching(agent=None, panes=frozenset({"%1"})):
            await bench.state(pane, "paused")
        assert (bench.last(pane)["agent"], bench.last(pane)["account"]) == ("claude", "claude")

    play(scene)


def test_people_are_told_once_of_a_pane_that_could_not_be_resumed(
    play: Callable[[Scene], Bench],
) -> None:
    """With its id and the words that stopped it; the next watcher tells it no more."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%7", "⏺ I begin.", "", SOON)
        pane.reacts = ignores
        for _n in range(2):
            async with bench.watching():
                await bench.state(pane, "error")

    [notice] = play(scene).notices()
    assert (notice["work"], notice["kind"], notice["title"]) == (
        "panes",
        "error",
        "pane %7 (claude)",
    )
    assert "5-hour limit" in notice["text"]
    assert notice["place"].endswith(":%7")


def test_people_are_told_of_a_pane_that_needs_somebody(play: Callable[[Scene], Bench]) -> None:
    """Waiting does not help where money is missing."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%7", "⏺ I begin.", "", "  ⎿ Credit balance is too low")
        async with bench.watching():
            await bench.state(pane, "blocked")

    [notice] = play(scene).notices()
    assert notice["kind"] == "question"
    assert "Credit balance is too low" in notice["text"]


def test_many_panes_of_one_account_follow_one_by_one(play: Callable[[Scene], Bench]) -> None:
    """However many wait: the time of the followers ends with the last of them."""

    async def scene(bench: Bench) -> None:
        panes = [bench.host.add(f"%{n}", "⏺ I begin.", "", SOON) for n in range(1, 25)]
        async with bench.watching():
            for pane in panes:
                await bench.state(pane, "busy", within_s=300)
        times = [datetime.fromisoformat(e["at"]) for e in bench.events if e["action"] == "send"]
        assert all(b - a > timedelta(seconds=1.5) for a, b in pairwise(times)), "spaced out"

    play(scene)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Whether the disk is full."""
    move, is_full = Store.move, False

    def moved(store: Store, *args: Any, **kwargs: Any) -> bool:
        if is_full:
            raise UserError("disk_full", "the disk is full", file=str(store.path))
        return move(store, *args, **kwargs)

    def fill(full: bool) -> None:
        nonlocal is_full
        is_full = full

    monkeypatch.setattr(Store, "move", moved)
    return fill


def test_a_full_disk_is_waited_out(
    play: Callable[[Scene], Bench], disk: Callable[[bool], None]
) -> None:
    """A stop that came meanwhile is parked once something can be written again; in words."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.")
        async with bench.watching():
            await bench.state(pane, "idle")
            disk(True)
            pane.body.append(SOON)
            bench.host.change(pane)
            await asyncio.sleep(60)
            assert pane.sent == []
            disk(False)
            await bench.state(pane, "busy")
        assert pane.sent == SENT

    lines = play(scene).lines
    assert sum("waits until it can write again" in line for line in lines) == 1
    assert sum("can write again and has resumed" in line for line in lines) == 1


def test_nothing_is_sent_that_cannot_be_written_down(
    play: Callable[[Scene], Bench], disk: Callable[[bool], None]
) -> None:
    """The disk is full when its time has come; it is sent to once, afterwards."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", SOON)
        async with bench.watching():
            await bench.state(pane, "paused")
            disk(True)
            await asyncio.sleep(30)
            assert pane.sent == []
            disk(False)
            await bench.state(pane, "busy")
        assert pane.sent == SENT

    play(scene)


@pytest.mark.parametrize("body", [[], [SOON]])
def test_a_watcher_that_waits_for_the_disk_can_be_stopped(
    play: Callable[[Scene], Bench], disk: Callable[[bool], None], body: list[str]
) -> None:
    """It does not have to write for that, not even what is due."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", *body)
        async with bench.watching():
            await bench.state(pane, "paused" if body else "idle")
            disk(True)
            pane.body.append(SOON)
            bench.host.change(pane)
            await asyncio.sleep(5)
        assert pane.sent == []


def test_an_error_of_our_own_ends_the_watcher(
    play: Callable[[Scene], Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that happens beside the loop is lost."""

    async def broken(pane_id: str, *, history_lines: int = 0) -> None:
        raise ZeroDivisionError

    async def scene(bench: Bench) -> None:
        bench.host.add("%1", "⏺ I begin.")
        monkeypatch.setattr(bench.host, "screen", broken)
        with pytest.raises(ZeroDivisionError):
            async with bench.watching():
                await asyncio.sleep(1)

    play(scene)
