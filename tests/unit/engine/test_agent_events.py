"""What an agent's event means for its run, whatever kind of work the run is of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, timedelta
from pathlib import Path

import pytest

from kit.clock import HandClock
from kit.engine import HandEngine
from kit.plain_agent import STRUCTURED, PlainAgent, attempt_of
from segue.dialects.events import (
    ErrorReported,
    Event,
    Finished,
    LimitHit,
    Said,
    ToolUsed,
    WindowUsed,
)
from segue.engine.accounts import Accounts
from segue.engine.agent_events import AgentEvents
from segue.engine.canary import Canaries
from segue.engine.limit_reader import WordReaders
from segue.engine.run_files import RunFiles
from segue.store.sqlite import Store

ACCOUNT = "mine"
REFUSAL = "You've hit your session limit · resets 3pm"


class Hearing:
    """One attempt, and what follows from what is heard of it."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.clock, self.engine = HandClock(), HandEngine()
        self.accounts = Accounts(store, self.clock)
        self.opened: list[str] = []
        self.ended: list[str] = []
        self.files = RunFiles(folder, folder, folder)
        self.events = AgentEvents(
            self.clock,
            self.engine,
            Canaries(self.accounts),
            WordReaders(self.files, {}, self.clock, UTC),
            end=self.ended.append,
            opened=self.opened.append,
        )
        self.attempt = attempt_of(STRUCTURED)

    def is_canary(self) -> None:
        self.accounts.park(ACCOUNT, "session_limit", self.clock.now())
        assert self.events.canaries.send(ACCOUNT, self.attempt.run.task_id)

    def hears(self, *events: Event) -> None:
        for event in events:
            self.events.hear(self.attempt, event)


@pytest.fixture
def hearing(tmp_path: Path) -> Iterator[Hearing]:
    store = Store.open(tmp_path / "segue.db")
    yield Hearing(store, tmp_path)
    store.close()


def test_a_canary_that_uses_a_tool_opens_its_account(hearing: Hearing) -> None:
    """Its first words prove nothing."""
    hearing.is_canary()
    hearing.hears(Said("Hello!"))
    assert hearing.opened == []
    hearing.hears(ToolUsed("Bash", "ls"))
    assert hearing.opened == [ACCOUNT]
    assert not hearing.accounts.is_parked(ACCOUNT)


def test_the_refusal_of_a_canary_is_no_work(hearing: Hearing) -> None:
    """Words that tell of the limit count as none, however long they continue."""
    hearing.attempt = attempt_of(PlainAgent())
    hearing.is_canary()
    for _n in range(4):
        hearing.hears(Said(REFUSAL))
        hearing.clock.pass_s(3)
    assert hearing.opened == []
    hearing.hears(Said("reading the code"))
    hearing.clock.pass_s(6)
    hearing.hears(Said("writing a test"))
    assert hearing.opened == [ACCOUNT]


def test_an_end_that_proves_nothing_leaves_the_account_to_another(hearing: Hearing) -> None:
    """One that proves that it works opens it."""
    hearing.is_canary()
    hearing.events.ended(hearing.attempt)
    assert (hearing.opened, hearing.accounts.canary(ACCOUNT)) == ([], None)
    assert hearing.events.canaries.send(ACCOUNT, hearing.attempt.run.task_id)
    hearing.events.ended(hearing.attempt, works=True)
    assert hearing.opened == [ACCOUNT]


def test_a_limit_that_only_a_person_can_end_ends_the_agent(hearing: Hearing) -> None:
    """It would try on and on; at any other limit it ends by itself."""
    hearing.hears(LimitHit("session_limit"))
    assert hearing.ended == []
    hearing.hears(LimitHit("auth"))
    assert hearing.ended == [hearing.attempt.run.id]


def test_how_full_the_window_of_its_account_is(hearing: Hearing) -> None:
    """It is noted for every owner of the project."""
    hearing.hears(WindowUsed("five_hour", 0.97, None))
    assert hearing.accounts.view()[ACCOUNT].used == 0.97


def test_an_agent_that_has_finished_finds_the_end_of_its_input(hearing: Hearing) -> None:
    """It waits for more otherwise."""
    hearing.hears(Finished(is_error=False))
    assert hearing.engine.input_ended == [hearing.attempt.run.id]


def test_a_pause_counts_from_when_the_agent_reported_it(hearing: Hearing) -> None:
    """Its owner may have been dead by then: the log knows the time."""
    log, ago = hearing.files.log(hearing.attempt.run.id), timedelta(minutes=7)
    log.write_text("…")
    at = (hearing.clock.now() - ago).timestamp()
    os.utime(log, (at, at))
    hearing.events.report(
        hearing.attempt, ErrorReported("recoverable", "wait 10 minutes", "pause_and_retry")
    )
    _limit, heard_at = hearing.attempt.limits.heard[-1]
    assert hearing.clock.now() - heard_at == ago
