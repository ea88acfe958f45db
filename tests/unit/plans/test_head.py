"""The text behind a task's mark."""

from __future__ import annotations

import pytest

from segue.plans.head import SLUG_CHARS_MAX, Head, is_id, parse_head, slug


@pytest.mark.parametrize(
    ("text", "id", "title"),
    [
        ("T-003: Build it", "T-003", "Build it"),
        ("**T-003**: Build it", "T-003", "Build it"),
        ("**T-003: Build it**", "T-003", "Build it"),
        ("`API-AUTH-01` – Log in", "API-AUTH-01", "Log in"),
        ("T-3 - Build it", "T-3", "Build it"),
        ("작업-1： 만들기", "작업-1", "만들기"),
        ("PROJ-12 fix the login", "PROJ-12", "fix the login"),
        ("T-003", "T-003", "T-003"),
    ],
)
def test_an_id_and_its_title(text: str, id: str, title: str) -> None:
    """However they are set apart."""
    assert parse_head(text)[:2] == (id, title)


@pytest.mark.parametrize(
    "text",
    [
        "Build it",
        "UTF-8 everywhere",
        "step1 of many",
        "Add v2 of it",
        "see T-3: it",
        "RFC-7231 done",
    ],
)
def test_a_sentence_has_no_id(text: str) -> None:
    """Though a word in it ends in a number."""
    assert parse_head(text) == Head(None, text)


@pytest.mark.parametrize(
    ("word", "expected"), [("T-1", True), ("T-1a", True), ("T-1ab", False), ("T", False)]
)
def test_ids_end_in_a_number(word: str, expected: bool) -> None:
    """One letter may stand behind it."""
    assert is_id(word) is expected


def test_fields_in_the_line_are_taken_out_of_the_title() -> None:
    """In round, square and wide brackets; those in code stay."""
    head = parse_head("T-1: one (agent: shell) two [timeout: 5m] three （priority： high）")
    assert head.title == "one two three"
    assert head.fields == (("agent", "shell"), ("timeout", "5m"), ("priority", "high"))
    assert parse_head("T-1: print `f(agent: x)`").fields == ()


def test_a_bracket_in_a_value_belongs_to_it() -> None:
    """Up to the one that closes the field."""
    head = parse_head("T-1: one (run: test $(date) = `echo )`) two")
    assert (head.title, head.fields) == ("one two", (("run", "test $(date) = `echo )`"),))


def test_a_bracket_that_is_never_closed_is_text() -> None:
    """Nothing is lost of it."""
    head = parse_head("T-1: one (agent: shell")
    assert (head.title, head.fields) == ("one (agent: shell", ())


def test_depends_on_is_a_field_in_words() -> None:
    """As people write it."""
    head = parse_head("T-2: two (depends on T-1, T-3)")
    assert (head.title, head.fields) == ("two", (("blocked by", "T-1, T-3"),))


def test_a_key_that_is_nearly_a_field_is_noted() -> None:
    """As written, and as it was probably meant; the title keeps it."""
    head = parse_head("T-1: one (retrys: 3)")
    assert head.misspelt == (("retrys", "retries"),)
    assert head.title == "one (retrys: 3)"


def test_speckit_s_tags_and_paths() -> None:
    """`[P]` may run beside others, and the paths of the line are its files."""
    head = parse_head("T012 [P] [US1] Create the model (src/a.py, `b.ts`) (not a path)")
    assert (head.id, head.is_speckit, head.is_parallel) == ("T012", True, True)
    assert head.fields == (("files", "`src/a.py`"), ("files", "`b.ts`"))
    assert not parse_head("T012 Create it").is_parallel


def test_many_brackets_take_no_time() -> None:
    """Only so many fields of a line are looked for."""
    assert parse_head("T-1: " + "(agent: x) " * 10_000).fields == (("agent", "x"),) * 50


def test_a_task_without_an_id_is_called_by_its_title() -> None:
    """The same for the same title, however it is encoded; short, and never empty."""
    assert slug("Build the API!") == "build-the-api"
    assert slug("caf\u00e9") == slug("cafe\u0301")
    long = slug("word " * 40)
    assert len(long) <= SLUG_CHARS_MAX and long != slug("word " * 41)
    assert slug("…").startswith("task-")
