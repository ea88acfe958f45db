"""What follows from the end of a run: the account first, then one rule of its kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from kit.clock import HandClock
from kit.engine import HandEngine
from kit.plain_agent import STRUCTURED, attempt_of
from segue.dialects.events import Asked, ErrorReported, LimitHit, TaskDone
from segue.engine.accounts import Accounts
from segue.engine.agent_events import AgentEvents
from segue.engine.attempt import Attempt, Dropped
from segue.engine.canary import Canaries
from segue.engine.executors import Ended
from segue.engine.limit_reader import WordReaders
from segue.engine.limits import COMPACT
from segue.engine.outcome import (
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
)
from segue.engine.outcome_rules import apply, settle
from segue.engine.run_files import RunFiles
from segue.store.conversations import ConversationHolder
from segue.store.sqlite import Store

ENDED = Ended("run-1", 0)
HOLDER = ConversationHolder("run-2", "/claim", "/plan", "T-2")


class Rules:
    """Notes which rule was applied."""

    def __init__(self) -> None:
        self.applied: list[str] = []

    def __getattr__(self, rule: str) -> Callable[..., None]:
        return lambda *_args, **facts: self.applied.append(f"{rule} {facts}" if facts else rule)


def applied(how: Outcome, purpose: str = "") -> list[str]:
    rules: Any = Rules()
    attempt = attempt_of()
    attempt.run = replace(attempt.run, purpose=purpose)
    apply(how, attempt, ENDED, rules)
    found: list[str] = rules.applied
    return found


@pytest.mark.parametrize(
    ("how", "rule"),
    [
        (Dropped(), "dropped"),
        (CutOff(), "cut_off"),
        (Completed(), "completed"),
        (Claimed(TaskDone()), "claimed"),
        (NeedsPerson((Asked("which?"),)), "needs_person"),
        (Limited(LimitHit("session_limit")), "limited"),
        (ConversationBusy(HOLDER), "conversation_busy"),
        (ConversationLost("gone"), "conversation_lost"),
        (Failed("it broke"), "failed"),
        (TimedOut("too long"), "failed"),
        (Silenced("too silent"), "failed"),
    ],
)
def test_each_outcome_has_one_rule(how: Outcome, rule: str) -> None:
    """Whatever an attempt came to, its kind says what follows, once."""
    assert applied(how) == [rule]


@pytest.mark.parametrize(
    ("how", "rule"),
    [
        (Completed(), "compacted {'is_well': True}"),
        (Failed("it broke"), "compacted {'is_well': False}"),
        (Silenced("too silent"), "compacted {'is_well': False}"),
        (ConversationLost("gone"), "compacted {'is_well': False}"),
        (Limited(LimitHit("session_limit")), "limited"),
        (CutOff(), "cut_off"),
    ],
)
def test_a_compaction_is_over_or_continues_afresh(how: Outcome, rule: str) -> None:
    """It is no try at the task itself; a limit parks it like any run."""
    assert applied(how, COMPACT) == [rule]


@pytest.mark.parametrize(
    ("report", "opened", "canary"),
    [
        (TaskDone(), ["mine"], None),
        (Asked("which?"), ["mine"], None),
        (ErrorReported("fatal", "no disk", ""), [], None),
        (ErrorReported("recoverable", "later", "pause_and_retry"), [], "plan/T-1"),
    ],
)
def test_what_an_end_shows_about_the_account(
    tmp_path: Path, report: Any, opened: list[str], canary: str | None
) -> None:
    """A canary that did something opens it; one that failed leaves it to another; one at a limit
    is parked by the rule, with its account."""
    store, clock, told = Store.open(tmp_path / "segue.db"), HandClock(), list[str]()
    accounts = Accounts(store, clock)
    canaries = Canaries(accounts)
    accounts.park("mine", "session_limit", clock.now())
    canaries.send("mine", "plan/T-1")
    words = WordReaders(RunFiles(tmp_path, tmp_path, tmp_path), {}, clock, UTC)
    events = AgentEvents(
        clock, HandEngine(), canaries, words, end=lambda run: None, opened=told.append
    )
    attempt: Attempt = attempt_of(STRUCTURED)
    events.report(attempt, report)
    rules: Any = Rules()
    settle(attempt, ENDED, Circumstances(), events, rules)
    assert (told, accounts.canary("mine")) == (opened, canary)
    assert len(rules.applied) == 1
    store.close()
