"""What follows from a limit: a park, a question to a person, a smaller context, or a failure.

The same rules for every kind of work, as functions from values to values. Whoever asks commits what
is decided: the run's own move and the account's park are one transaction (`accounts.parked`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from segue.core.limits import (
    Waits,
    family,
    holds_account,
    is_far,
    needs_person,
    wakes_at,
)
from segue.dialects.events import Asked, LimitHit
from segue.i18n import _

CONTEXT = "context_limit"
COMPACT, AFRESH = "compact", "afresh"  # what a run is for, when it does not simply continue
TEXT_CHARS_MAX = 500
CONFIRMATION = "confirmation"


@dataclass(frozen=True, slots=True)
class Before:
    """What went before a limit. `refusals`: how many of its family came directly before it, with
    no work between; `windows`: how many limits this work has waited through; `purpose`: what the
    run that hit it was for."""

    refusals: int = 0
    windows: int = 0
    purpose: str = ""


@dataclass(frozen=True, slots=True)
class Park:
    """It waits; its account, too, where `holds_account`."""

    kind: str
    resets_at: datetime | None
    wakes_at: datetime
    text: str = ""
    unknown_zone: str = ""
    refusals: int = 0  # directly before it

    @property
    def holds_account(self) -> bool:
        return holds_account(self.kind)

    def data(self) -> dict[str, object]:
        """What the agent said of it, as the journal keeps it."""
        told = {"text": self.text[:TEXT_CHARS_MAX], "unknown_zone": self.unknown_zone}
        return {name: value for name, value in told.items() if value}

    @property
    def is_guess(self) -> bool:
        """Whether it should have named its reset, but none could be read."""
        return self.resets_at is None and family(self.kind) == "weekly"


@dataclass(frozen=True, slots=True)
class AskPerson:
    """Ask a person: waiting does not help, or needs their consent."""

    question: Asked


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Nothing is left to try."""

    reason: str


Verdict = Park | AskPerson | GiveUp


@dataclass(frozen=True, slots=True)
class Policy:
    """How limits are waited for."""

    waits: Waits = field(default_factory=Waits)
    windows_max: int | None = None


def judge(
    limit: LimitHit, agent: str, now: datetime, policy: Policy, before: Before, jitter: float = 0.0
) -> Verdict:
    """`agent`: its name, as people know it."""
    if limit.kind == CONTEXT and before.purpose == AFRESH:
        return GiveUp(_("its context is full even with only a summary"))
    if question := _for_a_person(limit, agent, now, policy, before):
        return AskPerson(question)
    resets_at, at = wakes_at(
        limit.kind,
        now,
        resets_at=limit.resets_at,
        wait_s=limit.wait_s,
        is_minute=limit.is_minute,
        waits=policy.waits,
        repeated=before.refusals,
        jitter=jitter,
    )
    return Park(limit.kind, resets_at, at, limit.text, limit.unknown_zone, before.refusals)


def _for_a_person(
    limit: LimitHit, agent: str, now: datetime, policy: Policy, before: Before
) -> Asked | None:
    why = limit.text or limit.kind
    if limit.kind == "billing":
        text = _("{agent} has a billing problem ({why}). Fix it, then continue")
        return Asked(text.format(agent=agent, why=why), category=limit.kind)
    if needs_person(limit.kind):
        text = _("{agent} is not logged in or has no access ({why}). Log in, then continue")
        return Asked(text.format(agent=agent, why=why), category=limit.kind)
    if is_far(limit.resets_at, now):
        text = _("{agent} reports a limit until {time} ({why}). Try it now?")
        asked = text.format(agent=agent, time=iso(limit.resets_at), why=why)
        return Asked(asked, category=CONFIRMATION)
    most = policy.windows_max
    if most is not None and holds_account(limit.kind) and before.windows >= most:
        text = _(
            "Segue has waited through {n} limit windows, the maximum in [leash] "
            "max_windows. Continue?"
        )
        return Asked(text.format(n=most), category=CONFIRMATION)
    return None


def iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat().replace("+00:00", "Z")
