"""One JSON object per line, read without trust."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from segue.dialects.events import Garbled, Said
from segue.dialects.structured import (
    Objects,
    amount_of,
    count_of,
    instant_of,
    object_of,
    objects_of,
    one_line,
    text_of,
)


def read(data: bytes) -> list[object]:
    objects = Objects()
    return [*objects.feed(data), *objects.close()]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"a": 1}', [{"a": 1}]),
        (b'  {"a": 1}\r', [{"a": 1}]),
        (b'{"a": "\xff"}', [{"a": "\ufffd"}]),
        (b"a warning", [Said("a warning")]),
        (b"", []),
        (b" \t ", []),
        (b"null", [Said("null")]),
        (b"a { brace", [Garbled(9)]),
        (b'{"a": 1', [Garbled(7)]),
        (b'{"a": 1}{"b": 2}', [Garbled(16)]),
        (b'{"a": NaN}', [Garbled(10)]),
        (b'{"a": -Infinity}', [Garbled(16)]),
        (b'{"a": 1e999}', [Garbled(12)]),
        (b"\xff\xfe", [Garbled(2)]),
        (b"a\0b", [Garbled(3)]),
    ],
)
def test_a_line_is_an_object_or_text_or_garbled(line: bytes, expected: list[object]) -> None:
    """Objects are given, text is said, what is neither is counted; the last line needs no end."""
    assert read(line + b"\n") == read(line) == expected


@pytest.mark.parametrize("hostile", [b'{"a":' + b"[" * 100_000, b'{"a":' + b"9" * 100_000 + b"}"])
def test_depth_and_digits_are_bounded(hostile: bytes) -> None:
    """What would exhaust the reader is garbled."""
    assert read(hostile + b"\n") == [Garbled(len(hostile))]


@pytest.mark.parametrize("value", [None, True, -1, 1.5, "3", [], {}, 2**60, 10**300])
def test_a_count_is_a_count(value: object) -> None:
    """Nothing else counts: no truth value, no fraction, nothing that no store can hold."""
    assert count_of(value) is None
    assert count_of(0) == 0 and count_of(7) == 7


@pytest.mark.parametrize("value", [None, False, -0.5, "3", [], {}, 10**300, 1e300])
def test_an_amount_is_a_bounded_number(value: object) -> None:
    """Whole or not, but no truth value and nothing below zero."""
    assert amount_of(value) is None
    assert amount_of(2) == 2.0 and amount_of(0.5) == 0.5


@pytest.mark.parametrize("value", [None, True, 0, -5, 1, "1794770878", 1794770878000, 1e18, []])
def test_an_instant_is_seconds_of_our_time(value: object) -> None:
    """Seconds since 1970 that lie in this century's years; all others are none."""
    assert instant_of(value) is None
    assert instant_of(1794770878) == datetime(2026, 11, 15, 19, 27, 58, tzinfo=UTC)


def test_texts_are_harmless() -> None:
    """Lines stay lines; what acts on a terminal, or cannot be written, is gone."""
    assert text_of("a\r\n\x1b[31mb\x1b[0m\n\ud800c") == "a\nb\n?c"
    assert text_of(3) == one_line(None) == ""
    assert one_line("one\u0007") == "one"
    assert one_line("x" * 2000, 10) == "x" * 8 + " …"


def test_other_types_are_empty() -> None:
    """What should be an object, or a list of them, and is none, holds nothing."""
    assert object_of([1]) == object_of(None) == {}
    assert objects_of({"a": 1}) == objects_of("x") == []
    assert objects_of([1, {"a": 1}, None]) == [{"a": 1}]
