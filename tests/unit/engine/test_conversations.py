"""One process on one conversation: held by a run, refused to others, left at its end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kit.plain_agent import COMMAND, STRUCTURED, PlainAgent, attempt_of
from segue.engine.attempt import Attempt
from segue.engine.conversations import ConversationHolds
from segue.engine.run_files import RunFiles
from segue.store.conversations import Conversations

TALK = "talk-1"


@pytest.fixture
def holds(tmp_path: Path) -> ConversationHolds:
    held = Conversations(tmp_path / "held", lambda claim: True)
    return ConversationHolds(held, RunFiles(tmp_path, tmp_path, tmp_path), "/p/PLAN.md")


def attempt(run: str, agent: PlainAgent = STRUCTURED) -> Attempt:
    made = attempt_of(agent)
    made.run = replace(made.run, id=run, resume_id=TALK)
    return made


def test_a_second_run_learns_who_works_in_it(holds: ConversationHolds) -> None:
    """By plan and task; the first one may take it again."""
    first, second = attempt("run-1"), attempt("run-2")
    assert [holds.take(first, TALK), holds.take(first, TALK)] == [True, True]
    assert not holds.take(second, TALK)
    assert second.busy is not None
    assert (second.busy.run, second.busy.plan, second.busy.task) == ("run-1", "/p/PLAN.md", "T-1")


def test_it_is_free_when_its_run_has_ended(holds: ConversationHolds) -> None:
    """The end of a run that never had it frees nothing."""
    first, second = attempt("run-1"), attempt("run-2")
    holds.take(first, TALK)
    holds.take(second, TALK)
    holds.release(second)
    assert not holds.take(attempt("run-3"), TALK)
    holds.release(first)
    assert holds.take(attempt("run-3"), TALK)


@pytest.mark.parametrize(("agent", "talk"), [(COMMAND, TALK), (STRUCTURED, None)])
def test_what_has_no_conversation_holds_none(
    holds: ConversationHolds, agent: PlainAgent, talk: str | None
) -> None:
    """Programs that keep none, and runs that begin a new one."""
    assert holds.take(attempt("run-1", agent), talk)
    assert holds.take(attempt("run-2"), TALK)
