"""One attempt: what it keeps of what was heard."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kit.plain_agent import COMMAND, NOON, attempt_of
from segue.dialects.events import (
    Asked,
    ConversationLost,
    DependencyAsked,
    ErrorReported,
    Event,
    Finished,
    LimitHit,
    PhaseDone,
    Said,
    StepDone,
    TodosListed,
    ToolUsed,
    Used,
)
from segue.engine.attempt import LIMITS_KEPT, Attempt, HeardLimit, share_of

FIGURES = LimitHit("session_limit", resets_at=NOON + timedelta(hours=1), text="figures")
VAGUE = LimitHit("session_limit", text="vague")
OTHER = LimitHit("rate_limit", text="another kind")
PAUSE = ErrorReported("recoverable", "busy", "pause_and_retry")
FATAL = ErrorReported("fatal", "no disk", "checkpoint_and_fail")


def attempt(*events: Event) -> Attempt:
    made = attempt_of(COMMAND)
    for event in events:
        made.hear(event, NOON)
    return made


# --- the limit ----------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [VAGUE, OTHER], ids=lambda limit: limit.text)
@pytest.mark.parametrize("is_first", [True, False])
def test_figures_are_kept_over_vague_words(words: LimitHit, is_first: bool) -> None:
    """Whichever came first, and whatever kind of limit the words are about."""
    heard = HeardLimit()
    for limit in (words, FIGURES) if is_first else (FIGURES, words):
        heard.hear(limit, NOON)
    assert heard.last == FIGURES
    assert len(heard.heard) == 1


def test_of_two_figures_the_last_ones_count() -> None:
    """The agent knows better what it hit last."""
    heard = HeardLimit()
    later = LimitHit("weekly_limit", wait_s=90_000)
    heard.hear(FIGURES, NOON)
    heard.hear(later, NOON)
    assert heard.last == later


def test_all_words_are_kept_until_they_are_read() -> None:
    """Only reading them shows which ones name a time; there is a bound on how many."""
    heard = HeardLimit()
    for number in range(3 * LIMITS_KEPT):
        heard.hear(LimitHit("rate_limit", text=str(number)), NOON)
    assert heard.heard[-1][0].text == str(3 * LIMITS_KEPT - 1)
    assert len(heard.heard) == LIMITS_KEPT + 1


@pytest.mark.parametrize(
    "work", [ToolUsed("Bash"), StepDone(1), TodosListed(())], ids=lambda e: type(e).__name__
)
def test_work_of_the_agent_clears_a_limit(work: Event) -> None:
    """It got over it by itself: what comes then is not that limit's doing."""
    assert attempt(FIGURES).limit == FIGURES
    assert attempt(FIGURES, work).limit is None
    assert attempt(FIGURES, work, VAGUE).limit == VAGUE, "figures of before do not count any more"


@pytest.mark.parametrize("event", [Said("…"), Used(1, 1), Finished(True)])
def test_mere_words_do_not_clear_a_limit(event: Event) -> None:
    """A refusal has words, too, and is counted by some programs."""
    assert attempt(VAGUE, event).limit == VAGUE


def test_a_limit_counts_from_when_it_was_said() -> None:
    """The owner may have been dead when the agent said it."""
    made = attempt()
    made.hear(VAGUE, NOON, NOON - timedelta(hours=6))
    assert made.limits.heard == [(VAGUE, NOON - timedelta(hours=6))]
    assert made.heard_at == NOON


# --- what was heard -----------------------------------------------------------------------------


def test_what_was_heard_is_kept() -> None:
    """Words, use, the end, and that a conversation is not known."""
    lost = ConversationLost("no such id")
    made = attempt(Said("one"), Used(1, 2), Used(3, 4), lost, Finished(False, "done"))
    assert list(made.lines) == ["one"]
    assert (made.used, made.lost, made.has_finished_well) == (Used(3, 4), lost, True)


def test_every_event_ends_a_silence() -> None:
    """Whatever it is."""
    made = attempt()
    made.is_silent = True
    made.hear(Used(), NOON)
    assert (made.is_silent, made.heard_at) == (False, NOON)


def test_a_report_counts_only_when_its_kind_of_work_says_so() -> None:
    """A task list has no phases: hearing of one changes nothing."""
    made = attempt(PhaseDone(1), FATAL, PAUSE)
    assert (made.reports, made.limit) == ([], None)


def test_reports_are_ranked_and_each_counts_once() -> None:
    """Errors, completions, dependencies, questions."""
    made, question, wanted = attempt(), Asked("Which?"), DependencyAsked("file", "a.csv")
    for report in (question, wanted, PhaseDone(1), wanted, FATAL):
        made.report(report, NOON)
    assert made.ranked() == [FATAL, PhaseDone(1), wanted, question]
    assert made.has_asked


def test_an_error_to_be_waited_out_is_a_limit_until_the_agent_works_again() -> None:
    """Its own words are all there is to read a time from."""
    made = attempt()
    made.report(PAUSE, NOON)
    assert made.limit == LimitHit("unknown", text="busy")
    assert made.limits.is_reported
    made.hear(ToolUsed("Bash"), NOON)
    assert (made.limit, made.reports, made.limits.is_reported) == (None, [], False)


def test_work_leaves_other_reports_alone() -> None:
    """A fatal error stays fatal."""
    made = attempt()
    made.report(FATAL, NOON)
    made.hear(ToolUsed("Bash"), NOON)
    assert made.reports == [FATAL]
    assert made.has_last_word


def test_what_was_acted_on_is_over() -> None:
    """An agent that lives on reports anew."""
    made = attempt()
    made.report(PAUSE, NOON)
    made.acted_on()
    assert (made.reports, made.limit) == ([], None)


@pytest.mark.parametrize(
    ("used", "before", "share"),
    [
        (Used(100, 20, 0.5), Used(60, 5), Used(40, 15, 0.5)),
        (Used(100, 20, 0.5), Used(60, 5, 0.2), Used(40, 15, 0.3)),
        (Used(10, None), Used(60, 5), Used(0, 0)),
    ],
)
def test_a_run_used_what_its_conversation_used_more(used: Used, before: Used, share: Used) -> None:
    """Never less than nothing: a compacted conversation may count anew."""
    assert share_of(used, before) == share


def test_why_it_ended_is_told_with_its_last_line() -> None:
    """Empty lines say nothing; where it said nothing, the reason stands alone."""
    attempt = attempt_of()
    assert attempt.in_short("exit code 3") == "exit code 3"
    attempt.lines.extend(["one", " two ", "  "])
    assert attempt.in_short("exit code 3") == "exit code 3: two"
