"""A book in the making: drafts, revisions, the circuit breaker, pauses."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from segue.core import book
from segue.core.book import (
    REASONS_KEPT,
    BookState,
    Breaker,
    Cause,
    Pause,
    Verdict,
    act_of,
    at_chapter,
    continued,
    edited,
    judge_failed,
    judged,
    next_write,
    pause_of,
    paused,
    replanned,
    skipped,
    write_failed,
)

calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine


def begun(chapters: int = 3, **more: Any) -> BookState:
    state = BookState("night", chapters, mode="write-all", ralph_active=True, can_resume=True)
    return next_write(at_chapter(replace(state, **more), 1))


def told(state: BookState, *scores: float, reason: str | None = None) -> BookState:
    """The chapter is judged so, one time after the other; each for a reason of its own."""
    for score in scores:
        why = reason or f"reason {state.step} {score}"
        state = judged(state, Verdict(score, (why,)))
    return state


def cause_of(state: BookState) -> str:
    assert pause_of(state) is Pause.BREAKER
    assert state.circuit_breaker.triggered
    return (state.pause_reason or "").partition(": ")[2]


# Drafts and revisions


@pytest.mark.parametrize(("score", "is_done"), [(79.99, False), (80, True), (100, True)])
def test_a_chapter_is_completed_at_or_over_the_threshold(score: float, is_done: bool) -> None:
    """At the threshold is enough; below it the same chapter is revised."""
    state = told(begun(), score)
    assert state.completed_chapters == ((1,) if is_done else ())
    assert state.current_chapter == (2 if is_done else 1)
    assert state.retry_count == (0 if is_done else 1)


def test_a_completed_chapter_leaves_nothing_of_its_tries_to_the_next() -> None:
    """The next chapter begins with a first draft; the scores stay with their chapters."""
    state = told(begun(), 50, 90)
    assert (state.current_chapter, state.retry_count, state.scores) == (2, 0, ())
    assert state.quality_scores == {1: 90}
    assert state.last_quality_score == 90
    assert state.last_error is None


def test_one_draft_and_three_revisions_then_the_chapter_has_failed() -> None:
    """Four writes of a chapter, and the next one begins."""
    state = told(begun(), 50, 60, 55)
    assert (state.current_chapter, state.retry_count, state.iteration) == (1, 3, 4)
    state = told(state, 58)
    assert state.failed_chapters == (1,)
    assert (state.current_chapter, state.retry_count, state.iteration) == (2, 0, 5)
    assert state.ralph_active


def test_a_writer_that_fails_uses_up_a_try_and_has_no_score() -> None:
    """Four writes that came to nothing are a failed chapter, too."""
    state = begun()
    for number in range(4):
        state = write_failed(state, f"exit {number}")
    assert state.failed_chapters == (1,)
    assert state.quality_scores == {}
    assert state.last_error == "exit 3"
    assert state.tries == {1: 4}


def test_the_last_error_holds_the_score_and_all_reasons() -> None:
    """What a person and the next draft need to know."""
    state = judged(begun(), Verdict(61.5, ("too short", "no dog")))
    assert state.last_error == "61.5/80: too short; no dog"


def test_a_judge_that_gives_no_reason_still_gives_a_cause() -> None:
    """The breaker can count it."""
    state = judged(begun(), Verdict(10))
    assert state.circuit_breaker.failure_reasons == ("score below 80",)


def test_after_the_last_chapter_the_book_is_complete() -> None:
    """Nothing can be resumed, nothing is active."""
    state = told(begun(2), 90, 90)
    assert state.is_over
    assert (state.ralph_active, state.can_resume, state.pause_reason) == (False, False, None)


def test_a_book_with_failed_chapters_is_not_complete() -> None:
    """It can be resumed, and says which ones are missing."""
    state = told(begun(2), 50, 60, 55, 58, 90)
    assert state.is_over
    assert (state.ralph_active, state.can_resume) == (False, True)
    assert state.pause_reason == "failed_chapters: 1"


def test_all_failed_chapters_are_tried_again_when_nothing_else_is_left() -> None:
    """One going-on is for all of them, one after the other."""
    over = replace(begun(3), completed_chapters=(2,), failed_chapters=(1, 3), ralph_active=False)
    state = continued(over)
    assert (state.current_chapter, state.ralph_active, state.retry_count) == (1, True, 0)
    state = told(state, 90)
    assert state.current_chapter == 3
    assert state.ralph_active
    assert told(state, 90).completed_chapters == (1, 2, 3)


def test_failed_chapters_wait_while_others_are_open() -> None:
    """Going on does not go back."""
    state = continued(replace(begun(3), failed_chapters=(1,), current_chapter=2))
    assert (state.current_chapter, state.failed_chapters) == (2, (1,))


def test_a_gap_before_the_current_chapter_is_filled_at_the_end() -> None:
    """Chapters behind come first, then those that were left out."""
    state = told(replace(begun(3), current_chapter=2), 90)
    assert state.current_chapter == 3
    assert told(state, 90).current_chapter == 1


# The circuit breaker


def test_the_same_main_reason_three_times_trips_the_breaker() -> None:
    """Whatever the case and the blanks, and whatever else was said."""
    state = judged(begun(), Verdict(50, ("Too  short", "a")))
    state = judged(state, Verdict(60, ("too short ", "b")))
    assert state.ralph_active
    state = judged(state, Verdict(55, ("TOO SHORT", "c")))
    assert cause_of(state) == Cause.SAME_REASON
    assert (state.ralph_active, state.can_resume, state.current_chapter) == (False, True, 1)
    assert state.circuit_breaker.failure_count == 3


def test_reasons_are_counted_over_chapters() -> None:
    """A chapter that was completed in between does not clear them."""
    state = told(begun(), 50, 90, 50, 90, reason="too short")
    assert state.current_chapter == 3
    state = told(state, 50, reason="too short")
    assert cause_of(state) == Cause.SAME_REASON
    assert state.current_chapter == 3


def test_only_the_main_reason_counts() -> None:
    """What is named second was not what it failed for."""
    state = begun()
    for number, score in enumerate((50, 60, 55)):
        state = judged(state, Verdict(score, (f"reason {number}", "too short")))
    assert state.ralph_active


def test_a_reason_beside_an_accepted_chapter_does_not_count() -> None:
    """At or over the threshold nothing failed."""
    state = told(begun(4), 90, 90, 90, reason="too short")
    assert state.circuit_breaker == Breaker()


def test_three_falling_scores_trip_the_breaker() -> None:
    """Three judgements of one chapter, each lower than the one before."""
    state = told(begun(), 70, 60)
    assert state.ralph_active
    assert cause_of(told(state, 50)) == Cause.FALLING_SCORES


@pytest.mark.parametrize("scores", [(70, 60, 60), (60, 70, 50), (60, 60, 50), (50, 60, 70)])
def test_scores_that_do_not_fall_each_time_trip_nothing(scores: tuple[float, ...]) -> None:
    """Equal is not falling."""
    assert told(begun(), *scores).ralph_active


def test_falling_scores_of_two_chapters_are_no_fall() -> None:
    """The scores of a chapter that failed are not those of the next."""
    state = told(begun(), 50, 60, 70, 65)
    assert state.current_chapter == 2
    assert told(state, 60, 55).ralph_active


def test_more_than_five_tries_of_a_chapter_trip_the_breaker() -> None:
    """They are counted over runs: the fifth is allowed, the sixth is not."""
    state = told(begun(1), 50, 60, 55, 58)
    assert pause_of(state) is Pause.FAILED
    state = told(continued(state), 50)
    assert state.ralph_active
    assert cause_of(told(state, 60)) == Cause.TOO_MANY_TRIES


def test_a_tripped_breaker_that_goes_on_gives_one_more_try() -> None:
    """The same fault trips it again; the chapter stays where it is."""
    state = told(begun(), 50, 60, 55, reason="too short")
    again = continued(state)
    assert (again.ralph_active, again.pause_reason, again.iteration) == (True, None, 4)
    assert again.circuit_breaker == state.circuit_breaker
    assert cause_of(told(again, 58, reason="too short")) == Cause.SAME_REASON


def test_a_chapter_that_is_accepted_after_a_trip_closes_the_breaker() -> None:
    """The reasons that were counted stay."""
    state = told(continued(told(begun(), 50, 60, 55, reason="too short")), 90)
    assert not state.circuit_breaker.triggered
    assert state.circuit_breaker.failure_count == 3
    assert state.completed_chapters == (1,)


def test_the_breaker_keeps_a_bounded_list_of_reasons() -> None:
    """The newest ones; the count goes on."""
    breaker = Breaker()
    for number in range(REASONS_KEPT + 5):
        breaker = breaker.failed(str(number))
    assert len(breaker.failure_reasons) == REASONS_KEPT
    assert breaker.failure_reasons[-1] == str(REASONS_KEPT + 4)
    assert breaker.failure_count == REASONS_KEPT + 5


# What a person decides about a tripped breaker


def tripped() -> BookState:
    return told(begun(), 50, 60, 55, reason="too short")


def test_a_skipped_chapter_counts_as_failed_and_the_next_begins() -> None:
    """The breaker is closed; its reasons stay counted."""
    state = skipped(tripped())
    assert (state.failed_chapters, state.current_chapter) == ((1,), 2)
    assert (state.ralph_active, state.pause_reason) == (True, None)
    assert state.circuit_breaker == replace(tripped().circuit_breaker, triggered=False)


def test_a_new_plan_begins_the_chapter_and_the_counts_afresh() -> None:
    """What other tools keep in the breaker stays."""
    stopped = tripped()
    breaker = replace(stopped.circuit_breaker, more={"cooldown": 5})
    state = replanned(replace(stopped, circuit_breaker=breaker, tries={1: 3, 2: 1}))
    assert state.circuit_breaker == Breaker(more={"cooldown": 5})
    assert state.tries == {2: 1}
    assert (state.current_chapter, state.retry_count, state.scores) == (1, 0, ())
    assert state.iteration == stopped.iteration + 1


def test_a_chapter_mended_by_hand_is_judged_as_it_is() -> None:
    """That is no write: no iteration is used, and the same fault trips the breaker again."""
    state = edited(tripped())
    assert state.is_written
    assert state.ralph_active
    assert state.iteration == tripped().iteration
    assert told(state, 90).completed_chapters == (1,)
    assert cause_of(told(state, 58, reason="too short")) == Cause.SAME_REASON


# Pauses


def test_a_judge_that_fails_is_not_the_writers_fault() -> None:
    """No try is used up; when it goes on, the same text is judged again."""
    before = begun()
    state = judge_failed(before, "it printed nothing")
    assert pause_of(state) is Pause.JUDGE
    assert state.pause_reason == "judge_failed: it printed nothing"
    assert (state.tries, state.retry_count, state.circuit_breaker) == ({}, 0, Breaker())
    again = continued(state)
    assert again.is_written
    assert again.step > before.step
    assert again.iteration == before.iteration
    assert told(again, 90).completed_chapters == (1,)


def test_all_iterations_used_up_is_a_pause_and_never_the_end() -> None:
    """The chapter stays open, the state can be resumed."""
    state = told(begun(max_iterations=2), 90, 90)
    assert pause_of(state) is Pause.ITERATIONS
    assert (state.ralph_active, state.can_resume, state.is_over) == (False, True, False)
    assert (state.current_chapter, state.iteration, state.completed_at) == (3, 2, None)


def test_going_on_with_no_iterations_left_pauses_again() -> None:
    """The bound is for the whole book."""
    full = told(begun(max_iterations=2), 90, 90)
    state = continued(full)
    assert pause_of(state) is Pause.ITERATIONS
    assert not state.ralph_active
    assert state.iteration == 2


def test_more_iterations_let_it_go_on() -> None:
    """With exactly as many writes as were added."""
    state = continued(replace(told(begun(max_iterations=2), 90, 90), max_iterations=3))
    assert (state.ralph_active, state.iteration, state.current_chapter) == (True, 3, 3)


def test_a_pause_is_known_again_by_its_first_word() -> None:
    """What stands behind it is for people; what other tools write there is none of ours."""
    state = begun()
    assert pause_of(state) is None
    assert pause_of(paused(state, Pause.LIMIT, "weekly: until Monday")) is Pause.LIMIT
    assert pause_of(replace(state, pause_reason="lunch")) is None
    assert pause_of(replace(state, pause_reason="limited")) is None


# One chapter alone


def test_a_single_chapter_ends_where_the_book_was() -> None:
    """The first chapter that is open waits; nothing else is written."""
    state = at_chapter(begun(4, mode="write"), 3)
    state = told(next_write(state), 90)
    assert state.completed_chapters == (3,)
    assert (state.current_chapter, state.ralph_active, state.can_resume) == (1, False, True)
    assert state.pause_reason is None
    again = continued(replace(state, mode="write-all"))
    assert again.iteration == state.iteration + 1


def test_a_completed_chapter_that_is_written_again_is_open_meanwhile() -> None:
    """And so is the book."""
    over = replace(told(begun(2), 90, 90), completed_at="2026-03-01T00:00:00Z")
    state = at_chapter(over, 1)
    assert (state.completed_chapters, state.completed_at, state.is_over) == ((2,), None, False)


# Acts and figures


@calm
@given(st.integers(1, 300), st.integers(1, 40))
def test_acts_are_as_long_as_each_other(chapters: int, acts: int) -> None:
    """In order, none longer than another by more than a chapter, the last chapter in the last."""
    found = [act_of(n, chapters, acts) for n in range(1, chapters + 1)]
    assert found == sorted(found)
    assert found[0] >= 1
    assert found[-1] == acts
    lengths = Counter(found).values()
    assert max(lengths) - min(lengths) <= 1


def test_the_act_follows_the_chapter() -> None:
    """Twelve chapters in three acts: the fifth begins the second act."""
    state = begun(12, total_acts=3)
    assert [at_chapter(state, n).current_act for n in (1, 4, 5, 8, 9, 12)] == [1, 1, 2, 2, 3, 3]


def test_the_mean_is_of_the_last_score_of_each_chapter() -> None:
    """None where nothing was judged yet."""
    assert begun().mean_score is None
    assert told(begun(), 50, 90, 80).mean_score == 85


@pytest.mark.parametrize(
    ("done", "total", "percent"), [(0, 0, 0), (0, 3, 0), (1, 3, 33), (2, 3, 67), (3, 3, 100)]
)
def test_the_part_that_is_done_is_told_in_per_cent(done: int, total: int, percent: int) -> None:
    """In whole numbers."""
    assert BookState("n", total, completed_chapters=tuple(range(1, done + 1))).percent == percent


def test_only_a_complete_book_is_done_to_100_per_cent() -> None:
    """However little is left."""
    assert BookState("n", 1000, completed_chapters=tuple(range(1, 1000))).percent == 99


# Whatever happens

verdicts = st.builds(
    Verdict,
    st.sampled_from([0, 40, 50, 60, 79, 80, 95]),
    st.lists(st.sampled_from(["short", "long", "dull", "odd"]), max_size=2).map(tuple),
)
happenings = st.lists(
    st.one_of(
        verdicts,
        st.sampled_from(["write_failed", "judge_failed", "go_on", "edit", "replan", "skip"]),
    ),
    max_size=40,
)


def after(state: BookState, happening: Verdict | str) -> BookState:
    """What can happen to a state: steps while it is active, a person's choice while it is not."""
    if state.ralph_active:
        match happening:
            case Verdict():
                return judged(state, happening)
            case "write_failed" if not state.is_written:
                return write_failed(state, "exit 1")
            case "judge_failed":
                return judge_failed(state, "no score")
        return state
    if not state.can_resume:
        return state
    if pause_of(state) is Pause.BREAKER and happening in ("edit", "replan", "skip"):
        return {"edit": edited, "replan": replanned, "skip": skipped}[str(happening)](state)
    return continued(state) if happening == "go_on" else state


@calm
@given(happenings, st.integers(1, 4), st.integers(1, 30))
def test_whatever_happens_the_state_makes_sense(
    happened: list[Verdict | str], chapters: int, most: int
) -> None:
    """No step's number comes twice, no chapter is completed and failed, no bound is passed."""
    state = begun(chapters, max_iterations=most)
    settled = [0]  # the numbers of the steps that came out, one way or the other
    for happening in happened:
        before, state = state, after(state, happening)
        if before.ralph_active and state is not before:
            assert before.step > settled[-1]
            settled.append(before.step)
        assert state.step >= before.step
        assert not {*state.completed_chapters} & {*state.failed_chapters}
        assert 1 <= state.current_chapter <= chapters
        assert state.iteration <= most
        assert state.retry_count <= book.REVISIONS_MAX
        assert state.ralph_active <= (state.current_chapter in state.open_chapters)
        assert state.ralph_active or state.pause_reason or not state.can_resume
        is_complete = set(state.completed_chapters) == set(range(1, chapters + 1))
        assert is_complete == (not state.ralph_active and not state.can_resume)
        if state.ralph_active:
            assert pause_of(state) is None


@calm
@given(happenings)
def test_a_completed_chapter_is_never_written_again_by_itself(
    happened: list[Verdict | str],
) -> None:
    """What was accepted stays accepted, whatever happens to the others."""
    state = begun(3)
    for happening in happened:
        before, state = state, after(state, happening)
        assert set(before.completed_chapters) <= set(state.completed_chapters)
