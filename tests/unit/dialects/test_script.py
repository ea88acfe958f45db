"""What the scripted agent says, and what garbage becomes."""

from __future__ import annotations

import json

import pytest

from segue.dialects.events import Asked, Event, Garbled, LimitHit, Said, StepDone, Used
from segue.dialects.lines import LINE_BYTES_MAX
from segue.dialects.script import PREFIX, Script


def heard(text: str, chunk: int = 1 << 20) -> list[Event]:
    data = text.encode()
    dialect = Script()
    chunks = [data[n : n + chunk] for n in range(0, len(data), chunk)]
    return [event for part in chunks for event in dialect.feed(part)] + list(dialect.close())


@pytest.mark.parametrize(
    ("what", "event"),
    [
        ({"step": 3}, StepDone(3)),
        (
            {"limit": "session_limit", "wait_s": 2},
            LimitHit("session_limit", None, 2.0, "session_limit"),
        ),
        ({"ask": "Which?"}, Asked("Which?")),
        (
            {"ask": "Which?", "options": ["a", 2], "default": "a"},
            Asked("Which?", ("a", "2"), "a"),
        ),
        (
            {"usage": {"input_tokens": 5, "output_tokens": 7, "cost_usd": 0.5}},
            Used(5, 7, 0.5),
        ),
        ({"usage": {"input_tokens": 5, "output_tokens": 7}}, Used(5, 7, None)),
    ],
)
def test_each_thing_it_tells_is_an_event(what: dict[str, object], event: Event) -> None:
    """One line of JSON behind the prefix is one event, at the end of the stream, too."""
    line = PREFIX + json.dumps(what)
    assert heard(line + "\n") == heard(line) == heard(line + "\r\n") == [event]


def test_other_lines_are_said() -> None:
    """Lines without the prefix, or with it elsewhere, are text."""
    assert heard('one\n\n say @segue {"step": 1}\n@seguex\n') == [
        Said("one"),
        Said(' say @segue {"step": 1}'),
        Said("@seguex"),
    ]


@pytest.mark.parametrize(
    "garbage",
    [
        "",
        "{",
        "[1]",
        "null",
        '"step"',
        "{}",
        '{"step": "1"}',
        '{"step": true}',
        '{"limit": "x"}',
        '{"limit": "x", "wait_s": null}',
        '{"limit": "x", "wait_s": Infinity}',
        '{"limit": "x", "wait_s": NaN}',
        '{"limit": "x", "wait_s": 1' + "0" * 400 + "}",
        '{"usage": {"input_tokens": 1}}',
        '{"ask": 3}',
        "[" * 50_000,
        "9" * 50_000,
    ],
    ids=lambda text: text[:36] or "empty",
)
def test_garbage_is_an_event(garbage: str) -> None:
    """Whatever stands behind the prefix and means nothing is garbled; nothing is raised."""
    assert [type(event) for event in heard(PREFIX + garbage + "\n")] == [Garbled]


@pytest.mark.parametrize("chunk", [1000, 1 << 20])
def test_an_over_long_line_tells_nothing(chunk: int) -> None:
    """Neither the head nor the tail of a line that was cut is an event."""
    filling = "x" * (LINE_BYTES_MAX - 1)
    events = heard(f'x{filling}{PREFIX}{{"step": 1}}\n{PREFIX}{{"step": 2}}\n', chunk)
    assert [event for event in events if not isinstance(event, Said)] == [StepDone(2)]
