"""Another agent in the meantime: who works for one whose account is parked for long."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

from segue.engine.accounts import Accounts
from segue.engine.agent import Agent

AnAgent = TypeVar("AnAgent", bound=Agent)
Named = Callable[[str], AnAgent | None]  # an agent by its name, where it can be had


def fallback(
    agent: Agent, lasts: timedelta, named: Named[AnAgent], accounts: Accounts
) -> AnAgent | None:
    """Who takes over while this agent's account is parked for so long, if anybody can."""
    if agent.fallback is None or lasts.total_seconds() <= (agent.fallback_after_s or 0.0):
        return None
    other = named(agent.fallback)
    if other is None or other.account == agent.account or accounts.is_parked(other.account):
        return None
    return other


def agent_or_fallback(
    agent: AnAgent, named: Named[AnAgent], accounts: Accounts, now: datetime
) -> AnAgent:
    """Who works for this agent now: itself, or its fallback while its account is parked."""
    until = accounts.parked_until(agent.account) if agent.fallback else None
    return agent if until is None else fallback(agent, until - now, named, accounts) or agent
