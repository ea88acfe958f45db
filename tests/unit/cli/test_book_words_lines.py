"""A book in words: short lines, straight boxes, and the sentences of the original."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from segue import i18n
from segue.cli import book_words
from segue.core import cells
from segue.core.book import BookState, Breaker
from segue.work.book import resuming
from segue.work.book.writing import complete

USAGE = {"input_tokens": 0, "output_tokens": 0, "cost_usd": None}


@pytest.fixture
def in_korean() -> Iterator[None]:
    i18n.use("ko")
    yield
    i18n.use("en")


def state(**fields: Any) -> BookState:
    known = {"current_chapter": 3, "completed_chapters": (1, 2), "last_checkpoint": "2026-11-16"}
    return BookState("long-night", 12, total_acts=3, **{**known, **fields})


@pytest.mark.parametrize("name", ["x" * 300, "밤" * 150, "긴 밤 " * 60, "short"])
def test_a_box_fits_a_narrow_terminal(name: str) -> None:
    """No line is wider than 80 cells, all are as wide as each other, and nothing is left out."""
    failed = tuple(range(4, 13))
    breaker = Breaker(3, (name,) * 3, triggered=True)
    found = state(failed_chapters=failed, circuit_breaker=breaker, current_chapter=12)
    boxes = [
        book_words.interrupted(BookState(name, 12), 2, []),
        book_words.in_full(found),
    ]
    for box in boxes:
        widths = {cells.width(line) for line in box.splitlines()}
        assert len(widths) == 1
        assert widths.pop() <= 80
        letters = "".join(line.strip("| ") for line in box.splitlines())
        assert name.replace(" ", "") in letters.replace(" ", "")


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("limit: session_limit, 2026-11-16T08:50:43Z", "stopped by a limit: 5-hour limit, until"),
        ("limit: something else", "stopped by a limit: something else, until"),
        ("question: Which hero?", "waiting for an answer: Which hero?"),
        ("max_iterations", "paused after 100 writes (max_iterations)"),
        ("judge_failed: no score", "the judge failed; Segue keeps the text"),
    ],
)
def test_the_box_says_why_it_stands_still(reason: str, told: str) -> None:
    """A pause that no other line tells has a line of its own, in words."""
    assert told in book_words.interrupted(state(pause_reason=reason), 0, [])


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("circuit_breaker: same_reason", ["To try once more:", "--on-tripped"]),
        ("max_iterations", ["Raise `max_iterations`"]),
        ("interrupted", ["To continue: segue resume --continue"]),
    ],
)
def test_the_summary_says_what_can_be_done(reason: str, told: list[str]) -> None:
    """The last lines are the ways on that lead somewhere."""
    facts = {"exit": 3, "usage": USAGE}
    last = book_words.summary(facts, state(pause_reason=reason), 1.0).splitlines()[-len(told) :]
    assert all(words in line for words, line in zip(told, last, strict=True))


@pytest.mark.usefixtures("in_korean")
def test_the_sentences_of_the_original() -> None:
    """Nothing begun, completed, not resumable, not restorable, reset: in Korean to the letter."""
    assert [
        resuming.nothing_begun(),
        complete(),
        resuming.nothing_to_resume(),
        resuming.no_way_back(),
        resuming.was_reset(),
    ] == [
        "중단된 세션이 없습니다. /write-all로 새 세션을 시작하세요.",
        "이미 완료된 세션입니다. 새 세션은 /write-all로 시작하세요.",
        "복구 가능한 세션이 없습니다.",
        "복구 불가능. /write-all로 새 세션을 시작하세요.",
        "세션이 초기화되었습니다. /write-all로 새 세션을 시작하세요.",
    ]


@pytest.mark.usefixtures("in_korean")
def test_the_box_of_the_original() -> None:
    """Its labels and further lines, in Korean to the letter and in their order."""
    breaker = Breaker(4, ("밋밋하다",), triggered=True)
    found = state(failed_chapters=(5, 7), quality_scores={1: 80, 2: 85}, circuit_breaker=breaker)
    box = book_words.interrupted(found, 2, [])
    assert [line.strip("| ") for line in box.splitlines() if line.strip("|+- ")] == [
        "중단된 세션 발견",
        "프로젝트: long-night",
        "진행: 2/12 챕터 완료",
        "현재 위치: 1막 3화",
        "마지막 작업: 2026-11-16",
        "품질 점수 평균: 82.5",
        "실패 챕터: 5, 7",
        "Circuit Breaker 활성: 4회 실패",
        "이전 세션에서 2건의 지혜가 축적되었습니다",
    ]
