"""Agents that say nothing: when that matters, and what follows."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kit.plain_agent import NOON, PlainAgent
from segue.dialects.events import Finished, Said
from segue.engine.attempt import Attempt, Dropped, TooSilent
from segue.engine.silence import FINISHED_S, Silence, SilenceBounds

BOUNDS = SilenceBounds(after_s=600, max_s=3600)


def at(seconds: float) -> object:
    return NOON + timedelta(seconds=seconds)


def heard(agent: PlainAgent | None = None) -> Attempt:
    attempt = Attempt(profile=agent or PlainAgent())
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
    assert BOUNDS.due(Attempt(profile=PlainAgent())) is None
