"""Those that follow a canary: once it is seen at work the others of its account go on, too, one by
one and not all at once. First what was parked, then what was held back without a run.

A known program is at work at its first words: its dialect tells them from what it says at its
start. Of any other its first words may be a greeting, with the refusal to follow: it counts when
it has outlived them.

The canary may be another plan's: that its account is open again is all this one learns of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from segue.core.decide import SPACING, AccountView

if TYPE_CHECKING:
    from segue.work.attempts import Attempt
    from segue.work.plan_run import PlanRun

GREETING = timedelta(seconds=3)


@dataclass(slots=True)
class Followers:
    """By account: when the next may start, and from when on it does not matter any more."""

    next_at: dict[str, datetime] = field(default_factory=dict)
    until: dict[str, datetime] = field(default_factory=dict)
    held: frozenset[str] = frozenset()  # accounts that were parked or probed at the last look
    greeted: dict[str, datetime] = field(default_factory=dict)  # by run: its first words


def spoke(run: PlanRun, attempt: Attempt, *, is_refusal: bool) -> None:
    """A run of an account that is probed has said something."""
    if is_refusal:
        run.followers.greeted.pop(attempt.run.id, None)
    elif attempt.profile.settings.kind == "command":
        run.followers.greeted.setdefault(attempt.run.id, run.clock.now())
    else:
        run.seen_at_work(attempt.run.account)


def next_at(run: PlanRun) -> datetime | None:
    """When a run will have outlived its greeting."""
    return min((at + GREETING for at in run.followers.greeted.values()), default=None)


def _hear_greetings(run: PlanRun) -> None:
    greeted, now = run.followers.greeted, run.clock.now()
    for id, at in list(greeted.items()):
        attempt = run.jobs.get(id)
        if attempt is None:  # its end has told more
            del greeted[id]
        elif at + GREETING <= now:
            del greeted[id]
            run.seen_at_work(attempt.run.account)


def look(run: PlanRun) -> Mapping[str, AccountView]:
    """The accounts, for a decision; of those that opened since the last one all is spaced out."""
    _hear_greetings(run)
    accounts, followers, now = run.accounts.view(), run.followers, run.clock.now()
    held = frozenset(name for name, view in accounts.items() if view.probing or view.parked_until)
    for name in sorted(followers.held - held):
        _space_out(run, name)
    followers.held = held
    for name in [name for name, until in followers.until.items() if until <= now]:
        del followers.next_at[name], followers.until[name]
    return {
        **accounts,
        **{
            name: replace(accounts.get(name, AccountView()), follows_at=at)
            for name, at in followers.next_at.items()
        },
    }


def started(run: PlanRun) -> None:
    """After a decision: who followed keeps the next one back for a moment."""
    for name in run.decisions.follow:
        run.followers.next_at[name] = run.clock.now() + SPACING


def _space_out(run: PlanRun, account: str) -> None:
    if not run.options.wait:
        return  # it would end instead of waiting for them
    at = run.clock.now()
    for park in list(run.ledger.parks.values()):
        if park.account == account and park.wakes_at <= run.clock.now():
            at += SPACING
            run.ledger.delay_park(park, at)
    run.followers.next_at[account] = at + SPACING
    # As many as can work side by side: later ones start when others end, not all at once.
    run.followers.until[account] = at + run.options.jobs * SPACING
