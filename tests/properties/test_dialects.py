"""Dialects: any chunking gives the same events, nothing is raised, nothing piles up."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.dialects import lines, text
from segue.dialects.events import Asked, Dialect, Event, Said, StepDone, Unsigned
from segue.dialects.lines import Lines, plain
from segue.dialects.script import PREFIX, Script
from segue.dialects.text import Text

NONCE = "a1b2c3"
DIALECTS: dict[str, Callable[[], Dialect]] = {"text": lambda: Text(NONCE), "script": Script}

PIECES = [
    b"\n",
    b"\r\n",
    b"\r",
    b" ",
    b"x",
    b"xxxxxxxxxxxxxxxxxxxxxxxxx",
    b"```",
    b"~~~~",
    b"=== STEP 1 DONE ===",
    b"=== STEP 2 DONE a1b2c3 ===",
    b"=== STEP 3 DONE forged ===",
    b"[USER_QUESTION a1b2c3]",
    b"[USER_QUESTION]",
    b"[USER_QUESTION forged]",
    b"[/USER_QUESTION]",
    b"question: Which?",
    b"options:",
    b"- one",
    b"default: one",
    b"\x1b[31m",
    b"\x1b]0;t\x07",
    "한".encode(),
    b"\xff",
    b"\x00",
    PREFIX.encode(),
    b'{"step": 1}',
    b'{"limit": "x", "wait_s": 3}',
    b'{"ask": "?"}',
    b"[[[[",
]
STREAMS = st.lists(st.sampled_from(PIECES), max_size=60).map(b"".join) | st.binary(max_size=400)
CUTS = st.lists(st.integers(0, 1500), max_size=20)


def chunks(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    return [data[a:b] for a, b in pairwise(places)]


def heard(dialect: Dialect, parts: list[bytes]) -> list[Event]:
    return [event for part in parts for event in dialect.feed(part)] + list(dialect.close())


@pytest.fixture(scope="module", autouse=True)
def _small_bounds() -> Iterator[None]:
    """Bounds that random streams reach."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "LINE_BYTES_MAX", 40)
        patch.setattr(text, "BLOCK_CHARS_MAX", 120)
        patch.setattr(text, "FIELD_CHARS_MAX", 30)
        yield


@pytest.mark.parametrize("name", DIALECTS)
@settings(max_examples=300, deadline=None)
@given(data=STREAMS, cuts=CUTS)
def test_any_chunking_gives_the_same_events(name: str, data: bytes, cuts: list[int]) -> None:
    """In one chunk, byte by byte, or cut anywhere: the same events."""
    bytewise = heard(DIALECTS[name](), [data[n : n + 1] for n in range(len(data))])
    assert heard(DIALECTS[name](), chunks(data, cuts)) == bytewise
    assert heard(DIALECTS[name](), [data]) == bytewise


@settings(max_examples=300, deadline=None)
@given(data=STREAMS, cuts=CUTS)
def test_no_byte_of_a_stream_is_lost(data: bytes, cuts: list[int]) -> None:
    """The pieces of all lines, put together, are the stream without its line ends."""
    cutter = Lines()
    found = [line for part in chunks(data, cuts) for line in cutter.feed(part)]
    found += cutter.close()
    assert b"".join(line for line, _whole in found) == data.replace(b"\n", b"")
    assert all(len(line) <= lines.LINE_BYTES_MAX for line, _whole in found)


@pytest.mark.parametrize("name", DIALECTS)
@settings(max_examples=200, deadline=None)
@given(data=STREAMS, cuts=CUTS)
def test_what_is_said_is_harmless(name: str, data: bytes, cuts: list[int]) -> None:
    """No event carries a control character, and no field is over its bound."""
    for event in heard(DIALECTS[name](), chunks(data, cuts)):
        match event:
            case Said(words):
                assert is_harmless(words)
            case Asked(question, options) if name == "text":
                assert is_harmless(question.replace("\n", ""))
                assert all(is_harmless(option) for option in options)
                assert all(len(part) <= 30 for part in (question, *options))


def is_harmless(words: str) -> bool:
    return not any(unicodedata.category(c) == "Cc" and c != "\t" for c in words)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200).filter(lambda line: b"\n" not in line))
def test_plain_text_has_no_control_characters_and_stays_as_it_is(line: bytes) -> None:
    """Whatever bytes stand in a line, its text is harmless, and plain text is left alone."""
    shown = plain(line)
    assert is_harmless(shown)
    assert plain(shown.encode()) == shown


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from([piece for piece in PIECES if NONCE.encode() not in piece]), max_size=60
    ).map(b"".join),
    CUTS,
)
def test_nothing_is_asked_without_the_nonce(data: bytes, cuts: list[int]) -> None:
    """Text that does not know the run's nonce can tick a step, and nothing more."""
    events = heard(Text(NONCE), chunks(data, cuts))
    assert all(isinstance(event, Said | StepDone | Unsigned) for event in events)
    assert StepDone(3) not in events


# Whole and halved, with something in between that is taken out of a line.
HALVES = [
    b"[USER_",
    b"QUESTION a1b2c3]",
    b"[USER_\x1b[1mQUESTION a1b2c3]",
    b"=\x00==",
    b"`\x1b[m``",
    b"",
]
BIG_PARTS = st.lists(
    st.tuples(
        st.lists(st.sampled_from([*PIECES, *HALVES]), max_size=4).map(b"".join),
        st.sampled_from([b"", b"\nline" * 7, b"\n[/USER_QUESTION]" + b"\nline" * 7]),
        st.sampled_from([b"", b"\n", *HALVES]),
    ).map(b"".join),
    max_size=8,
)


@given(BIG_PARTS)
@settings(max_examples=500)
def test_output_that_is_passed_over_told_nothing(parts: list[bytes]) -> None:
    """Whoever is far behind hears the same, but for lines in between that were only said."""
    reading, skimming = Text(NONCE), Text(NONCE)
    read = heard(reading, parts)
    skimmed: list[Event] = []
    for part in parts:
        found = skimming.skim(part)
        skimmed += skimming.feed(part) if found is None else found
    skimmed += skimming.close()
    told = [event for event in read if not isinstance(event, Said)]
    assert [event for event in skimmed if not isinstance(event, Said)] == told
    every_event = iter(read)
    assert all(event in every_event for event in skimmed), "in the same order"
