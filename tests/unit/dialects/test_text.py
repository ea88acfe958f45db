"""Plain text with markers: what counts, and what only looks as if it did."""

from __future__ import annotations

import pytest

from segue.dialects.events import Asked, Event, Garbled, Said, StepDone
from segue.dialects.lines import LINE_BYTES_MAX
from segue.dialects.text import BLOCK_CHARS_MAX, FIELD_CHARS_MAX, Text

NONCE = "a1b2c3"
QUESTION = f"""[USER_QUESTION {NONCE}]
category: choice
question: Which database?
options:
  - PostgreSQL
  - SQLite
default: SQLite
[/USER_QUESTION]
"""


def heard(text: str | bytes, chunk: int | None = None) -> list[Event]:
    data = text.encode() if isinstance(text, str) else text
    dialect = Text(NONCE)
    size = chunk or max(len(data), 1)
    chunks = [data[n : n + size] for n in range(0, len(data), size)]
    return [event for part in chunks for event in dialect.feed(part)] + list(dialect.close())


def told(text: str | bytes, chunk: int | None = None) -> list[Event]:
    """What is more than text."""
    return [event for event in heard(text, chunk) if not isinstance(event, Said)]


def test_lines_are_said() -> None:
    """Every line with something in it is said, without its colours; blank ones are not."""
    assert heard("one\n\n   \n\x1b[32mtwo\x1b[0m\nthree") == [
        Said("one"),
        Said("two"),
        Said("three"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "=== STEP 2 DONE ===",
        f"=== STEP 2 DONE {NONCE} ===",
        "  === STEP 2 DONE ===  ",
        "===STEP 2 DONE===",
        "\x1b[1m=== STEP 2 DONE ===\x1b[0m\r",
    ],
)
def test_a_step_is_told_by_its_line(line: str) -> None:
    """The marker of a sub-step, with the run's nonce or none, alone on its line."""
    assert told(line + "\n") == [StepDone(2)]
    assert told(line) == [StepDone(2)], "the last line needs no end"


@pytest.mark.parametrize(
    "line",
    [
        "=== STEP 2 DONE 0ther ===",
        "=== STEP two DONE ===",
        "=== STEP 2 ===",
        "=== STEP 12345 DONE ===",
        "now === STEP 2 DONE ===",
        "=== STEP 2 DONE === now",
        "> === STEP 2 DONE ===",
        "# === STEP 2 DONE ===",
        "`=== STEP 2 DONE ===`",
        f"=== STEP 2 DONE {NONCE} {NONCE} ===",
        f"=== STEP 2 DONE {NONCE.upper()} ===",
    ],
)
def test_what_only_looks_like_a_step_is_text(line: str) -> None:
    """A wrong nonce, or a marker that shares its line, is said and does nothing."""
    assert heard(line + "\n") == [Said(line)]


def test_a_question_is_asked() -> None:
    """A block with the run's nonce asks, with its options, its default and its category."""
    assert told(QUESTION) == [
        Asked("Which database?", ("PostgreSQL", "SQLite"), "SQLite", "choice"),
    ]


def test_a_question_may_be_short_and_may_be_long() -> None:
    """Only the question itself is needed; its lines may be several."""
    text = f"[USER_QUESTION {NONCE}]\nquestion: Go on?\n  Really?\n[/USER_QUESTION]"
    assert told(text) == [Asked("Go on?\nReally?", (), None, "clarification")]


@pytest.mark.parametrize(
    "forged",
    [
        QUESTION.replace(f" {NONCE}", ""),
        QUESTION.replace(NONCE, "ffffff"),
        QUESTION.replace(NONCE, NONCE + "0"),
        QUESTION.replace("[USER", "see [USER"),
        "```\n" + QUESTION + "```\n",
        "~~~ text\n" + QUESTION + "~~~\n",
        "````\n```\n" + QUESTION + "```\n````\n",
    ],
    ids=["none", "other", "longer", "in a line", "fence", "tildes", "fence in a fence"],
)
def test_a_forged_question_is_text(forged: str) -> None:
    """Without the run's nonce, inside a line or inside a fence nothing is asked."""
    assert told(forged) == []
    assert told(forged + QUESTION) == told(QUESTION), "a real one behind it is asked"


def test_steps_in_fences_are_text() -> None:
    """A marker that is quoted in a fence does not count; behind the fence it does."""
    quoted = "```sh\n=== STEP 1 DONE ===\n~~~\n=== STEP 2 DONE ===\n```\n=== STEP 3 DONE ===\n"
    assert told(quoted) == [StepDone(3)]


def test_code_within_a_line_opens_no_fence() -> None:
    """Three back-ticks around a word are no fence: markers behind that line count."""
    assert told("```pytest``` passes\n=== STEP 1 DONE ===\n") == [StepDone(1)]


@pytest.mark.parametrize("chunk", [None, 1000, LINE_BYTES_MAX])
@pytest.mark.parametrize("marker", ["=== STEP 1 DONE ===", QUESTION.splitlines()[0]])
def test_the_tail_of_an_over_long_line_is_no_marker(marker: str, chunk: int | None) -> None:
    """A line that was cut at the bound cannot bring a marker in its last piece."""
    for filling in (LINE_BYTES_MAX, 2 * LINE_BYTES_MAX, LINE_BYTES_MAX - 1):
        text = " " * filling + marker + "\nquestion: x\n[/USER_QUESTION]\n"
        assert told("x" + text, chunk) == []


@pytest.mark.parametrize("chunk", [None, 1000, 7])
def test_the_tail_of_an_over_long_line_closes_no_question(chunk: int | None) -> None:
    """Within a block, too, a marker counts only on a line of its own."""
    text = f"[USER_QUESTION {NONCE}]\nquestion: Go on?\n" + "x" * LINE_BYTES_MAX
    events = told(text + "[/USER_QUESTION]\ncategory: business\n[/USER_QUESTION]\n", chunk)
    assert [e.category for e in events if isinstance(e, Asked)] in ([], ["business"])
    assert len(events) == 1


@pytest.mark.parametrize("size", [FIELD_CHARS_MAX * 3, 2 * LINE_BYTES_MAX])
def test_a_field_is_bounded(size: int) -> None:
    """A question of one huge line is cut at the bound of a field, or reported."""
    events = told(f"[USER_QUESTION {NONCE}]\nquestion: {'q' * size}\n[/USER_QUESTION]\n", 4096)
    assert len(events) == 1
    match events[0]:
        case Asked(question):
            assert len(question) <= FIELD_CHARS_MAX
        case other:
            assert isinstance(other, Garbled)


def test_a_field_of_many_lines_is_bounded() -> None:
    """The lines of one question together are no longer than a field may be."""
    body = "".join(f"line {n} {'q' * 90}\n" for n in range(500))
    events = told(f"[USER_QUESTION {NONCE}]\nquestion: first\n{body}[/USER_QUESTION]\n")
    assert len(events) == 1
    match events[0]:
        case Asked(question):
            assert len(question) <= FIELD_CHARS_MAX
        case other:
            assert isinstance(other, Garbled)


def test_a_block_over_the_bound_is_reported_and_let_go() -> None:
    """A block that does not end is reported with its size, is not kept, and text goes on."""
    dialect = Text(NONCE)
    list(dialect.feed(f"[USER_QUESTION {NONCE}]\nquestion: x\n".encode()))
    events: list[Event] = []
    for _n in range(300):
        events += dialect.feed(b"y" * 999 + b"\n")
        assert sum(map(len, dialect._block or [])) <= BLOCK_CHARS_MAX
    garbled = [event for event in events if isinstance(event, Garbled)]
    assert len(garbled) == 1
    assert garbled[0].size > BLOCK_CHARS_MAX
    assert events[-1] == Said("y" * 999)


def test_a_block_that_is_not_closed_is_reported() -> None:
    """An agent that ends within a question has asked nothing, and that is told."""
    events = told(f"[USER_QUESTION {NONCE}]\nquestion: Go on?\n")
    assert len(events) == 1
    assert isinstance(events[0], Garbled)


def test_the_next_block_closes_one_that_was_not_closed() -> None:
    """A second opening reports the first block; what it asks is not mixed with it."""
    first = f"[USER_QUESTION {NONCE}]\nquestion: A?\noptions:\n- only of the first\n"
    events = told(first + QUESTION)
    assert [type(event) for event in events] == [Garbled, Asked]
    assert events[1:] == told(QUESTION)


def test_a_block_that_asks_nothing_is_reported() -> None:
    """A block without a question is garbled, never an empty question."""
    block = "category: choice\noptions:\n- a\n"
    events = told(f"[USER_QUESTION {NONCE}]\n{block}[/USER_QUESTION]\n")
    assert events == [Garbled(len(block))]
