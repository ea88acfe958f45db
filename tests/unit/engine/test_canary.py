"""Canaries: what proves that an agent works again after a limit, and who may then follow."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from kit.clock import HandClock
from segue.engine.accounts import Accounts
from segue.engine.canary import CONTINUES, Canaries, Proof
from segue.store.sqlite import Store

ACCOUNT, TASK, OTHER = "work", "plan/T-1", "plan/T-2"


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def accounts(tmp_path: Path, clock: HandClock) -> Iterator[Accounts]:
    """The account's limit is over, and nobody has tried it yet."""
    store = Store.open(tmp_path / "segue.db")
    made = Accounts(store, clock)
    made.park(ACCOUNT, "rate_limit", clock.now())
    yield made
    store.close()


def test_one_message_of_a_structured_agent_is_a_greeting(clock: HandClock) -> None:
    """Its lines arrive together; the second message is work."""
    proof = Proof(is_structured=True)
    proof.said(clock.now())
    proof.said(clock.pass_s(0.1))
    assert not proof.works
    proof.said(clock.pass_s(10))
    assert proof.works


def test_a_tool_is_work() -> None:
    """Nobody uses one to greet."""
    proof = Proof(is_structured=True)
    proof.used_tool()
    assert proof.works


def test_text_that_continues_is_work(clock: HandClock) -> None:
    """However many messages it is: only time tells."""
    proof = Proof(is_structured=False)
    proof.said(clock.now())
    proof.said(clock.pass_s(CONTINUES.total_seconds() - 1))
    assert not proof.works
    proof.said(clock.pass_s(1))
    assert proof.works


@pytest.mark.parametrize("is_structured", [True, False])
def test_words_before_a_refusal_prove_nothing(is_structured: bool, clock: HandClock) -> None:
    """They are counted from the refusal on."""
    proof = Proof(is_structured)
    proof.said(clock.now())
    proof.refused()
    proof.said(clock.pass_s(10))
    assert not proof.works


def test_a_canary_that_works_opens_its_account(accounts: Accounts) -> None:
    """Once; a task that is no canary opens nothing."""
    canaries = Canaries(accounts)
    assert canaries.send(ACCOUNT, TASK)
    assert not canaries.works(ACCOUNT, OTHER)
    assert accounts.view()[ACCOUNT].probing
    assert canaries.works(ACCOUNT, TASK)
    assert not accounts.view()[ACCOUNT].probing
    assert not canaries.works(ACCOUNT, TASK)


def test_one_canary_is_sent(accounts: Accounts) -> None:
    """Another owner was faster."""
    assert Canaries(accounts).send(ACCOUNT, TASK)
    late = Canaries(accounts)
    assert not late.send(ACCOUNT, OTHER)
    assert not late.is_canary(ACCOUNT, OTHER)


def test_a_canary_that_ended_without_proof_is_followed_by_another(accounts: Accounts) -> None:
    """The account is neither open nor held."""
    canaries = Canaries(accounts)
    canaries.send(ACCOUNT, TASK)
    canaries.ended(ACCOUNT, OTHER)
    assert canaries.is_canary(ACCOUNT, TASK), "the end of another task says nothing"
    canaries.ended(ACCOUNT, TASK)
    assert not accounts.view()[ACCOUNT].probing
    assert canaries.send(ACCOUNT, OTHER)


def test_a_canary_of_a_former_owner_proves_the_same(accounts: Accounts) -> None:
    """The next owner adopts it with its run."""
    Canaries(accounts).send(ACCOUNT, TASK)
    canaries = Canaries(accounts)
    canaries.adopt(ACCOUNT, TASK)
    assert canaries.works(ACCOUNT, TASK)


def test_a_canary_that_is_parked_again_is_none_any_more(
    accounts: Accounts, clock: HandClock
) -> None:
    """The limit was not over."""
    canaries = Canaries(accounts)
    canaries.send(ACCOUNT, TASK)
    accounts.park(ACCOUNT, "rate_limit", clock.now() + timedelta(hours=1))
    canaries.parked(ACCOUNT)
    assert not canaries.works(ACCOUNT, TASK)
    assert accounts.view()[ACCOUNT].parked_until == clock.now() + timedelta(hours=1)
