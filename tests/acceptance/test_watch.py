"""`segue watch`: panes that hit a limit wait for its reset and go on, once."""

from __future__ import annotations

import calendar
import time
from collections.abc import Iterator

import pytest

from kit.box import Box
from kit.waiting import until
from kit.watch import (
    ENTER,
    LATE_S,
    RESUME,
    STOPPED,
    Commands,
    claude_says,
    claude_stopped,
    instant,
    soon,
    weekly_stopped,
)

pytestmark = pytest.mark.moments


@pytest.fixture
def desk(box: Box) -> Iterator[Commands]:
    with Commands(box) as made:
        yield made


def test_a_banner_parks_and_the_work_goes_on_once(desk: Commands) -> None:
    """Busy, then a limit: paused with kind and instant; at it the text, Enter apart, busy again."""
    tui = desk.tui(mode="busy", body=["❯ write the parser"])
    watch = desk.watch()
    watch.state(tui.pane, "busy")
    reset = soon()
    tui.show(mode="prompt", body=claude_stopped(reset))
    paused = watch.state(tui.pane, "paused")
    assert (paused["kind"], instant(paused["resets_at"])) == ("session_limit", reset)
    assert {"pane", "state", "kind", "resets_at", "action"} <= paused.keys()
    sent = tui.wait("submitted")
    assert reset <= tui.first_sent_at() <= reset + LATE_S, "not before the instant, and not late"
    assert sent["at"] > tui.first_sent_at(), "Enter came after a pause"
    watch.now(tui.pane, "busy")
    tui.resumed_once()


def test_it_is_sent_once_and_not_again_afterwards(desk: Commands) -> None:
    """After it went on and came to its end, the old banner above is past: nothing more is sent."""
    tui = desk.limited(soon(2), busy_s=2)
    watch = desk.watch()
    watch.state(tui.pane, "paused")
    tui.wait("busy")
    tui.wait("prompt")
    watch.now(tui.pane, "idle")
    desk.witness(watch)
    tui.resumed_once()


@pytest.mark.parametrize("passed_s", [-2, 40])
def test_started_while_already_limited(desk: Commands, passed_s: int) -> None:
    """A pane that was stopped before the watcher came is taken up, too; after its instant at once."""
    reset = soon(-passed_s)
    tui = desk.limited(reset)
    watch = desk.watch()
    began = time.time()
    paused = watch.state(tui.pane, "paused")
    assert instant(paused["resets_at"]) == reset
    tui.wait("submitted", wait_s=90)
    assert tui.first_sent_at() >= reset
    assert tui.first_sent_at() <= max(reset, began) + LATE_S
    watch.now(tui.pane, "busy")
    tui.resumed_once()


def test_the_margin_is_waited_after_the_reset(desk: Commands) -> None:
    """By default five seconds pass between the reset and the text."""
    desk.box.config("[recovery]\nrecheck_after = 1\n")
    reset = soon(2)
    tui = desk.limited(reset)
    desk.watch()
    tui.wait("submitted")
    assert reset + 5 <= tui.first_sent_at() <= reset + 5 + LATE_S


def test_a_clock_time_without_seconds_is_waited_to_its_minute_s_end(desk: Commands) -> None:
    """“resets 3:07pm” may have been rounded down: nothing is sent within that minute."""
    until(lambda: time.time() % 60 < 40, "time enough in this minute")
    now = time.gmtime()
    clock = time.strftime("%I:%M%p", now).lstrip("0").lower()
    tui = desk.tui(body=claude_says(f"You've hit your 5-hour limit · resets {clock} (UTC)"))
    watch = desk.watch()
    paused = watch.state(tui.pane, "paused")
    assert paused["kind"] == "session_limit"
    minute_over = (calendar.timegm(now) // 60 + 1) * 60  # of the minute that was named
    seen_at = max(minute_over, time.time())  # on a slow machine it may be over already
    tui.wait("submitted", wait_s=90)
    assert minute_over <= tui.first_sent_at() <= seen_at + LATE_S
    tui.resumed_once()


def test_the_weekly_limit_is_told_as_such(desk: Commands) -> None:
    """Its kind and its instant, with date and zone."""
    reset = soon(3600)
    tui = desk.tui(body=weekly_stopped(reset))
    paused = desk.watch().state(tui.pane, "paused")
    assert (paused["kind"], instant(paused["resets_at"])) == ("weekly_limit", reset)


@pytest.mark.parametrize("brand", ["codex", "gemini"])
def test_other_agents(desk: Commands, brand: str) -> None:
    """Codex and Gemini are found by their process, and waked by their own banners."""
    tui = desk.tui(brand, body=STOPPED[brand](3))
    began = time.time()
    watch = desk.watch()
    paused = watch.state(tui.pane, "paused")
    assert began + 3 <= instant(paused["resets_at"]) < began + 3 + LATE_S
    tui.wait("busy")
    assert tui.first_sent_at() >= began + 3
    watch.now(tui.pane, "busy")
    tui.resumed_once()


@pytest.mark.parametrize("brand", ["claude", "codex", "gemini"])
def test_an_agent_beyond_ssh_is_found_by_its_screen(desk: Commands, brand: str) -> None:
    """No process here has its name, as with ssh or a container: what it draws tells."""
    stopped = STOPPED.get(brand)
    body = stopped(4) if stopped else claude_stopped(soon(4))
    tui = desk.tui("ssh", look=brand, body=body)
    watch = desk.watch()
    assert watch.state(tui.pane, "paused")["account"] == brand
    tui.wait("busy")
    watch.now(tui.pane, "busy")
    tui.resumed_once()


def test_the_hint_of_an_empty_input_line_is_no_draft(desk: Commands) -> None:
    """Dim words in the input line are the program's own: the pane is waked."""
    tui = desk.limited(soon(2), hint='Try "fix lint errors"')
    desk.watch()
    tui.wait("busy")
    tui.resumed_once()


@pytest.mark.parametrize("text", ["go on; 'Enter' $HOME \"#{pane_id}\" ~ ~", "--go on;", "Enter"])
def test_another_resume_text(desk: Commands, text: str) -> None:
    """`resume_text` is sent as it is written, key names and quotes and all."""
    desk.recovery(resume_text=text)
    tui = desk.limited(soon(2))
    desk.watch()
    tui.wait("busy")
    tui.resumed_once(text)


def test_an_empty_resume_text_means_the_default(desk: Commands) -> None:
    """An empty text would wake nobody: the default is sent."""
    desk.recovery(resume_text="")
    tui = desk.limited(soon(1))
    desk.watch()
    tui.wait("busy")
    tui.resumed_once(RESUME)


def test_a_second_limit_after_the_first_is_waited_for_again(desk: Commands) -> None:
    """It went on, worked and was stopped again: parked again, waked again, one text each."""
    tui = desk.limited(soon(2))
    watch = desk.watch()
    tui.wait("busy")
    watch.state(tui.pane, "busy")
    second = soon(3)
    tui.show(
        mode="prompt",
        more=["● I have written half of it.", "", f"  ⎿  Claude AI usage limit reached|{second}"],
    )
    watch.wait(
        lambda: [e for e in watch.of(tui.pane, "paused") if instant(e["resets_at"]) == second],
        "the second park",
    )
    tui.wait("submitted", 2)
    assert tui.of("bytes")[2]["at"] >= second
    assert tui.submitted == [RESUME, RESUME]
    assert tui.bytes == [RESUME, ENTER] * 2


def test_a_refusal_with_a_later_time_parks_again_and_costs_no_try(desk: Commands) -> None:
    """The agent answers the text with another banner: that is a limit, not a failure."""
    desk.recovery(max_retries=1)
    second = soon(6)
    again = {"mode": "prompt", "more": [f"  ⎿  Claude AI usage limit reached|{second}"]}
    tui = desk.limited(soon(2), reactions=[again, {"mode": "busy"}])
    watch = desk.watch()
    tui.wait("busy")
    assert tui.of("submitted")[1]["at"] >= second
    assert tui.submitted == [RESUME, RESUME]
    assert "error" not in watch.states(tui.pane)


def test_a_refusal_with_a_time_just_past_is_a_short_wait(desk: Commands) -> None:
    """The same banner once more, its time passed by seconds: a minute's wait, neither a storm
    nor a day."""
    reset = soon(2)
    again = {"mode": "prompt", "more": [f"  ⎿  Claude AI usage limit reached|{reset}"]}
    tui = desk.limited(reset, reactions=[again, {"mode": "busy"}])
    watch = desk.watch()
    first = tui.wait("submitted")["at"]
    second = tui.wait("submitted", 2, wait_s=100)["at"]
    assert 45 <= second - first <= 120
    assert "error" not in watch.states(tui.pane)


def test_a_full_context_is_compacted_first(desk: Commands) -> None:
    """`/compact` goes before the resume text; each is submitted once, with Enter apart."""
    desk.recovery(context_limit_wait=1)
    compacted = {
        "mode": "busy",
        "busy_s": 2,
        "body": ["❯ /compact", "  ⎿  Compacted (ctrl+o to see full summary)"],
    }
    tui = desk.tui(
        body=claude_says("Context limit reached · /compact or /clear to continue"),
        reactions=[compacted, {"mode": "busy", "busy_s": None}],
    )
    watch = desk.watch()
    assert watch.state(tui.pane, "paused")["kind"] == "context_limit"
    tui.wait("submitted", 2, wait_s=90)
    watch.now(tui.pane, "busy")
    assert tui.submitted == ["/compact", RESUME]
    assert tui.bytes == ["/compact", ENTER, RESUME, ENTER]


def test_a_pane_that_prints_without_end_holds_nobody_up(desk: Commands) -> None:
    """Beside one that floods its terminal, another is parked and waked in time."""
    tui = desk.tui(mode="busy", body=["❯ write the parser"])
    flood = ("sh", "-c", "yes 'Weekly limit reached · resets 10:30am'")
    desk.tmux("split-window", "-d", "-t", tui.pane, *flood)
    watch = desk.watch()
    watch.state(tui.pane, "busy")
    reset = soon(4)
    tui.show(mode="prompt", body=claude_stopped(reset))
    watch.state(tui.pane, "paused")
    assert time.time() < reset
    tui.wait("submitted")
    assert reset <= tui.first_sent_at() <= reset + LATE_S
    watch.now(tui.pane, "busy")
    tui.resumed_once()


def test_only_the_named_pane_is_touched(desk: Commands) -> None:
    """Panes named on the command line are watched, and no others."""
    reset = soon(2)
    mine, other = desk.limited(reset), desk.limited(reset)
    watch = desk.watch(mine.pane)
    mine.wait("busy")
    watch.now(mine.pane, "busy")
    other.untouched()
    assert watch.of(other.pane) == []


def test_a_named_pane_is_watched_whatever_runs_in_it(desk: Commands) -> None:
    """`--agent` says the dialect of a pane whose program is not known."""
    tui = desk.tui("my-wrapper", look="claude", body=claude_stopped(soon(2)))
    watch = desk.watch(tui.pane, "--agent", "claude")
    tui.wait("busy")
    watch.state(tui.pane, "busy")
    tui.resumed_once()


def test_dry_run_sends_nothing_and_says_what_it_would(desk: Commands) -> None:
    """The park is told, the sending too; the pane is left as it is."""
    reset = soon(2)
    tui = desk.limited(reset)
    watch = desk.watch("--dry-run")
    paused = watch.state(tui.pane, "paused")
    assert instant(paused["resets_at"]) == reset
    watch.wait(lambda: RESUME in watch.told, "what it would send")
    until(lambda: time.time() > reset + 3, "the instant and the look after it")
    tui.untouched()


def test_json_is_nothing_but_events(desk: Commands) -> None:
    """Every line of standard output is an object with the pane's id as tmux gives it."""
    tui = desk.limited(soon(1))
    watch = desk.watch()
    tui.wait("busy")
    watch.now(tui.pane, "busy")
    assert all(isinstance(event, dict) for event in watch.events)
    assert {event["pane"] for event in watch.events if event.get("pane")} == {tui.pane}
    assert watch.stop() in (0, 130)
    out = watch.going.end().out
    assert out.endswith("\n")
    assert not any(mark in out for mark in ("⏳", "▶️", "✅")), "log lines go to standard error"
