"""The start after a death: each run, the canaries, the parks of accounts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from kit.clock import HandClock
from kit.engine import HandEngine
from kit.plain_agent import PlainAgent, attempt_of
from segue.dialects.claude import Claude
from segue.engine.accounts import Accounts
from segue.engine.attempt import Attempt
from segue.engine.canary import Canaries
from segue.engine.executors import Alive, Finished, Gone, Job, NeverStarted, Recovered
from segue.engine.recovery import adopt_canaries, keep_account_parks, recover_run
from segue.engine.run_files import RunFiles
from segue.store.rows import ParkRow
from segue.store.sqlite import Store

HOUR = timedelta(hours=1)


class Rules:
    def __init__(self) -> None:
        self.said = ""

    def adopted(self, attempt: Attempt, job: str, *, is_alive: bool) -> None:
        self.said = f"{job} lives" if is_alive else f"{job} ended"

    def never_started(self, attempt: Attempt) -> None:
        self.said = "never started"

    def cut_off(self, attempt: Attempt, conversation: str | None) -> None:
        tokens = attempt.used.input_tokens if attempt.used else None
        self.said = f"cut off in {conversation} after {tokens}"


def recovered(folder: Path, became: Recovered, resume_id: str | None = None) -> str:
    attempt, engine, rules = attempt_of(CLAUDE), HandEngine(), Rules()
    attempt.run.resume_id = resume_id
    job = Job("run-1", ("agent",), {}, folder, folder / "run-1.log", Claude(""))
    engine.became[job.id] = became
    recover_run(engine, RunFiles(folder, folder, folder), attempt, job, rules)
    return rules.said


CLAUDE = PlainAgent(name="claude", kind="claude", is_structured=True, dialect=Claude)


@pytest.fixture
def accounts(tmp_path: Path) -> Iterator[Accounts]:
    store = Store.open(tmp_path / "segue.db")
    yield Accounts(store, HandClock())
    store.close()


@pytest.mark.parametrize(
    ("became", "said"),
    [
        (Alive(), "run-1 lives"),
        (Finished(), "run-1 ended"),
        (NeverStarted(), "never started"),
        (Gone(), "cut off in None after None"),
    ],
)
def test_what_became_of_a_run(tmp_path: Path, became: Recovered, said: str) -> None:
    """Each case has its rule."""
    assert recovered(tmp_path, became) == said


def test_the_log_of_a_run_that_died_with_its_owner_is_heard(tmp_path: Path) -> None:
    """Its conversation, if nobody had noted that, and what it used."""
    (tmp_path / "run-1.log").write_text(
        '{"type":"system","subtype":"init","session_id":"c-7"}\n'
        '{"type":"result","subtype":"success","is_error":false,"result":"done",'
        '"session_id":"c-7","total_cost_usd":0.5,"usage":{"input_tokens":12,"output_tokens":3}}\n'
    )
    assert recovered(tmp_path, Gone()) == "cut off in c-7 after 12"
    assert recovered(tmp_path, Gone(), "c-7") == "cut off in None after 12", "it was noted"


def test_a_canary_that_lives_is_adopted(accounts: Accounts) -> None:
    """The next owner hears whether the limit is over."""
    dead, canaries = Canaries(accounts), Canaries(accounts)
    accounts.park("mine", "session_limit", HandClock().now())
    dead.send("mine", "plan/T-1")
    adopt_canaries(canaries, [])
    assert not canaries.is_canary("mine", "plan/T-1")
    adopt_canaries(canaries, [attempt_of()])
    assert canaries.is_canary("mine", "plan/T-1")


def test_each_account_waits_for_the_last_of_its_parks(accounts: Accounts) -> None:
    """Not for one that is no limit of the account, nor for one that is due."""
    now = HandClock().now()
    parks = [
        ParkRow("a", "T-1", None, "mine", "session_limit", None, now + HOUR),
        ParkRow("b", "T-2", None, "mine", "session_limit", None, now + 2 * HOUR),
        ParkRow("c", "T-3", None, "mine", "context_limit", None, now + 3 * HOUR),
        ParkRow("d", "T-4", None, "theirs", "session_limit", None, now),
    ]
    keep_account_parks(accounts, parks, now)
    assert accounts.parked_until("mine") == now + 2 * HOUR
    assert not accounts.is_parked("theirs")
