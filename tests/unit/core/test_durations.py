"""Lengths of time as people write and read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.core.durations import DURATION_S_MAX, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90.0),
        ("5m", 300.0),
        ("2h", 7200.0),
        ("1h30m", 5400.0),
        ("1h 30m", 5400.0),
        ("1.5h", 5400.0),
        ("500ms", 0.5),
        ("2d", 172_800.0),
        (" 2D ", 172_800.0),
        ("0s", 0.0),
        ("1m1s", 61.0),
        ("1m1ms", 60.001),
    ],
)
def test_durations_are_read_with_their_units(text: str, seconds: float) -> None:
    """A number with a unit, or several from long to short, is a length in seconds."""
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "5",
        "h",
        "30m1h",
        "1h1h",
        "-3s",
        "1e3s",
        "inf",
        "٣s",
        "1.s",
        ".5s",
        "5 min",
        "9" * 99,
    ],
)
def test_what_is_no_duration_is_none(text: str) -> None:
    """Numbers without units, units in a wrong order and foreign text are no durations."""
    assert parse_duration(text) is None


def test_a_duration_has_a_limit() -> None:
    """A length that would leave the calendar is refused."""
    days = int(DURATION_S_MAX / 86_400)
    assert parse_duration(f"{days}d") == DURATION_S_MAX
    assert parse_duration(f"{days + 1}d") is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.0004, "0s"),
        (0.35, "350ms"),
        (0.9996, "1s"),
        (2.4, "2.4s"),
        (9.96, "10s"),
        (42, "42s"),
        (59.6, "1m"),
        (303, "5m 3s"),
        (3599.7, "1h"),
        (5400, "1h 30m"),
        (86_399, "1d"),
        (100_000, "1d 4h"),
        (-5, "-5s"),
    ],
)
def test_durations_are_shown_with_two_units_at_most(seconds: float, text: str) -> None:
    """The two largest units that matter are shown, and no unit is ever full."""
    assert format_duration(seconds) == text


@given(st.floats(min_value=0, max_value=DURATION_S_MAX / 2))
def test_what_is_shown_can_be_read_again(seconds: float) -> None:
    """A duration as shown is one that can be written, and is right to a twentieth."""
    again = parse_duration(format_duration(seconds))
    assert again is not None
    assert again == pytest.approx(seconds, rel=0.05, abs=0.001)
