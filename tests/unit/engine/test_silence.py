"""Agents that say nothing: when that matters, and what follows."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kit.engine import HandEngine
from kit.plain_agent import NOON, PlainAgent, attempt_of
from segue.core.machines import RunState
from segue.dialects.events import Finished, Said
from segue.engine.attempt import Attempt, Dropped, TooSilent
from segue.engine.executors import Look
from segue.engine.silence import FINISHED_S, LongSilence, Silence, SilenceBounds, SilenceWatch

BOUNDS = SilenceBounds(after_s=600, max_s=3600)


def at(seconds: float) -> object:
    return NOON + timedelta(seconds=seconds)


def heard(agent: PlainAgent | None = None) -> Attempt:
    attempt = attempt_of(agent or PlainAgent())
    attempt.hear(Said("…"), NOON)
    return attempt


def test_people_learn_of_a_silence_before_it_is_ended() -> None:
    """At its instant, once; and past the bound the agent is ended for it, once."""
    attempt = heard()
    assert BOUNDS.due(attempt) == at(600)
    assert BOUNDS.look(attempt, NOON + timedelta(seconds=599)) is Silence.NOTHING
    assert BOUNDS.look(attempt, NOON + timedelta(seconds=600)) is Silence.TELL
    assert BOUNDS.look(attempt, NOON + timedelta(seconds=601)) is Silence.NOTHING
    assert BOUNDS.due(attempt) == at(3600)
    assert BOUNDS.look(attempt, NOON + timedelta(seconds=3600)) is Silence.END
    assert attempt.ended_for == TooSilent(3600)
    assert BOUNDS.due(attempt) is None


def test_without_a_bound_nothing_is_ended() -> None:
    """Nobody can know from outside what a silence is."""
    attempt, bounds = heard(), SilenceBounds(600)
    assert bounds.look(attempt, NOON + timedelta(seconds=600)) is Silence.TELL
    assert bounds.due(attempt) is None


@pytest.mark.parametrize(
    ("own", "first", "last"), [((None, None), 600, 3600), ((5, 20), 5, 20), ((900, 60), 60, 60)]
)
def test_an_agents_own_bounds_count_more(
    own: tuple[float | None, float | None], first: float, last: float
) -> None:
    """A bound below the first look is a bound."""
    attempt = heard(PlainAgent(silence_after_s=own[0], silence_max_s=own[1]))
    assert BOUNDS.due(attempt) == at(first)
    attempt.is_silent = True
    assert BOUNDS.due(attempt) == at(last)


def test_an_agent_that_has_said_its_last_word_must_end() -> None:
    """It is given half a minute, and is not ended for its silence."""
    attempt = heard()
    attempt.hear(Finished(False), NOON)
    assert BOUNDS.look(attempt, NOON + timedelta(seconds=FINISHED_S)) is Silence.END
    assert attempt.ended_for is None
    assert BOUNDS.due(attempt) is None


def test_nobody_listens_to_one_that_is_ended_anyway() -> None:
    """Nor to one that was not heard of yet."""
    attempt = heard()
    attempt.ended_for = Dropped()
    assert BOUNDS.due(attempt) is None
    assert BOUNDS.due(attempt_of()) is None


def watch(*attempts: Attempt, seen: Look | None = None) -> tuple[list[LongSilence], list[str]]:
    """What is told and who is ended at the bounds; `attempts` are all that could speak."""
    executor = HandEngine()
    executor.seen = seen
    told: list[LongSilence] = []
    ended: list[str] = []
    watch: SilenceWatch[Attempt] = SilenceWatch(
        BOUNDS,
        executor,
        lambda: attempts,
        lambda _attempt, silence: told.append(silence),
        lambda attempt: ended.append(attempt.run.id),
    )
    for seconds in (599, 600, 3600, 3601):
        watch.look(NOON + timedelta(seconds=seconds))
    return told, ended


def test_a_watch_tells_once_and_ends_once() -> None:
    """With what the processes of the agent do."""
    seen = Look(("sh",), 0, 1)
    assert watch(heard(), seen=seen) == ([LongSilence(600.0, seen)], ["run-1"])


def test_a_watch_passes_over_runs_that_are_not_at_work() -> None:
    """What has not begun, or has ended, cannot speak."""
    attempt = heard()
    attempt.run.state = RunState.VERIFYING
    assert watch(attempt) == ([], [])


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (None, "… T-1 has printed nothing for 10m; its process has exited"),
        (Look(("sh",), 1, 2), "… T-1 has printed nothing for 10m; running (sh), open connections: 2;"
         " stopped: 1"),
    ],
)  # fmt: skip
def test_a_silence_in_words(seen: Look | None, words: str) -> None:
    """The same for every kind of work."""
    assert LongSilence(600.0, seen).in_words("T-1") == words
