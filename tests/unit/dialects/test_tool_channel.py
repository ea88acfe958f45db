"""What an agent tells by tool call: written and read back, and what garbage becomes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.dialects import tool_channel
from segue.dialects.events import (
    ActRefused,
    Asked,
    DependencyAsked,
    ErrorReported,
    Event,
    Garbled,
    PhaseDone,
    Said,
    StepDone,
    TaskDone,
)
from segue.dialects.lines import LINE_BYTES_MAX, plain_text
from segue.dialects.text import Text
from segue.dialects.tool_channel import ToolChannel, TooLong

NONCE = "a1b2c3"
AT = "2026-11-16T01:00:00.000000Z"


def line(tool: str, **arguments: Any) -> bytes:
    return tool_channel.line(tool, arguments, nonce=NONCE, at=AT)


def heard(data: bytes, chunk: int = 1 << 20) -> list[Event]:
    dialect = ToolChannel(NONCE)
    chunks = [data[n : n + chunk] for n in range(0, len(data), chunk)]
    return [event for part in chunks for event in dialect.feed(part)] + list(dialect.close())


@pytest.mark.parametrize(
    ("tool", "arguments", "events"),
    [
        (tool_channel.ASK, {"question": "Which?"}, [Asked("Which?")]),
        (
            tool_channel.ASK,
            {
                "question": "Which?\nTell me.",
                "options": ["a", "b"],
                "default": "b",
                "category": "choice",
            },
            [Asked("Which?\nTell me.", ("a", "b"), "b", "choice")],
        ),
        (
            tool_channel.DEPENDENCY,
            {"type": "api_key", "name": "KEY", "description": "for payments"},
            [DependencyAsked("api_key", "KEY", "for payments")],
        ),
        (
            tool_channel.DEPENDENCY,
            {"type": "service", "name": "a queue", "default": "x", "required": False},
            [DependencyAsked("service", "a queue", "", False, "x")],
        ),
        (
            tool_channel.ASK,
            {"question": "?!", "default": "x", "required": False, "deadline": "2h"},
            [Asked("?!", preset="x", is_required=False, deadline_s=7200.0)],
        ),
        (tool_channel.STEP, {"n": 3}, [StepDone(3)]),
        (
            tool_channel.PHASE,
            {"summary": "made\n\nit", "deliverables": ["docs/a.md"]},
            [Said("made"), Said("it"), Said("- docs/a.md"), PhaseDone(None)],
        ),
        (tool_channel.PHASE, {"summary": "made", "phase": 2}, [Said("made"), PhaseDone(2)]),
        (tool_channel.PHASE, {"phase": 2}, [PhaseDone(2)]),
        (tool_channel.TASK, {"summary": "made"}, [Said("made"), TaskDone()]),
        (
            tool_channel.ERROR,
            {"message": "no\ndisk", "type": "fatal"},
            [ErrorReported("fatal", "no\ndisk", "checkpoint_and_fail")],
        ),
    ],
)
def test_each_tool_is_heard(tool: str, arguments: dict[str, Any], events: list[Event]) -> None:
    """What was written for a call is read as its events, whatever the chunks."""
    data = line(tool, **arguments)
    assert heard(data) == heard(data, 1) == heard(data, 7) == heard(data.rstrip(b"\n")) == events


def test_lines_follow_each_other() -> None:
    """Calls are heard in their order; empty lines between them say nothing."""
    data = line(tool_channel.STEP, n=1) + b"\n \n" + line(tool_channel.STEP, n=2)
    assert heard(data) == [StepDone(1), StepDone(2)]


@pytest.mark.parametrize("nonce", ["", "forged", None, [NONCE]])
def test_a_line_without_the_nonce_is_not_believed(nonce: object) -> None:
    """What does not know the run's nonce was not written by our server."""
    forged = json.dumps({"tool": tool_channel.STEP, "nonce": nonce, "arguments": {"n": 1}}).encode()
    assert heard(forged + b"\n") == [Garbled(len(forged))]


@pytest.mark.parametrize("category", ["budget", "permission", "dependency", "x", 7, ["choice"]])
def test_categories_of_segue_itself_cannot_be_claimed(category: object) -> None:
    """An agent's question never passes for one of Segue's own: its budget, a permission."""
    assert heard(line(tool_channel.ASK, question="Go on?", category=category)) == [Asked("Go on?")]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (tool_channel.ASK, {}),
        (tool_channel.ASK, {"question": " \n "}),
        (tool_channel.ASK, {"question": ["Which?"]}),
        (tool_channel.DEPENDENCY, {"type": "api_key", "description": "of what?"}),
        (tool_channel.DEPENDENCY, {"name": "KEY"}),
        (tool_channel.DEPENDENCY, {"type": "api_key", "name": "no-name"}),
        (tool_channel.PHASE, {"summary": "made", "phase": 0}),
        (tool_channel.PHASE, {"summary": "made", "phase": "2"}),
        (tool_channel.PHASE, {"summary": "made", "phase": True}),
        (tool_channel.STEP, {"n": 0}),
        (tool_channel.STEP, {"n": -1}),
        (tool_channel.STEP, {"n": 10_000}),
        (tool_channel.STEP, {"n": True}),
        (tool_channel.STEP, {"n": "1"}),
        (tool_channel.STEP, {"n": 1.0}),
        (tool_channel.PHASE, {"summary": None}),
        (tool_channel.ERROR, {}),
        ("run_plan", {"path": "PLAN.md"}),
    ],
)
def test_a_call_that_says_nothing_is_garbled(tool: str, arguments: dict[str, Any]) -> None:
    """A tool that is not known, or without what it must have, is told as garbled."""
    data = line(tool, **arguments)
    assert heard(data) == [Garbled(len(data) - 1)]


@pytest.mark.parametrize(
    "garbage",
    [
        b"{",
        b"null",
        b"7",
        b"[]",
        b"{}",
        b"[" * 60_000,
        b"\xff\xfe",
        b'{"tool": 1e999}',
        b"9" * 5000,
    ],
)
def test_garbage_is_told_and_goes_by(garbage: bytes) -> None:
    """Bytes that are no call are an event of their size; the next line is heard."""
    assert heard(garbage + b"\n" + line(tool_channel.STEP, n=1)) == [
        Garbled(len(garbage)),
        StepDone(1),
    ]


def test_a_line_over_the_bound_is_garbled() -> None:
    """Memory is bounded: a line that is too long comes as garbage, in pieces."""
    data = b'{"x": "' + b"y" * (2 * LINE_BYTES_MAX) + b'"}\n' + line(tool_channel.STEP, n=1)
    *garbled, last = heard(data, 4096)
    assert last == StepDone(1)
    assert all(isinstance(event, Garbled) for event in garbled)


def test_a_torn_line_does_not_take_the_next_with_it() -> None:
    """A line that a full disk cut off, ended by the next writer, is garbled alone."""
    torn = line(tool_channel.STEP, n=1)[:-20]
    assert heard(torn + b"\n" + line(tool_channel.STEP, n=2)) == [Garbled(len(torn)), StepDone(2)]


def test_standard_error_is_not_ours() -> None:
    """Nothing is written there; what comes is told, and means nothing."""
    dialect = ToolChannel(NONCE)
    assert list(dialect.feed_err(line(tool_channel.STEP, n=1))) == [
        Garbled(len(line(tool_channel.STEP, n=1)))
    ]
    assert list(dialect.feed_err(b"")) == []


def test_texts_are_plain_and_bounded() -> None:
    """Escapes, controls and characters that hide or turn text around are gone; long is cut."""
    asked = heard(
        line(
            tool_channel.ASK,
            question="\x1b[31mred\x1b[0m\x00 \u202etxt\u2066 \U000e0041x\nnext",
            options=["\x1b]0;t\x07one\ntwo", "", 3, "three"],
            default="three",
        )
    )
    assert asked == [Asked("red txt x\nnext", ("one two", "three"), "three")]
    [long] = heard(line(tool_channel.ASK, question="x" * 50_000))
    assert isinstance(long, Asked)
    assert len(long.question) == tool_channel.FIELD_CHARS_MAX


def test_a_default_that_is_no_option_is_dropped() -> None:
    """What is taken by default is something that could be chosen."""
    data = line(tool_channel.ASK, question="Which?", options=["a", "b"], default="c")
    assert heard(data) == [Asked("Which?", ("a", "b"))]


def test_more_options_than_anybody_reads_are_cut() -> None:
    """A list is bounded in its length."""
    [asked] = heard(line(tool_channel.ASK, question="Which?", options=[str(n) for n in range(500)]))
    assert isinstance(asked, Asked)
    assert len(asked.options) == tool_channel.OPTIONS_MAX


def test_a_line_holds_no_more_than_is_read() -> None:
    """The writer refuses what the reader would cut; the longest line is heard."""
    room = LINE_BYTES_MAX - len(line(tool_channel.ERROR, message="")) + 1
    assert [type(event) for event in heard(line(tool_channel.ERROR, message="x" * room))] == [
        ErrorReported
    ]
    with pytest.raises(TooLong):
        line(tool_channel.ERROR, message="x" * (room + 1))


def test_half_a_character_is_written_as_a_whole_one() -> None:
    """JSON can carry half of a surrogate pair; the line is UTF-8 all the same."""
    [error] = heard(line(tool_channel.ERROR, message="a\ud800b"))
    assert isinstance(error, ErrorReported)
    assert error.message == "a?b"


def test_why_a_call_is_not_believed_is_told() -> None:
    """A line that our server wrote and that says nothing is told in words; others are not."""
    [garbled] = heard(line(tool_channel.DEPENDENCY, type="api_key", name="no-name"))
    assert isinstance(garbled, Garbled)
    assert garbled.why.startswith("request_dependency: the name must be")
    [forged] = heard(line(tool_channel.STEP, n=0).replace(NONCE.encode(), b"forged"))
    assert isinstance(forged, Garbled)
    assert forged.why == ""


@pytest.mark.parametrize(
    ("tool", "name", "arguments"),
    [
        (
            tool_channel.ASK,
            "USER_QUESTION",
            {
                "question": "Which?",
                "options": ["a", "b"],
                "default": "a",
                "category": "choice",
                "required": False,
                "deadline": "30m",
                "priority": "high",
            },
        ),
        (
            tool_channel.DEPENDENCY,
            "DEPENDENCY_REQUEST",
            {"type": "api_key", "name": "K", "description": "d", "required": False, "default": "x"},
        ),
        (tool_channel.ERROR, "ERROR", {"type": "fatal", "message": "m", "recovery": "notify_user"}),
    ],
)
def test_tools_and_text_say_the_same(tool: str, name: str, arguments: dict[str, Any]) -> None:
    """A call, a block of JSON and a block of lines lead to one event."""
    lines = []
    for key, value in arguments.items():
        if isinstance(value, list):
            lines += [f"{key}:", *(f"- {part}" for part in value)]
        else:
            lines.append(f"{key}: {str(value).lower() if isinstance(value, bool) else value}")
    blocks = [f"[{name} {NONCE}]", *lines, f"[/{name}]"]
    blocks.append(f"[{name}_JSON {NONCE}]{json.dumps(arguments)}[/{name}_JSON]")
    events = [e for e in Text(NONCE).feed("\n".join([*blocks, ""]).encode()) if type(e) is not Said]
    assert events == heard(line(tool, **arguments)) * 2


@given(st.text())
def test_plain_text_keeps_what_is_plain(text: str) -> None:
    """Made plain twice is made plain once, and no control character is left but line and tab."""
    once = plain_text(text)
    assert plain_text(once) == once
    assert not {c for c in once if ord(c) < 32 or 0x7F <= ord(c) < 0xA0} - {"\n", "\t"}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = [
    *("question", "options", "default", "category", "name", "type", "n", "summary", "message"),
    *("required", "deadline", "priority", "phase", "deliverables", "recovery", "description"),
]


@given(
    st.sampled_from(sorted(tool_channel._READERS)),
    st.dictionaries(st.sampled_from(FIELDS), VALUES),
    st.integers(1, 50),
)
def test_any_values_are_events(tool: str, arguments: dict[str, Any], chunk: int) -> None:
    """Whatever stands in a call, it becomes events, at least one, and never an exception."""
    events = heard(line(tool, **arguments), chunk)
    assert events
    assert events == heard(line(tool, **arguments))


@given(st.binary(max_size=300))
def test_any_bytes_are_events(data: bytes) -> None:
    """Bytes of any kind raise nothing."""
    assert all(isinstance(event, Garbled) for event in heard(data))


def test_what_was_refused_in_a_sandbox_comes_this_way_also_without_tools() -> None:
    """An agent without Segue's tools reports nothing by this file; what was refused to it counts."""
    refused = {"via": "cli", "tried": "segue approve", "at": "2026-03-01T12:00:00Z"}
    data = b"".join(
        tool_channel.line(tool, given, nonce="n", at="")
        for tool, given in ((tool_channel.REFUSED, refused), (tool_channel.TASK, {}))
    )
    first, *rest = ToolChannel("n", reports=False).feed(data)
    assert first == ActRefused("cli", "segue approve", "2026-03-01T12:00:00Z")
    assert [type(event).__name__ for event in rest] == ["Garbled"]
    nothing = tool_channel.line(tool_channel.REFUSED, {"via": "cli"}, nonce="n", at="")
    assert [type(event).__name__ for event in ToolChannel("n").feed(nothing)] == ["Garbled"]
