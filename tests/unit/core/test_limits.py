"""How long each kind of limit is waited for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from segue.core.limits import (
    BACKOFF_S_MAX,
    DOUBLINGS_MAX,
    FAMILY,
    FAR,
    MANUAL,
    UNKNOWN_S,
    Waits,
    family,
    holds_account,
    is_far,
    needs_person,
    wakes_at,
)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
WAITS = Waits(weekly_s=1000.0, rate_s=10.0, context_s=2.0, margin_s=5.0)


def in_s(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_a_kind_that_nobody_knows_has_a_family_too() -> None:
    """A new word of an agent is waited for, not refused."""
    assert family("a new limit") == "unknown"
    assert not needs_person("a new limit")
    assert not holds_account("a new limit")


@pytest.mark.parametrize("kind", FAMILY)
def test_what_a_person_must_settle_holds_no_account(kind: str) -> None:
    """Waiting helps against the one, and a person against the other."""
    assert not (needs_person(kind) and holds_account(kind))


def test_only_billing_and_login_need_a_person() -> None:
    """All others end by themselves."""
    assert {kind for kind in FAMILY if needs_person(kind)} == {"billing", "auth"}


@pytest.mark.parametrize(
    ("resets_at", "expected"),
    [
        (None, False),
        (NOW - timedelta(days=9), False),
        (NOW + FAR, False),
        (NOW + FAR + timedelta(seconds=1), True),
    ],
)
def test_a_reset_is_far_beyond_eight_days(resets_at: datetime | None, expected: bool) -> None:
    """A time that nobody told is not far, nor is one in the past."""
    assert is_far(resets_at, NOW) is expected


def test_a_reset_is_waited_for_with_a_margin() -> None:
    """Never before it, though clocks differ by a little."""
    at = in_s(600)
    assert wakes_at("session_limit", NOW, resets_at=at, waits=WAITS) == (at, in_s(605))


def test_a_reset_that_names_a_minute_may_mean_its_end() -> None:
    """It was rounded down."""
    at = in_s(600)
    told = wakes_at("session_limit", NOW, resets_at=at, is_minute=True, waits=WAITS)
    assert told == (at, in_s(665))


def test_a_wait_in_seconds_is_a_reset() -> None:
    """Counted from now."""
    assert wakes_at("rate_limit", NOW, wait_s=30, waits=WAITS) == (in_s(30), in_s(35))


def test_a_reset_in_the_past_is_waited_for_no_longer_than_the_margin() -> None:
    """The limit is over."""
    assert wakes_at("weekly_limit", NOW, resets_at=in_s(-60), waits=WAITS) == (in_s(-60), in_s(5))


def test_refused_again_after_its_reset_it_waits_a_minute() -> None:
    """Neither a day nor a storm of attempts."""
    told = wakes_at("weekly_limit", NOW, resets_at=in_s(-60), waits=WAITS, repeated=1)
    assert told == (in_s(-60), in_s(60))


def test_a_person_who_parks_gets_their_own_time() -> None:
    """No margin: the time is theirs."""
    assert wakes_at(MANUAL, NOW, resets_at=in_s(60), waits=WAITS) == (in_s(60), in_s(60))


def test_a_full_context_is_waited_for_the_same_short_while() -> None:
    """Whatever time it names: nothing there resets."""
    told = wakes_at("context_limit", NOW, resets_at=in_s(3600), waits=WAITS)
    assert told == (None, in_s(2))


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [("session_limit", 1000), ("rate_limit", 10), ("unknown", UNKNOWN_S), ("new", UNKNOWN_S)],
)
def test_without_a_time_the_kind_decides(kind: str, seconds: float) -> None:
    """As the settings say, where they say it."""
    assert wakes_at(kind, NOW, waits=WAITS) == (None, in_s(seconds))


def test_a_rate_that_does_not_end_is_asked_for_less_and_less() -> None:
    """Twice as long each time, up to an hour, however often it is repeated."""
    waited = [
        (wakes_at("rate_limit", NOW, waits=WAITS, repeated=n)[1] - NOW).total_seconds()
        for n in (0, 1, 2, 9, DOUBLINGS_MAX, 10_000)
    ]
    assert waited == [10, 20, 40, BACKOFF_S_MAX, BACKOFF_S_MAX, BACKOFF_S_MAX]


def test_a_longer_wait_of_the_settings_is_not_cut() -> None:
    """An hour bounds what grows, not what a person wants."""
    slow = Waits(rate_s=2 * BACKOFF_S_MAX)
    assert wakes_at("rate_limit", NOW, waits=slow, repeated=3)[1] == in_s(2 * BACKOFF_S_MAX)


def test_those_that_wait_for_no_known_time_are_spread() -> None:
    """By a tenth at most, and those that know their time not at all."""
    assert wakes_at("rate_limit", NOW, waits=WAITS, jitter=1.0)[1] == in_s(11)
    at = in_s(600)
    assert wakes_at("rate_limit", NOW, resets_at=at, waits=WAITS, jitter=1.0)[1] == in_s(605)
