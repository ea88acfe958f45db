"""A book in the making: which chapter, which try, what the judge said, when to stop.

Every function takes a state and gives the next one; nothing is read or written here. One draft and
at most three revisions make four writes of a chapter; then it has failed and the next one begins.
The circuit breaker stops what goes wrong in the same way again and again, over chapters and runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any

REVISIONS_MAX = 3
SAME_REASON_MAX = 3
TRIES_MAX = 5
FALLING_MAX = 3
REASONS_KEPT = 200


class Pause(StrEnum):
    """Why a book is paused: how `pause_reason` begins."""

    BREAKER = "circuit_breaker"
    ITERATIONS = "max_iterations"
    FAILED = "failed_chapters"
    JUDGE = "judge_failed"
    LIMIT = "limit"
    QUESTION = "question"
    INTERRUPTED = "interrupted"


WAITS_FOR_PERSON = (Pause.BREAKER, Pause.ITERATIONS, Pause.JUDGE)


class Cause(StrEnum):
    """What trips the circuit breaker."""

    SAME_REASON = "same_reason"
    TOO_MANY_TRIES = "too_many_tries"
    FALLING_SCORES = "falling_scores"
    BY_HAND = "changed_by_hand"  # a completed text that a person changed, and a judge rejected


@dataclass(frozen=True, slots=True)
class Breaker:
    failure_count: int = 0
    failure_reasons: tuple[str, ...] = ()  # the main one of each failure
    triggered: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)  # what other tools keep there

    def failed(self, reason: str) -> Breaker:
        reasons = (*self.failure_reasons, reason)[-REASONS_KEPT:]
        return replace(self, failure_count=self.failure_count + 1, failure_reasons=reasons)

    def times(self, reason: str) -> int:
        return sum(1 for known in self.failure_reasons if _same(known) == _same(reason))


@dataclass(frozen=True, slots=True)
class BookState:
    """All that `meta/ralph-state.json` says. `more`: what other tools keep there."""

    project_id: str
    total_chapters: int
    total_acts: int = 1
    quality_threshold: float = 80
    max_iterations: int = 100
    mode: str | None = None
    ralph_active: bool = False
    can_resume: bool = False
    started_at: str | None = None
    last_checkpoint: str | None = None
    last_updated: str | None = None
    completed_at: str | None = None
    current_act: int = 1
    current_chapter: int = 1
    completed_chapters: tuple[int, ...] = ()
    failed_chapters: tuple[int, ...] = ()
    quality_scores: Mapping[int, float] = field(default_factory=dict)
    last_quality_score: float | None = None
    retry_count: int = 0
    iteration: int = 0
    last_error: str | None = None
    pause_reason: str | None = None
    circuit_breaker: Breaker = field(default_factory=Breaker)
    schema_version: int | str = 1
    step: int = 0  # of all drafts, revisions and judgements: never the same number twice
    tries: Mapping[int, int] = field(default_factory=dict)  # of each chapter, over all runs
    scores: tuple[float, ...] = ()  # of the current chapter, one for each judgement
    is_written: bool = False  # the text is there and is only to be judged
    is_due: bool = False  # the next write has not been counted: it waits for a person
    texts: Mapping[int, str] = field(default_factory=dict)  # what was accepted, by its hash
    by_hand: tuple[int, ...] = ()  # a person changed them: judged again, not written unasked
    is_ours: bool = field(default=False, compare=False)  # Segue wrote it, with its own fields
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def open_chapters(self) -> list[int]:
        done = {*self.completed_chapters, *self.failed_chapters}
        return [n for n in range(1, self.total_chapters + 1) if n not in done]

    @property
    def is_begun(self) -> bool:
        """Whether there is a book in this state; what a reset wrote is none."""
        return self.ralph_active or self.can_resume or self.completed_at is not None

    @property
    def is_over(self) -> bool:
        return not self.open_chapters

    @property
    def percent(self) -> int:
        """100 only when nothing is left."""
        done, total = len(self.completed_chapters), self.total_chapters
        if done >= total:
            return 100 if total else 0
        return min(99, round(100 * done / total))

    @property
    def mean_score(self) -> float | None:
        scores = self.quality_scores.values()
        return sum(scores) / len(scores) if scores else None


@dataclass(frozen=True, slots=True)
class Verdict:
    score: float
    reasons: tuple[str, ...] = ()
    text: str = ""  # the hash of what was judged

    @property
    def main_reason(self) -> str:
        return self.reasons[0] if self.reasons else ""


def act_of(chapter: int, total_chapters: int, acts: int) -> int:
    """Acts of equal length, give or take a chapter."""
    return min(acts, math.ceil(chapter * acts / total_chapters)) if total_chapters else 1


def is_chapter_of_one(state: BookState) -> bool:
    """Whether only one chapter is to be written."""
    return state.mode == "write"


# The way on


def at_chapter(state: BookState, chapter: int) -> BookState:
    """The state in which a chapter is begun with its first draft; a person's text is judged."""
    return replace(
        state,
        current_chapter=chapter,
        current_act=act_of(chapter, state.total_chapters, state.total_acts),
        retry_count=0,
        scores=(),
        is_written=chapter in state.by_hand,
        completed_chapters=_without(state.completed_chapters, chapter),
        failed_chapters=_without(state.failed_chapters, chapter),
        completed_at=None,
    )


def rewritten(state: BookState, chapter: int) -> BookState:
    """The state in which a chapter starts with its first draft, whatever text exists."""
    return at_chapter(replace(state, by_hand=_without(state.by_hand, chapter)), chapter)


def next_write(state: BookState) -> BookState:
    """One more write, unless there were as many as may be: then a pause, never an end."""
    state = replace(state, step=state.step + 1, is_due=False)
    if state.is_written:
        return state
    if state.iteration >= state.max_iterations:
        return paused(replace(state, is_due=True), Pause.ITERATIONS)
    return replace(state, iteration=state.iteration + 1)


def paused(state: BookState, why: Pause, detail: str = "") -> BookState:
    reason = f"{why}: {detail}" if detail else str(why)
    return replace(state, ralph_active=False, can_resume=True, pause_reason=reason)


def continued(state: BookState) -> BookState:
    """A person continues it: the breaker and the count of iterations stay as they are, and
    chapters that failed are tried again when nothing else is left."""
    state = replace(state, ralph_active=True, can_resume=True, pause_reason=None)
    if state.is_over and state.failed_chapters:
        first = state.failed_chapters[0]
        return next_write(at_chapter(replace(state, failed_chapters=()), first))
    return next_write(state) if state.is_due else state


def pause_of(state: BookState) -> Pause | None:
    """The kind of its pause."""
    name = (state.pause_reason or "").partition(":")[0]
    return next((pause for pause in Pause if pause == name), None)


# What counts


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is there now: the hash of each chapter's text; and what is remembered of judgements:
    the texts of each chapter that were accepted, with their scores."""

    texts: Mapping[int, str]
    accepted: Mapping[int, Mapping[str, float]] = field(default_factory=dict)


def proven(state: BookState, there: Evidence, *, remembers: bool = False) -> BookState:
    """The state with only those chapters completed whose text is there as it was accepted. One that
    has no text is open again; one whose text is another is to be judged again. `remembers`: a state
    that was set back takes up what was accepted since, where it is there unchanged."""
    completed, by_hand = set[int](), {n for n in state.by_hand if n in there.texts}
    scores = dict(state.quality_scores)
    open_before = state.open_chapters
    for n in (*state.completed_chapters, *state.by_hand, *(open_before if remembers else ())):
        text = there.texts.get(n)
        accepted = there.accepted.get(n)
        if text is None:
            continue
        if accepted is not None and text in accepted:
            completed.add(n)
            scores[n] = accepted[text]
        elif n not in state.completed_chapters:
            continue
        elif text == state.texts.get(n) or (n not in state.texts and accepted is None):
            completed.add(n)
        else:
            by_hand.add(n)
    texts = {n: there.texts[n] for n in sorted(completed)}
    state = replace(
        state,
        completed_chapters=tuple(sorted(completed)),
        quality_scores=scores,
        texts=texts,
        by_hand=tuple(sorted(by_hand - completed)),
    )
    if set(state.open_chapters) - set(open_before):
        state = replace(state, completed_at=None, can_resume=True)
    return state


# What comes of a write


def judged(state: BookState, verdict: Verdict) -> BookState:
    """A chapter was judged: completed, to be revised, failed; or all stops."""
    chapter = state.current_chapter
    state = replace(
        state,
        last_quality_score=verdict.score,
        quality_scores={**state.quality_scores, chapter: verdict.score},
        scores=(*state.scores, verdict.score),
        tries=_one_more(state.tries, chapter),
        is_written=False,
    )
    if verdict.score >= state.quality_threshold:
        return _accepted(state, verdict.text)
    reason = verdict.main_reason or f"score below {state.quality_threshold:g}"
    error = "; ".join(verdict.reasons) or reason
    return _rejected(state, reason, f"{verdict.score:g}/{state.quality_threshold:g}: {error}")


def write_failed(state: BookState, error: str) -> BookState:
    """The writer itself failed: a try without a score."""
    tries = _one_more(state.tries, state.current_chapter)
    return _rejected(replace(state, tries=tries), error, error)


def judge_failed(state: BookState, error: str) -> BookState:
    """The judge failed, not the writer: the text stays and is judged again at the next start."""
    state = replace(state, step=state.step + 1, is_written=True, last_error=error)
    return paused(state, Pause.JUDGE, error)


def skipped(state: BookState) -> BookState:
    """A person passes the chapter over; a placeholder stands in its place."""
    breaker = replace(state.circuit_breaker, triggered=False)
    by_hand = _without(state.by_hand, state.current_chapter)
    state = replace(state, circuit_breaker=breaker, by_hand=by_hand)
    return _failed(replace(state, ralph_active=True, pause_reason=None))


def unskipped(state: BookState, chapter: int) -> BookState:
    """A person wants a chapter after all that was passed over or failed. Where nothing else is left
    to write, the book is at it now; otherwise its turn comes when the others are settled."""
    was_over = state.is_over
    tries = {n: count for n, count in state.tries.items() if n != chapter}
    failed = _without(state.failed_chapters, chapter)
    state = replace(state, failed_chapters=failed, tries=tries, completed_at=None)
    if not was_over:
        return state
    state = _waiting(at_chapter(state, chapter))
    return replace(state, ralph_active=False, can_resume=True, pause_reason=None)


def replanned(state: BookState) -> BookState:
    """A person changed the plan: the chapter begins afresh, and so does the count of faults."""
    breaker = Breaker(more=state.circuit_breaker.more)
    state = replace(state, circuit_breaker=breaker, ralph_active=True, pause_reason=None)
    tries = {n: count for n, count in state.tries.items() if n != state.current_chapter}
    return next_write(rewritten(replace(state, tries=tries), state.current_chapter))


def edited(state: BookState) -> BookState:
    """A person wrote the chapter by hand: it is judged as it is."""
    return next_write(replace(state, is_written=True, ralph_active=True, pause_reason=None))


def _accepted(state: BookState, text: str) -> BookState:
    chapter = state.current_chapter
    state = replace(
        state,
        completed_chapters=tuple(sorted({*state.completed_chapters, chapter})),
        circuit_breaker=replace(state.circuit_breaker, triggered=False),
        last_error=None,
        texts={**state.texts, chapter: text} if text else state.texts,
        by_hand=_without(state.by_hand, chapter),
    )
    return _next_chapter(state)


def _rejected(state: BookState, reason: str, error: str) -> BookState:
    if state.current_chapter in state.by_hand:
        state = replace(_waiting(state), is_written=True, last_error=error)
        return paused(state, Pause.BREAKER, Cause.BY_HAND)
    breaker = state.circuit_breaker.failed(reason)
    state = replace(state, circuit_breaker=breaker, last_error=error)
    cause = tripping(state, reason)
    if cause is not None:
        state = replace(state, circuit_breaker=replace(breaker, triggered=True))
        state = replace(state, retry_count=min(REVISIONS_MAX, state.retry_count + 1))
        return paused(_waiting(state), Pause.BREAKER, cause)
    if state.retry_count < REVISIONS_MAX:
        return next_write(replace(state, retry_count=state.retry_count + 1))
    return _failed(state)


def without_evidence(state: BookState, *, is_there: bool) -> BookState:
    """What is remembered of this step does not count: a text that is there is judged again, one
    that is not is written again."""
    if is_there:
        return next_write(replace(state, is_written=True))
    return next_write(rewritten(state, state.current_chapter))


def reopened(state: BookState) -> BookState:
    """All was settled, and is not any more: on with the first chapter that is open."""
    state = at_chapter(replace(state, can_resume=True), state.open_chapters[0])
    if is_chapter_of_one(state):
        return replace(_waiting(state), ralph_active=False, pause_reason=None)
    return next_write(replace(state, ralph_active=True, pause_reason=None))


def tripping(state: BookState, reason: str) -> Cause | None:
    """Which rule of the breaker the last failure broke."""
    if state.circuit_breaker.times(reason) >= SAME_REASON_MAX:
        return Cause.SAME_REASON
    if state.tries.get(state.current_chapter, 0) > TRIES_MAX:
        return Cause.TOO_MANY_TRIES
    last = state.scores[-FALLING_MAX:]
    is_falling = all(after < before for before, after in pairwise(last))
    return Cause.FALLING_SCORES if len(last) == FALLING_MAX and is_falling else None


def _failed(state: BookState) -> BookState:
    failed = tuple(sorted({*state.failed_chapters, state.current_chapter}))
    return _next_chapter(replace(state, failed_chapters=failed))


def _next_chapter(state: BookState) -> BookState:
    after = [n for n in state.open_chapters if n > state.current_chapter]
    if is_chapter_of_one(state):
        after = []  # back to where the book was
    following = next(iter(after or state.open_chapters), None)
    if following is None:
        return at_the_end(state)
    state = at_chapter(state, following)
    if is_chapter_of_one(state):
        return replace(_waiting(state), ralph_active=False, pause_reason=None)
    return next_write(state)


def _waiting(state: BookState) -> BookState:
    """The next write waits for a person."""
    return replace(state, step=state.step + 1, is_due=True)


def at_the_end(state: BookState) -> BookState:
    """Every chapter is settled; the caller, who has the clock, sets `completed_at`."""
    state = replace(state, step=state.step + 1, ralph_active=False, retry_count=0, scores=())
    if state.failed_chapters:
        return paused(state, Pause.FAILED, ", ".join(map(str, state.failed_chapters)))
    return replace(state, can_resume=False, pause_reason=None)


def _one_more(counts: Mapping[int, int], chapter: int) -> dict[int, int]:
    return {**counts, chapter: counts.get(chapter, 0) + 1}


def _without(chapters: tuple[int, ...], chapter: int) -> tuple[int, ...]:
    return tuple(n for n in chapters if n != chapter)


def _same(reason: str) -> str:
    """Reasons are the same whatever their case and blanks."""
    return " ".join(reason.casefold().split())
