"""Limits told in words: which of them counts, and by whose patterns they are read."""

from __future__ import annotations

from datetime import UTC, timedelta
from pathlib import Path

import pytest

from kit.plain_agent import COMMAND, NOON, STRUCTURED, PlainAgent, attempt_of
from segue.dialects.events import Event, Finished, LimitHit
from segue.dialects.limits import Extra, extra_patterns
from segue.engine.attempt import Attempt
from segue.engine.executors import Ended
from segue.engine.limit_reader import WordReader
from segue.engine.run_files import RunFiles

IN_AN_HOUR = LimitHit("rate_limit", text="Rate limit reached. Please try again in 1h.")
VAGUE = LimitHit("session_limit", text="You've hit your usage limit.")
ASLEEP = "the model sleeps until 3pm"
OWN = extra_patterns([{"pattern": "the model sleeps", "kind": "daily_quota"}])


def reader(
    folder: Path, agent: PlainAgent = STRUCTURED, patterns: tuple[Extra, ...] = ()
) -> WordReader:
    files = RunFiles(folder, folder, folder)
    return WordReader(agent, "run-1", files, NOON, UTC, patterns)


def heard(agent: PlainAgent, *events: Event) -> Attempt:
    attempt = attempt_of(agent)
    for number, event in enumerate(events):
        attempt.hear(event, NOON + timedelta(seconds=number))
    return attempt


@pytest.mark.parametrize("limits", [(IN_AN_HOUR, VAGUE), (VAGUE, IN_AN_HOUR)])
def test_words_with_a_time_count_more_than_vaguer_ones(
    tmp_path: Path, limits: tuple[LimitHit, LimitHit]
) -> None:
    """Before or after them, whatever kind of limit they are about; counted from when they came."""
    found = reader(tmp_path).hit(heard(STRUCTURED, *limits))
    assert found is not None
    at = NOON + timedelta(seconds=limits.index(IN_AN_HOUR))
    assert (found.kind, found.resets_at) == ("rate_limit", at + timedelta(hours=1))


def test_the_error_that_it_ended_with_may_name_the_time(tmp_path: Path) -> None:
    """Where the limit itself is vague."""
    end = Finished(True, "usage limit: try again in 2 hours")
    found = reader(tmp_path).hit(heard(STRUCTURED, VAGUE, end))
    assert found is not None
    assert found.resets_at == NOON + timedelta(hours=2)


def test_a_length_is_counted_from_when_it_was_said(tmp_path: Path) -> None:
    """An instant is what everybody else needs."""
    found = reader(tmp_path).hit(heard(STRUCTURED, LimitHit("session_limit", wait_s=600)))
    assert found == LimitHit("session_limit", resets_at=NOON + timedelta(minutes=10))


@pytest.mark.parametrize("kind", ["context_limit", "auth"])
def test_what_is_not_waited_for_has_no_instant(tmp_path: Path, kind: str) -> None:
    """Whatever its words say."""
    limit = LimitHit(kind, text="try again in 2 hours")
    assert reader(tmp_path).hit(heard(STRUCTURED, limit)) == limit


def test_nothing_was_heard(tmp_path: Path) -> None:
    """Then there is no limit."""
    assert reader(tmp_path).hit(heard(STRUCTURED)) is None


@pytest.mark.parametrize("is_given", [True, False])
@pytest.mark.parametrize("agent", [COMMAND, STRUCTURED], ids=lambda agent: agent.kind)
def test_the_users_own_patterns_are_read_in_the_last_words(
    tmp_path: Path, agent: PlainAgent, is_given: bool
) -> None:
    """Of a text agent in its output, of a structured one in its error."""
    (tmp_path / "run-1.log").write_text(f"working\n{ASLEEP}\n")
    patterns = OWN if is_given else ()
    attempt = heard(agent, Finished(True, ASLEEP))
    found = reader(tmp_path, agent, patterns).last_words(attempt, Ended("run-1", 1))
    assert (found.kind if found else None) == ("daily_quota" if is_given else None)


@pytest.mark.parametrize("ended", [Ended("run-1", 1, is_ours=True), Ended("run-1", 0)])
def test_the_words_of_one_that_did_not_end_badly_by_itself_are_no_reason(
    tmp_path: Path, ended: Ended
) -> None:
    """It may quote anything."""
    (tmp_path / "run-1.log").write_text("Usage limit reached. Try again in 2 hours.\n")
    assert reader(tmp_path, COMMAND).last_words(heard(COMMAND), ended) is None


@pytest.mark.parametrize(
    ("agent", "line", "is_refusal"),
    [
        (COMMAND, "Usage limit reached. Try again in 2 hours.", True),
        (COMMAND, "reading the plan", False),
        (STRUCTURED, "Usage limit reached. Try again in 2 hours.", False),
    ],
)
def test_a_line_may_be_a_refusal(
    tmp_path: Path, agent: PlainAgent, line: str, is_refusal: bool
) -> None:
    """A structured agent says by an event that it is at a limit."""
    assert reader(tmp_path, agent).is_refusal(line) is is_refusal
