"""How an attempt came out: which word counts more."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from kit.plain_agent import COMMAND, NOON, SHELL, STRUCTURED, PlainAgent, attempt_of
from segue.dialects.events import (
    Asked,
    DependencyAsked,
    ErrorReported,
    Finished,
    LimitHit,
    PhaseDone,
    TaskDone,
    ToolUsed,
)
from segue.dialects.events import ConversationLost as Lost
from segue.engine.attempt import Attempt, Dropped, ParkedByHand, TooSilent
from segue.engine.executors import Ended
from segue.engine.outcome import (
    KEEPER_DEATHS_MAX,
    Circumstances,
    Claimed,
    Completed,
    ConversationBusy,
    ConversationLost,
    CutOff,
    Failed,
    Limited,
    NeedsPerson,
    Outcome,
    Silenced,
    TimedOut,
    outcome,
    passed_over,
)
from segue.store.conversations import ConversationHolder

LIMIT = LimitHit("session_limit", wait_s=60)
WORDS = LimitHit("rate_limit", text="in its last words")
PAUSE = ErrorReported("recoverable", "busy", "pause_and_retry")
FATAL = ErrorReported("fatal", "no disk", "checkpoint_and_fail")
WELL, BADLY = Finished(False, "done"), Finished(True, "it broke")
HOLDER = ConversationHolder("run-2", "claim", "PLAN.md", "T-2")


@dataclass
class Reader:
    """Takes limits as they were heard; `words`: what the last words tell."""

    words: LimitHit | None = None
    asked: list[Ended] = field(default_factory=list)

    def hit(self, attempt: Attempt) -> LimitHit | None:
        return attempt.limit

    def last_words(self, attempt: Attempt, ended: Ended) -> LimitHit | None:
        self.asked.append(ended)
        return self.words


def made(agent: PlainAgent = STRUCTURED, *heard: Any, reports: Any = (), **more: Any) -> Attempt:
    attempt = attempt_of(agent, **more)
    for event in heard:
        attempt.hear(event, NOON)
    for report in reports:
        attempt.report(report, NOON)
    return attempt


def judged(
    attempt: Attempt, code: int | None = 0, words: LimitHit | None = None, **more: Any
) -> Outcome:
    """`more`: of the end, else of the circumstances."""
    ends = {name: more.pop(name) for name in list(more) if name in Ended.__slots__}
    return outcome(attempt, Ended("run-1", code, **ends), Circumstances(**more), Reader(words))


# --- what the agent reported --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reports", "how"),
    [
        ([PhaseDone(1)], Claimed(PhaseDone(1))),
        ([TaskDone()], Claimed(TaskDone())),
        ([FATAL, PhaseDone(1)], Failed("no disk", is_reported=True)),
        ([Asked("Which?"), PhaseDone(1)], Claimed(PhaseDone(1))),
        (
            [Asked("Which?"), DependencyAsked("file", "a")],
            NeedsPerson((DependencyAsked("file", "a"), Asked("Which?"))),
        ),
        ([PAUSE, PhaseDone(1)], Limited(LimitHit("unknown", text="busy"))),
    ],
)
def test_what_counts_most_in_its_reports(reports: list[Any], how: Outcome) -> None:
    """Errors, completions, dependencies, questions; what else it said has no room."""
    assert judged(made(COMMAND, reports=reports)) == how


@pytest.mark.parametrize("code", [0, 1, None])
def test_what_the_agent_reported_counts_more_than_a_limit(code: int | None) -> None:
    """And more than how its process ended."""
    attempt = made(STRUCTURED, BADLY, LIMIT, reports=[PhaseDone(1)])
    assert judged(attempt, code, is_ours=True, timed_out=True) == Claimed(PhaseDone(1))


def test_a_reported_pause_is_not_undone_by_a_good_end() -> None:
    """The agent ended because of it."""
    assert judged(made(COMMAND, WELL, reports=[PAUSE])) == Limited(LimitHit("unknown", text="busy"))


def test_reports_that_leave_no_room() -> None:
    """Questions follow one after the other, up to a bound; beside a claim nothing else counts."""
    asked = made(COMMAND, reports=[Asked("a"), Asked("b"), Asked("c")])
    assert passed_over(asked, 2) == [Asked("c")]
    claimed = made(COMMAND, reports=[Asked("a"), PhaseDone(1)])
    assert passed_over(claimed, 2) == [Asked("a")]
    assert passed_over(made(), 2) == []


# --- the last word, the exit code, the limit ----------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "heard", "code", "how"),
    [
        (STRUCTURED, [WELL], 1, Completed()),
        (STRUCTURED, [BADLY], 0, Failed("it broke")),
        (STRUCTURED, [], 0, Failed("it ended without a final message")),
        (STRUCTURED, [], 3, Failed("exit code 3")),
        (STRUCTURED, [Finished(True)], 1, Failed("it ended with an error")),
        (COMMAND, [], 0, Completed()),
        (COMMAND, [], 3, Failed("exit code 3")),
        (SHELL, [], 0, Completed()),
    ],
)
def test_the_last_word_counts_more_than_the_exit_code(
    agent: PlainAgent, heard: list[Any], code: int, how: Outcome
) -> None:
    """Where there is a last word: an exit code of 0 can be a cut-off turn."""
    assert judged(made(agent, *heard), code) == how


@pytest.mark.parametrize(
    ("heard", "how"),
    [
        ([LIMIT, BADLY], Limited(LIMIT)),
        ([LIMIT, WELL], Completed()),
        ([LIMIT, ToolUsed("Bash"), BADLY], Failed("it broke")),
        ([LIMIT, ToolUsed("Bash"), LIMIT, BADLY], Limited(LIMIT)),
    ],
)
def test_a_limit_counts_unless_the_agent_got_over_it(heard: list[Any], how: Outcome) -> None:
    """By ending well, or by working: an error that comes then is a failure, no park."""
    assert judged(made(STRUCTURED, *heard), 1) == how


def test_a_limit_in_the_last_words_counts_at_last() -> None:
    """Where nothing else says why it ended badly."""
    assert judged(made(COMMAND), 1, WORDS) == Limited(WORDS)
    assert judged(made(COMMAND), 0, WORDS) == Completed()
    assert judged(made(COMMAND, LIMIT), 1, WORDS) == Limited(LIMIT)


# --- its conversation ---------------------------------------------------------------------------


def test_a_lost_conversation() -> None:
    """That of the user's own command is an error like any other."""
    attempt = made(STRUCTURED, Lost("no such id"), BADLY)
    assert judged(attempt, 1, is_continued=True) == ConversationLost("no such id")
    assert judged(attempt, 1) == Failed("it broke")


def test_a_conversation_that_is_in_use() -> None:
    """However it was ended for that."""
    assert judged(made(busy=HOLDER), None, is_ours=True) == ConversationBusy(HOLDER)


# --- ended by somebody else ---------------------------------------------------------------------


def test_a_person_took_the_task() -> None:
    """Whatever the agent says."""
    attempt = made(STRUCTURED, WELL, reports=[PhaseDone(1)], ended_for=Dropped())
    assert judged(attempt) == Dropped()


def test_a_person_parked_it() -> None:
    """Also when it got to end well before it was ended."""
    by_hand = LimitHit("manual")
    assert judged(made(STRUCTURED, WELL, ended_for=ParkedByHand(by_hand))) == Limited(by_hand)


def test_it_was_silent_for_too_long() -> None:
    """The bound is in the reason."""
    how = judged(made(ended_for=TooSilent(1200.0)), 143, is_ours=True)
    assert how == Silenced("it printed nothing for too long (20m)")


def test_it_had_no_more_time() -> None:
    """A limit before that does not matter."""
    how = judged(made(STRUCTURED, LIMIT), None, timed_out=True, timeout_s=60.0)
    assert how == TimedOut("timed out after 1m")


@pytest.mark.parametrize(
    "end",
    [
        {"code": None, "signal": 15, "is_ours": True},
        {"code": 1, "is_ours": True},
        {"code": 143},
        {"code": None, "signal": 1},
    ],
    ids=str,
)
def test_an_agent_that_was_ended_while_no_segue_lived_was_cut_off(end: dict[str, Any]) -> None:
    """As when a machine goes down; seen by Segue, the same end is the agent's own."""
    assert judged(made(), is_unseen=True, **end) == CutOff()
    assert isinstance(judged(made(), **end), Failed)


@pytest.mark.parametrize("heard", [[LIMIT, BADLY], [WELL]])
def test_what_it_had_come_to_counts_though_it_was_killed(heard: list[Any]) -> None:
    """It had told why it stands still, or that it was done."""
    how = judged(made(STRUCTURED, *heard), None, signal=9, is_unseen=True)
    assert how != CutOff()


@pytest.mark.parametrize("deaths", [1, KEEPER_DEATHS_MAX, KEEPER_DEATHS_MAX + 1])
def test_the_death_of_a_keeper_is_no_failure_a_few_times(deaths: int) -> None:
    """Then the task may be the reason."""
    ended: dict[str, Any] = {"keeper_died": True, "error": "killed", "keeper_deaths": deaths}
    how = judged(made(), None, **ended)
    assert how == (CutOff() if deaths <= KEEPER_DEATHS_MAX else Failed("killed"))


def test_segue_stops() -> None:
    """An agent that Segue ended for that was cut off; one that was done, is done."""
    assert judged(made(), 143, is_ours=True, is_stopping=True) == CutOff()
    assert judged(made(STRUCTURED, WELL), 143, is_ours=True, is_stopping=True) == Completed()
    assert judged(made(), 1, is_stopping=True) == Failed("exit code 1")


def test_an_agent_whose_output_was_lost() -> None:
    """Only a command's exit code says anything."""
    assert judged(made(COMMAND), is_unheard=True) == CutOff()
    assert judged(made(SHELL), is_unheard=True) == Completed()
