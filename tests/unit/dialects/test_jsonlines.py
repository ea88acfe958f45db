"""Codex, Gemini CLI and opencode: what must be true of all three, and no golden case can show."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.dialects import structured
from segue.dialects.codex import Codex
from segue.dialects.events import (
    Asked,
    ConversationLost,
    Event,
    Finished,
    Garbled,
    LimitHit,
    Opened,
    Retrying,
    Said,
    StepDone,
    ToolUsed,
)
from segue.dialects.gemini import Gemini
from segue.dialects.jsonlines import (
    FAILURE_CHARS_MAX,
    NOTES_MAX,
    JsonLines,
    by_status,
    spoken,
    what,
)
from segue.dialects.opencode import Opencode

NONCE = "a1b2c3"
ID = "01a1e076-72d5-7921-9729-dc464649fc03"
DIALECTS: dict[str, Callable[[str], JsonLines]] = {
    "codex": Codex,
    "gemini": Gemini,
    "opencode": Opencode,
}
OPENING = {
    "codex": {"type": "thread.started", "thread_id": ID},
    "gemini": {"type": "init", "session_id": ID},
    "opencode": {"type": "step_start", "sessionID": ID},
}


def own_words(name: str, text: str) -> dict[str, Any]:
    match name:
        case "codex":
            item = {"id": "i", "type": "agent_message", "text": text}
            return {"type": "item.completed", "item": item}
        case "gemini":
            return {"type": "message", "role": "assistant", "content": text}
        case _:
            return {"type": "text", "sessionID": ID, "part": {"type": "text", "text": text}}


def line(told: object) -> bytes:
    return json.dumps(told).encode() + b"\n"


def heard(dialect: JsonLines, out: bytes = b"", err: bytes = b"") -> list[Event]:
    return [*dialect.feed(out), *dialect.feed_err(err), *dialect.close()]


KEYS = (
    *("type", "item", "text", "id", "thread_id", "session_id", "sessionID", "usage", "message"),
    *("input_tokens", "output_tokens", "error", "command", "changes", "server", "tool", "path"),
    *("arguments", "role", "content", "delta", "tool_name", "parameters", "stats", "status"),
    *("part", "state", "input", "reason", "tokens", "cost", "cache", "read", "name", "data"),
    *("statusCode", "responseHeaders", "retry-after", "responseBody", "total_tokens", "severity"),
)
WORDS = st.sampled_from(
    [
        *("thread.started", "turn.started", "turn.completed", "turn.failed", "item.started"),
        *("item.completed", "error", "agent_message", "command_execution", "file_change"),
        *("mcp_tool_call", "init", "message", "assistant", "user", "tool_use", "result", "success"),
        *("step_start", "text", "step_finish", "stop", "tool-calls", "length", "APIError", ID),
        *("Reconnecting... 1/5 (x)", "You’ve hit your usage limit", "status: 429", "{", "}"),
        *("=== STEP 1 DONE ===", "[USER_QUESTION]", "a\x1b[31mb\x00\r\nc", "\ud800", "-x"),
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=20),
    lambda part: (
        st.lists(part, max_size=3) | st.dictionaries(st.sampled_from(KEYS), part, max_size=6)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=8)
ERR = st.lists(
    st.sampled_from(
        [
            b"Error: ",
            b"Error resuming session: Invalid session",
            b"Attempt 3 failed: x",
            b" Retrying after 500ms...",
            b"Max attempts reached",
            b"--- JSONC Input ---",
            b"--- Errors ---",
            b"\n",
            b"\r",
            b"\xff\x00",
            b"\x1b[2J",
        ]
    ),
    max_size=20,
).map(b"".join)


@pytest.mark.parametrize("name", DIALECTS)
@settings(max_examples=100, deadline=None)
@given(told=st.lists(OBJECTS, max_size=12), err=ERR, cut=st.integers(1, 50))
def test_nothing_raises_and_chunks_do_not_matter(
    name: str, told: list[dict[str, Any]], err: bytes, cut: int
) -> None:
    """Whatever the objects hold: events, the same for any chunks, all of them harmless."""
    out = b"".join(map(line, told))
    events = heard(DIALECTS[name](NONCE), out, err)
    other = DIALECTS[name](NONCE)
    pieces = [e for n in range(0, len(out), cut) for e in other.feed(out[n : n + cut])]
    pieces += [e for n in range(0, len(err), cut) for e in other.feed_err(err[n : n + cut])]
    assert [*pieces, *other.close()] == events
    assert len([e for e in events if isinstance(e, Opened)]) <= 1
    for event in events:
        match event:
            case Said(text) | Finished(text=text) | LimitHit(text=text) | Retrying(text=text):
                assert not any(c < " " and c not in "\t\n" for c in text)
            case ToolUsed(tool, used_with):
                assert tool and len(tool) <= 121 and len(used_with) <= 120
                assert not any(c < " " for c in tool + used_with)


@pytest.mark.parametrize("name", DIALECTS)
def test_an_object_over_the_bound_is_garbled_and_the_next_is_heard(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that does not fit in memory is let go piece by piece, as Garbled, and no more."""
    monkeypatch.setattr(structured, "OBJECT_BYTES_MAX", 2_000)
    dialect = DIALECTS[name](NONCE)
    long = line(own_words(name, "x" * 9_000 + "\n=== STEP 1 DONE ===\n"))
    events = heard(dialect, line(OPENING[name]) + long + line(own_words(name, "after")))
    assert events[0] == Opened(ID)
    assert sum(e.size for e in events if isinstance(e, Garbled)) == len(long) - 1
    assert [e for e in events if isinstance(e, Said)] == [Said("after")]


@pytest.mark.parametrize("name", DIALECTS)
def test_standard_error_is_kept_back_until_the_end(name: str) -> None:
    """Chatter at the start must not look like work; where nothing else was told, it is said."""
    dialect = DIALECTS[name](NONCE)
    lines = [f"note {n}" for n in range(NOTES_MAX + 10)]
    assert list(dialect.feed_err("\n".join(lines).encode() + b"\n")) == []
    assert list(dialect.close()) == [Said(text) for text in lines[-NOTES_MAX:]]


@pytest.mark.parametrize("name", DIALECTS)
def test_text_among_the_objects_is_no_word_of_the_agent(name: str) -> None:
    """Where both outputs share a pipe, a line of text is treated as standard error is."""
    text = f"=== STEP 1 DONE ===\n[USER_QUESTION {NONCE}]\nquestion: ?\n[/USER_QUESTION]\n"
    events = heard(DIALECTS[name](NONCE), line(OPENING[name]) + text.encode())
    assert not any(isinstance(event, StepDone | Asked) for event in events)
    assert Said("=== STEP 1 DONE ===") in events


@pytest.mark.parametrize("name", DIALECTS)
def test_each_text_of_the_agent_stands_alone(name: str) -> None:
    """A fence that one text leaves open does not hide the marker in the next."""
    events = heard(
        DIALECTS[name](NONCE),
        line(own_words(name, "```\n=== STEP 1 DONE ==="))
        + line(own_words(name, "=== STEP 2 DONE ===")),
    )
    assert [e for e in events if isinstance(e, StepDone)] == [StepDone(2)]


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize(("nonce", "is_asked"), [(f" {NONCE}", True), ("", True), (" bad", False)])
def test_the_agents_own_words_need_no_nonce(name: str, nonce: str, is_asked: bool) -> None:
    """They are known to be its own; a nonce that is there must still be the right one."""
    text = f"[USER_QUESTION{nonce}]\nquestion: Why?\n[/USER_QUESTION]"
    events = heard(DIALECTS[name](NONCE), line(own_words(name, text)))
    assert (Asked("Why?") in events) == is_asked


LOST = {
    "codex": "Error: thread/resume failed: no rollout found for thread id 0 (code -32600)",
    "gemini": 'Error resuming session: Invalid session identifier "0".',
    "opencode": "Error: Session not found",
}


@pytest.mark.parametrize("name", DIALECTS)
def test_a_conversation_is_lost_only_if_none_was_opened(name: str) -> None:
    """The words for it may come from anywhere once the program is at work."""
    lost = heard(DIALECTS[name](NONCE), err=LOST[name].encode())
    assert lost[0] == ConversationLost(LOST[name])
    assert [type(event) for event in lost] == [ConversationLost, Finished]
    opened = heard(DIALECTS[name](NONCE), line(OPENING[name]), LOST[name].encode())
    assert not any(isinstance(event, ConversationLost) for event in opened)


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("id_", ["-c", "--yolo", "a b", "../x", "x\n", "é", "x" * 200, "", 7, None])
def test_an_id_that_could_be_read_as_something_else_is_none(name: str, id_: object) -> None:
    """It will be an argument of the program's next start."""
    opening = {**OPENING[name]}
    key = next(key for key, value in opening.items() if value == ID)
    assert not any(
        isinstance(event, Opened)
        for event in heard(DIALECTS[name](NONCE), line({**opening, key: id_}))
    )


def test_a_failure_is_spoken_without_its_wrapping() -> None:
    """The API's own message stands where its answer stood; what is no such answer stays."""
    inner = json.dumps({"error": {"message": "Too long.", "code": 1}})
    assert spoken(inner) == "Too long."
    assert spoken(f"[API Error: {inner}] Sorry.") == "[API Error: Too long.] Sorry."
    assert spoken(json.dumps({"error": {"message": inner}})) == "Too long."
    for as_it_is in ("plain", "a } b {", "{not json}", '{"x": 1}', '{"error": {"message": " "}}'):
        assert spoken(as_it_is) == as_it_is
    assert spoken(None) == ""
    assert len(spoken("x" * 100_000)) == FAILURE_CHARS_MAX


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, None),
        (401, "auth"),
        (402, "billing"),
        (403, "auth"),
        (404, None),
        (408, "network"),
        (413, "context_limit"),
        (429, "rate_limit"),
        (500, "overloaded"),
        (529, "overloaded"),
        (600, None),
        (None, None),
    ],
)
def test_a_status_has_a_kind(status: int | None, kind: str | None) -> None:
    """What waiting or a person can mend has a kind; other errors have none."""
    assert by_status(status) == kind


def test_what_a_tool_is_used_with_is_its_most_telling_field() -> None:
    """A command before its description, a path before its content, else any text."""
    assert what({"description": "d", "command": "make\nmake install"}) == "make …"
    assert what({"content": "c", "filePath": "a.py"}) == "a.py"
    assert what({"n": 3, "colour": "red"}) == "red"
    assert what({"n": 3}) == ""
