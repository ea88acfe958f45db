"""What follows from a limit: a park, a question to a person, a smaller context, or a failure."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kit.plain_agent import NOON
from segue.core.limits import FAR, Waits
from segue.dialects.events import LimitHit
from segue.engine.limits import (
    AFRESH,
    COMPACT,
    CONFIRMATION,
    CONTEXT,
    TEXT_CHARS_MAX,
    AskPerson,
    Before,
    GiveUp,
    Park,
    Policy,
    Verdict,
    judge,
)

POLICY = Policy(Waits(margin_s=5.0, context_s=2.0), windows_max=3)
SOON = NOON + timedelta(hours=1)


def judged(limit: LimitHit, before: Before | None = None) -> Verdict:
    return judge(limit, "claude", NOON, POLICY, before or Before())


def test_a_limit_is_waited_for() -> None:
    """Until its reset and a margin, with the words that told of it."""
    park = judged(LimitHit("session_limit", SOON, text="come back later"))
    wakes = SOON + timedelta(seconds=5)
    assert park == Park("session_limit", SOON, wakes, "come back later")
    assert park.holds_account and not park.is_guess


def test_a_window_without_a_reset_is_a_guess() -> None:
    """It should have named one."""
    guess = judged(LimitHit("weekly_limit"))
    assert isinstance(guess, Park) and guess.is_guess
    rate = judged(LimitHit("rate_limit"))
    assert isinstance(rate, Park) and not rate.is_guess, "requests per minute name none"


@pytest.mark.parametrize("kind", ["billing", "auth"])
def test_what_only_a_person_settles_is_asked(kind: str) -> None:
    """With the agent's name and its own words."""
    verdict = judged(LimitHit(kind, text="no credit"))
    assert isinstance(verdict, AskPerson)
    assert verdict.question.category == kind
    assert "claude" in verdict.question.question and "no credit" in verdict.question.question


def test_a_reset_too_far_ahead_is_confirmed_by_a_person() -> None:
    """It may have been misread."""
    far = NOON + FAR + timedelta(seconds=1)
    verdict = judged(LimitHit("weekly_limit", far))
    assert isinstance(verdict, AskPerson)
    assert verdict.question.category == CONFIRMATION


def test_as_many_windows_as_were_allowed_then_a_person() -> None:
    """What holds no account is no window."""
    assert isinstance(judged(LimitHit("session_limit", SOON), Before(windows=2)), Park)
    assert isinstance(judged(LimitHit("session_limit", SOON), Before(windows=3)), AskPerson)
    assert isinstance(judged(LimitHit(CONTEXT), Before(windows=3)), Park)


def test_a_context_that_is_full_from_the_start_fails() -> None:
    """Nothing is left to make smaller."""
    assert isinstance(judged(LimitHit(CONTEXT), Before(purpose=AFRESH)), GiveUp)
    assert isinstance(judged(LimitHit(CONTEXT), Before(purpose=COMPACT)), Park)


def test_the_journal_keeps_the_beginning_of_what_was_said() -> None:
    """And nothing about what was not said."""
    assert Park("rate_limit", None, SOON).data() == {}
    said = Park("rate_limit", None, SOON, "x" * 10_000, "MARS").data()
    assert said == {"text": "x" * TEXT_CHARS_MAX, "unknown_zone": "MARS"}
