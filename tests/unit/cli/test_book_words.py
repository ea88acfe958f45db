"""A book in words: the box, the state in full, the plot of its scores, the end of a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from segue import i18n
from segue.cli.book_words import (
    BARS,
    PLOT_CELLS,
    PLOT_ROWS_MAX,
    in_full,
    interrupted,
    plot,
    summary,
)
from segue.core.book import BookState, Breaker
from segue.core.cells import width

STATE = BookState(
    "긴 밤 🦆",
    12,
    total_acts=3,
    can_resume=True,
    current_act=2,
    current_chapter=5,
    completed_chapters=(1, 2, 3),
    quality_scores={1: 80, 2: 90, 3: 85.55},
    last_quality_score=85.55,
    started_at="2026-03-01T12:00:00Z",
    last_checkpoint="2026-03-01T13:30:00Z",
)
TRIPPED = replace(
    STATE,
    failed_chapters=(4,),
    circuit_breaker=Breaker(7, ("too short", "no dog", "too short"), True),
)
FACTS: dict[str, Any] = {
    "exit": 0,
    "usage": {"input_tokens": 0, "output_tokens": 0, "cost_usd": None},
}
calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    i18n.use("en")
    yield
    i18n.use("en")


def is_straight(box: str) -> bool:
    return len({width(row) for row in box.split("\n")}) == 1


def test_the_box_has_what_the_original_shows() -> None:
    """Project, progress, place, last work, mean score; no line for what there is none of."""
    box = interrupted(STATE, 0, [])
    for text in ("긴 밤 🦆", "3/12", "act 2, chapter 5", "2026-03-01T13:30:00Z", "85.2"):
        assert text in box
    lines = [row for row in box.split("\n") if row.strip("|+- ")]
    assert len(lines) == 6
    assert is_straight(box)


def test_the_box_has_further_lines_where_they_apply() -> None:
    """Failed chapters, the breaker with its count, half a chapter, wisdom."""
    rows = interrupted(TRIPPED, 3, [5]).split("\n")
    plain = interrupted(STATE, 0, []).split("\n")
    new = [row for row in rows if row not in plain]
    assert len(new) == 4
    for text, row in zip(("4", "7", "5", "3"), new, strict=True):
        assert text in row


def test_a_box_of_a_state_that_knows_little_is_straight() -> None:
    """Another tool may have left nearly everything out."""
    assert is_straight(interrupted(BookState("", 0), 0, []))
    assert is_straight(in_full(BookState("", 0)))


@pytest.mark.parametrize("language", ["en", "ko"])
@settings(calm, max_examples=40)
@given(
    project=st.text(max_size=200),
    reasons=st.lists(st.text(max_size=100), max_size=6),
    pause=st.none()
    | st.text(max_size=60)
    | st.sampled_from(["limit: session_limit, soon", "question: a\x1b[2Jb", "judge_failed: \n"]),
)
def test_boxes_are_straight_whatever_is_in_the_state(
    language: Any, project: str, reasons: list[str], pause: str | None
) -> None:
    """Titles, reasons and pauses come from people, judges and other tools."""
    i18n.use(language)
    state = replace(
        TRIPPED,
        project_id=project,
        pause_reason=pause,
        circuit_breaker=Breaker(len(reasons), tuple(reasons), True),
    )
    for box in (interrupted(state, 2, [5]), in_full(state)):
        assert is_straight(box)
        assert all(row.isprintable() for row in box.split("\n"))
        assert max(width(row) for row in box.split("\n")) <= 80


def test_the_state_in_full_has_its_figures() -> None:
    """Progress, quality, time, the completed list; a reason that recurs once."""
    box = in_full(TRIPPED)
    for text in ("12", "3", "8", "25%", "85.5", "no dog", "2026-03-01T12:00:00Z", "1h 30m"):
        assert text in box
    assert "1, 2, 3" in box
    assert box.count("too short") == 1


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (None, None),
        ("yesterday", "2026-03-01T13:30:00Z"),
        ("2026-03-01T12:00:00", "2026-03-01T13:30:00Z"),
    ],
)
def test_times_that_cannot_be_reckoned_with_are_left_out(
    start: str | None, end: str | None
) -> None:
    """Other tools write what they like."""
    box = in_full(replace(STATE, started_at=start, last_checkpoint=end))
    assert "elapsed: - " in box


def test_the_labels_of_the_original_are_used_to_the_letter_in_korean() -> None:
    """In the box and in the state in full."""
    i18n.use("ko")
    box = interrupted(TRIPPED, 3, [])
    for text in (
        "중단된 세션 발견",
        "프로젝트: 긴 밤 🦆",
        "진행: 3/12 챕터 완료",
        "현재 위치: 2막 5화",
        "마지막 작업: 2026-03-01T13:30:00Z",
        "품질 점수 평균: 85.2",
        "실패 챕터: 4",
        "Circuit Breaker 활성: 7회 실패",
        "이전 세션에서 3건의 지혜가 축적되었습니다",
    ):
        assert text in box
    full = in_full(TRIPPED)
    for text in (
        "세션 상세 현황",
        "-- 진행 상황 --",
        "전체: 12화",
        "완료: 3화",
        "실패: 1화",
        "남은: 8화",
        "진행률: 25%",
        "-- 품질 정보 --",
        "마지막 점수: 85.5",
        "Circuit Breaker: 활성",
        "실패 이유: ",
        "-- 시간 정보 --",
        "시작: 2026-03-01T12:00:00Z",
        "마지막 체크포인트: 2026-03-01T13:30:00Z",
        "경과: ",
        "-- 완료된 챕터 --",
    ):
        assert text in full
    assert "Circuit Breaker: 정상" in in_full(STATE)


# Scores


def test_each_score_is_a_bar_of_its_length() -> None:
    """With a sign for what became of the chapter."""
    state = replace(
        STATE, quality_scores={1: 0, 2: 50, 10: 100}, completed_chapters=(10,), failed_chapters=(1,)
    )
    first, second, last = plot(state)
    assert [row.count("█") for row in (first, second, last)] == [0, PLOT_CELLS // 2, PLOT_CELLS]
    assert first.endswith("0 ✘")
    assert last.endswith("100 ✔")
    assert first.index("░") == last.index("█")


@calm
@given(st.dictionaries(st.integers(1, 10**6), st.floats(-1000, 1000), max_size=80))
def test_any_scores_can_be_drawn(scores: dict[int, float]) -> None:
    """Of many chapters one small bar each; of none, nothing."""
    rows = plot(replace(STATE, quality_scores=scores))
    if not scores:
        assert rows == []
    elif len(scores) > PLOT_ROWS_MAX:
        assert len(rows) == 1
        assert len(rows[0].strip()) == len(scores)
    else:
        assert len(rows) == len(scores)
        assert max(width(row) for row in rows) <= PLOT_CELLS + 25


@pytest.mark.parametrize("score", [-5, 0, 100, 250])
def test_a_score_beyond_the_scale_is_drawn_at_its_end(score: float) -> None:
    """Another judge, or another tool, may count differently."""
    few = plot(replace(STATE, quality_scores={1: score}))
    assert few[0].count("█") + few[0].count("░") == PLOT_CELLS
    many = plot(replace(STATE, quality_scores=dict.fromkeys(range(1, PLOT_ROWS_MAX + 2), score)))
    assert set(many[0].strip()) == {BARS[0] if score <= 0 else BARS[-1]}


# The end of a run


@pytest.mark.parametrize("code", [0, 1, 3, 4, 130])
def test_the_end_of_a_run_says_how_far_it_is_and_how_to_go_on(code: int) -> None:
    """Nothing is left to do only where all is done."""
    text = summary({**FACTS, "exit": code}, TRIPPED, 61)
    assert "3/12" in text
    assert "1m 1s" in text
    assert ("segue " in text) is (code != 0)
    assert ("✘" in text.splitlines()[1]) is (code == 1)


def test_a_written_book_and_a_written_chapter_are_told_apart() -> None:
    """Both end with 0."""
    heads = {
        summary(FACTS, replace(STATE, completed_at=at), 1).splitlines()[1].split("  ")[0]
        for at in (None, "2026-03-01T13:30:00Z")
    }
    assert len(heads) == 2


def test_what_was_used_is_told_where_it_is_known() -> None:
    """Tokens and cost."""
    used = {"input_tokens": 1200, "output_tokens": 34, "cost_usd": 0.5}
    assert "¤" in summary({**FACTS, "usage": used}, STATE, 1)
    assert "¤" not in summary(FACTS, STATE, 1)


def test_the_ways_on_fit_the_pause() -> None:
    """A tripped breaker has other ways than a used-up bound."""
    facts = {**FACTS, "exit": 3}
    tripped = summary(facts, replace(TRIPPED, pause_reason="circuit_breaker: same_reason"), 1)
    used_up = summary(facts, replace(STATE, pause_reason="max_iterations"), 1)
    assert "--on-tripped" in tripped
    assert "max_iterations" in used_up
