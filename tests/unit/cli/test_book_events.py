"""What happens in a book, one line for each event: people read of chapters, not of steps."""

from __future__ import annotations

from typing import Any

import pytest

from segue import i18n
from segue.cli import book_events
from segue.cli.words import in_words

JUDGED: dict[str, Any] = {"chapter": 2, "score": 61.5, "threshold": 80, "reasons": []}


def test_steps_are_called_by_their_chapter() -> None:
    """The engine's names of steps become those of chapters; other names stay."""
    assert book_events.step_name("ch12.write.40") == "chapter 12"
    assert book_events.step_name("ch12.judge.40") == "the judge of chapter 12"
    assert book_events.step_name("T-001") == "T-001"
    assert book_events.named({"task": "ch2.write.5", "kind": "x"})["task"] == "chapter 2"
    facts = {"task": None, "text": "?"}
    assert book_events.named(facts) is facts


def test_a_step_is_told_once() -> None:
    """A write is told when it begins, a judgement by what it says, an end by what follows."""
    begun = {"task": "ch2.write.5", "title": "Chapter 2, revision 1", "attempt": 1}
    assert book_events.STEPS["task_started"](begun) == "▶ Chapter 2, revision 1"
    assert book_events.STEPS["task_started"]({**begun, "task": "ch2.judge.5"}) is None
    assert book_events.STEPS["task_completed"](begun) is None


def test_a_verdict_is_told_once() -> None:
    """A rejection with its main reason; that a chapter is good enough is told when it is done."""
    facts = {"chapter": 2, "score": 61.5, "threshold": 80, "reasons": ["too short", "no end"]}
    told = book_events.judged(facts)
    assert told == "⚖ chapter 2: 61.5 points, needs 80: too short"
    assert book_events.judged({**facts, "score": 80}) is None
    close = book_events.judged({**facts, "score": 79.99, "reasons": []})
    assert close == "⚖ chapter 2: 79.99 points, needs 80"


def test_reasons_are_counted() -> None:
    """The same reason three times is one line."""
    assert book_events.reasons(["dull", "long", "dull"]) == ["dull (×2)", "long"]


def test_another_try_of_a_step_is_counted() -> None:
    """The first one is not."""
    begun = {"task": "ch2.write.5", "title": "Chapter 2", "attempt": 3}
    assert book_events.STEPS["task_started"](begun) == "▶ Chapter 2 (try 3)"


def test_a_completed_chapter_is_told_with_its_score_and_how_far_the_book_is() -> None:
    facts = {"chapter": 3, "score": 88.04, "completed": 3, "total": 12}
    assert book_events.completed(facts) == "✔ chapter 3 completed with 88 points (3/12)"
    unjudged = book_events.completed({**facts, "score": None})
    assert unjudged == "✔ chapter 3 completed with - points (3/12)"


def test_a_chapter_that_fails_is_told_why_and_a_skipped_one_what_takes_its_place() -> None:
    assert book_events.failed({"chapter": 4, "error": "no text"}) == "✘ chapter 4 failed: no text"
    assert "placeholder" in book_events.skipped({"chapter": 4})


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        ("same_reason", "the same reason three times"),
        ("too_many_tries", "more than five attempts"),
        ("falling_scores", "three falling scores"),
        ("changed_by_hand", "the judge rejects your own text"),
        ("triggered", "it had already tripped"),
        ("brand_new", "brand_new"),
    ],
)
def test_a_tripped_breaker_names_its_cause_and_each_reason_once(cause: str, told: str) -> None:
    """A cause that this version does not know is shown as it is."""
    text = book_events.tripped({"chapter": 2, "cause": cause, "reasons": ["dull", "dull", "long"]})
    assert text.splitlines() == [
        f"⛔ circuit breaker at chapter 2: {told}",
        "    - dull (×2)",
        "    - long",
    ]


def test_a_pause_says_what_it_waits_for() -> None:
    """The bound on writes, a judge that failed, or whatever else stopped it."""
    bound = book_events.paused({"most": 100, "why": "max_iterations"})
    assert bound == "⏸ paused: reached max_iterations (100 writes)"
    judge = book_events.paused({"most": None, "why": "judge_failed: no score"})
    assert judge.startswith("⏸ the judge failed; Segue keeps the text")
    assert judge.endswith(": no score")
    other = book_events.paused({"most": None, "why": "question: Which hero?"})
    assert other == "⏸ paused: question: Which hero?"


def test_wisdom_is_counted_in_good_english() -> None:
    assert book_events.wisdom_in_words(1) == "1 lesson learned so far"
    assert book_events.wisdom_in_words(3) == "3 lessons learned so far"


def test_the_events_of_a_run_find_these_words() -> None:
    """A step that is retried is called by its chapter."""
    assert in_words("chapter_judged", JUDGED) == "⚖ chapter 2: 61.5 points, needs 80"
    retried = {"task": "ch2.write.5", "retry": 1, "retries": 2, "error": "exit code 3"}
    assert in_words("task_retrying", retried) == "↻ retrying chapter 2 (1/2): exit code 3"


def test_a_korean_reader_gets_korean() -> None:
    i18n.use("ko")
    try:
        assert book_events.step_name("ch3.write.7") != "chapter 3"
        assert "points" not in str(book_events.judged(JUDGED))
    finally:
        i18n.use("en")
