"""What a pane's screen says."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from segue.core.machines import PaneState
from segue.dialects.claude_transcript import TranscriptStop
from segue.dialects.events import LimitHit
from segue.dialects.records import FINISHED, STOPPED, Record
from segue.dialects.screen import Screen
from segue.engine.executors.pane_screen import (
    ScreenReading,
    is_later_limit,
    is_same_limit,
    read_screen,
    with_record,
)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
RULE = "─" * 60
STOP = "  ⎿ You've hit your 5-hour limit · resets 3pm"
ITSELF = (
    "⚠ Usage limit reached · limit resets in 1 hour\n"
    "  Continuing automatically in 1 hour · Esc to cancel"
)


def read(body: str, draft: str = "", title: str = "") -> ScreenReading:
    lines = tuple(f"❯ do it\n{body}\n\n{RULE}\n❯ {draft}\n{RULE}\n".split("\n"))
    screen = Screen(lines, lines, (), None, 24, 80, title=title)
    return read_screen(screen, "claude", NOW, UTC)


def recorded(
    kind: str, resets_at: datetime | None, *, itself: bool | None = None
) -> TranscriptStop:
    return TranscriptStop(kind, resets_at, "", NOW, False, itself)


def test_a_screen_that_shows_a_limit_names_it() -> None:
    """Its kind, its time to the minute, and the line that says so."""
    limit = read(STOP).limit
    assert limit is not None
    assert (limit.kind, limit.resets_at, limit.is_minute) == (
        "session_limit",
        NOW.replace(hour=15),
        True,
    )
    assert "5-hour limit" in limit.text


@pytest.mark.parametrize(
    ("body", "title", "state"),
    [
        ("⏺ Done.", "", PaneState.IDLE),
        ("✻ Thinking… (3s · esc to interrupt)", "", PaneState.BUSY),
        ("⏺ Done.", "◐ write the parser", PaneState.BUSY),
    ],
)
def test_a_screen_without_a_limit_has_a_state(body: str, title: str, state: PaneState) -> None:
    """A circle that turns in the title is work, too."""
    reading = read(body, title=title)
    assert (reading.limit, reading.state) == (None, state)


def test_the_agents_record_is_believed_before_its_screen() -> None:
    """Its kind and its time, where both tell of the same wall."""
    at = NOW + timedelta(hours=3, seconds=7)
    reading = replace(read(STOP), record=recorded("weekly_limit", at))
    limit = reading.recorded_limit
    assert limit is not None
    assert (limit.kind, limit.resets_at, limit.is_minute) == ("weekly_limit", at, False)
    other = replace(read(STOP), record=recorded("context_limit", None))
    assert other.recorded_limit == other.limit, "it is about something else"


def test_words_of_an_earlier_process_are_not_believed() -> None:
    """The screen says that it continues by itself; only the record can take that back."""
    reading = read(ITSELF)
    assert reading.is_self_resuming
    at = NOW + timedelta(hours=1)
    assert replace(reading, record=recorded("session_limit", at)).is_self_resuming
    assert not replace(reading, record=recorded("session_limit", at, itself=False)).is_self_resuming


def test_a_text_in_the_input_line_is_known_however_it_is_wrapped() -> None:
    """Blanks do not matter; another text does."""
    reading = read(STOP, draft="go  on")
    assert reading.is_typed("go on")
    assert not reading.is_typed("go")
    assert not read(STOP).is_typed("")


def test_a_text_that_nobody_answered_stands_last() -> None:
    """An answer below it, or a limit, is one."""
    assert read("⏺ I begin.\n\n❯ 계속").is_unanswered("계속")
    assert not read("❯ 계속\n\n⏺ I continue.").is_unanswered("계속")
    assert not read(f"❯ 계속\n{STOP}").is_unanswered("계속")


def test_more_than_a_clock_and_the_input_line_must_have_moved() -> None:
    """A countdown and our own text are no answer."""
    before = read("  ⎿ You've hit your 5-hour limit · try again in 9 minutes")
    ticked = read("  ⎿ You've hit your 5-hour limit · try again in 8 minutes", draft="계속")
    assert not ticked.has_moved_since(before, "계속")
    refused = read(f"{STOP}\n❯ 계속\n{STOP}")
    assert refused.has_moved_since(before, "계속")


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (LimitHit("session_limit", NOW, text="resets 3pm"), True),
        (LimitHit("weekly_limit", NOW + timedelta(days=1), text="until 3"), True),
        (LimitHit("session_limit", NOW + timedelta(seconds=60), text="in 1 minute"), True),
        (LimitHit("session_limit", NOW + timedelta(hours=1), text="resets 4pm"), False),
        (LimitHit("session_limit", None, text="wait"), False),
        (LimitHit("rate_limit", NOW, text="resets soon"), False),
    ],
)
def test_which_stop_is_the_one_that_is_waited_for(shown: LimitHit, expected: bool) -> None:
    """The same words, or the same kind and nearly the same time."""
    texts = {"until 3"}
    known = LimitHit("session_limit", NOW, text=shown.text if shown.text in texts else "resets 3pm")
    assert is_same_limit(known, shown) is expected


@pytest.mark.parametrize(
    ("kind", "after", "expected"),
    [
        ("session_limit", timedelta(hours=1), True),
        ("session_limit", timedelta(seconds=-1), False),
        ("rate_limit", timedelta(hours=1), False),
        ("session_limit", None, False),
    ],
)
def test_a_refusal_until_a_later_time(kind: str, after: timedelta | None, expected: bool) -> None:
    """It must be to come, and later than the one before."""
    shown = LimitHit(kind, None if after is None else NOW + after)
    assert (
        is_later_limit(LimitHit("session_limit", NOW - timedelta(hours=1)), shown, NOW) is expected
    )
    assert not is_later_limit(LimitHit(kind, NOW + timedelta(days=2)), shown, NOW)


# The agent's own record


def test_an_answer_about_limits_is_not_a_limit() -> None:
    """The record shows that the turn ended with the agent's own words."""
    said = read("⏺ You've hit your session limit · resets 3pm")
    assert said.limit is not None
    assert with_record(said, Record(FINISHED, "do it")).limit is None


def test_a_limit_in_the_record_counts_whatever_the_screen_shows() -> None:
    """A screen may be odd; what the program wrote down is not."""
    shown = with_record(read("⏺ ???"), Record(STOPPED, "do it", recorded("weekly_limit", NOW)))
    assert shown.limit is not None
    assert (shown.limit.kind, shown.limit.resets_at) == ("weekly_limit", NOW)


def test_a_record_of_another_turn_says_nothing() -> None:
    """The screen shows a prompt that is not the one recorded last."""
    stop = recorded("weekly_limit", NOW)
    assert with_record(read("⏺ ???"), Record(STOPPED, "something else", stop)).limit is None
    said = read("⏺ You've hit your session limit · resets 3pm")
    assert with_record(said, Record(FINISHED, "something else")).limit is not None
