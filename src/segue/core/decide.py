"""What happens next: which tasks start, which parks wake, what holds the others.

A decision is a value, made from a snapshot and a time; carrying it out is someone
else's work. It looks at no more than it needs: when the slots are full, the rest of the
queue is not touched, so `held` names only what was looked at.

The order of the rules: what holds everything (a person's hold, `until`, quiet hours), then
parks that are due, oldest first, then candidates by rank. An account whose limit should be
over is tried by one run alone, the canary; all else of that account waits for its outcome, and
then starts one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from segue.core.globs import overlaps
from segue.core.leash import Leash, after_quiet, quiet_now
from segue.core.plan import Priority

__all__ = [
    "AGEING_S",
    "AccountView",
    "Candidate",
    "Decisions",
    "Leash",
    "ParkView",
    "Reason",
    "Snapshot",
    "decide",
]

# Ten minutes of waiting raise a task by one level of priority. Since all wait at the same
# pace, the order of two tasks never changes while they wait: it is sorted once. Whoever
# became ready in the same minute has waited equally long: then the longest chain of
# dependants goes first, because that is what the end of the plan waits for. It is measured
# in seconds where an earlier run of the plan tells how long its tasks last.
AGEING_S = 600.0
EQUAL_S = 60.0
# The canary may be another plan's: this plan does not hear how it fared.
CANARY_LOOK = timedelta(seconds=2)
SPACING = timedelta(seconds=2)  # between those that follow a canary


class Reason(StrEnum):
    """Why a task does not start, or a park does not wake."""

    SLOTS = "slots"
    ACCOUNT = "account"
    PROBING = "probing"
    SPACING = "spacing"
    DRAIN = "drain"
    FILES = "files"
    QUIET = "quiet"
    UNTIL = "until"
    WINDOWS = "windows"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A task that could start, or runs. `ready_since` is in seconds, on any one clock."""

    id: str
    account: str = ""
    files: tuple[str, ...] = ()
    ready_since: float = 0.0
    order: int = 0
    priority: int = Priority.NORMAL  # lower starts first
    height: float = 1  # how long the chain is that waits for it

    @property
    def rank(self) -> tuple[int, float, int]:
        """Lower starts first."""
        aged = self.priority * AGEING_S + self.ready_since
        return int(aged // EQUAL_S), -self.height, self.order


@dataclass(frozen=True, slots=True)
class ParkView:
    id: str
    task: str
    account: str
    wakes_at: datetime
    is_for_limit: bool = True  # of its account; else for something of its own


@dataclass(frozen=True, slots=True)
class AccountView:
    """`used` is the share of the limit's window that is used up, as known until `used_until`.

    `follows_at`: its limit is just over, what starts on it follows the canary one by one, the next
    one not before then.
    """

    parked_until: datetime | None = None
    probing: bool = False
    canary: str | None = None  # the task that probes it
    used: float | None = None
    used_until: datetime | None = None
    follows_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a decision depends on, but the instant.

    `ready` is sorted by rank; no more of it is looked at than is needed. `claims` are the files of
    tasks that are in progress without a slot (parked, or waiting for a person): half-done work
    keeps others off its files.
    """

    ready: Iterable[Candidate] = ()
    running: Mapping[str, Candidate] = field(default_factory=dict)
    parks: Sequence[ParkView] = ()
    accounts: Mapping[str, AccountView] = field(default_factory=dict)
    slots: int = 1
    leash: Leash = field(default_factory=Leash)
    windows_used: int = 0
    held: str | None = None
    claims: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decisions:
    """`held` goes by task, parked or not. `probe` are the accounts a canary is sent to, `follow`
    those of which a task starts or wakes as a follower.

    `next_at` is the nearest instant at which deciding again could change something by
    itself; None: only an event can. `stopped` is the rule that holds everything.
    `held_until` has the instant of candidates that wait for one.
    """

    start: tuple[str, ...] = ()
    wake: tuple[str, ...] = ()
    held: Mapping[str, Reason] = field(default_factory=dict)
    next_at: datetime | None = None
    stopped: Reason | None = None
    probe: tuple[str, ...] = ()
    follow: tuple[str, ...] = ()
    held_until: Mapping[str, datetime] = field(default_factory=dict)


def decide(snapshot: Snapshot, now: datetime) -> Decisions:
    draft = _Draft(snapshot, now)
    for park in sorted(snapshot.parks, key=lambda park: (park.wakes_at, park.id)):
        draft.consider_park(park)
    if draft.stopped is None:
        for candidate in snapshot.ready:
            if candidate.id in snapshot.running:
                continue
            draft.consider(candidate)
            if draft.slots_left <= 0:
                break
    elif draft.stopped is Reason.QUIET and next(iter(snapshot.ready), None) is not None:
        draft.look_again(now)
    return draft.decisions()


class _Draft:
    """A decision in the making."""

    def __init__(self, snapshot: Snapshot, now: datetime) -> None:
        self.snapshot = snapshot
        self.now = now
        self.leash = snapshot.leash
        self.slots_left = snapshot.slots - len(snapshot.running)
        self.is_past_windows = (
            self.leash.max_windows is not None and snapshot.windows_used > self.leash.max_windows
        )
        self.stopped = self._stopped()
        self._start: list[str] = []
        self._wake: list[str] = []
        self._held: dict[str, Reason] = {}
        self._held_until: dict[str, datetime] = {}
        self._probe: list[str] = []
        self._follow: list[str] = []
        self._instants: list[datetime] = []
        self._busy: dict[str, tuple[str, ...]] = {
            id: running.files for id, running in snapshot.running.items() if running.files
        }
        self._files_held: set[tuple[str, ...]] = set()
        self._account_rules: dict[str, tuple[Reason | None, datetime | None]] = {}
        self._awaited = {park.account for park in snapshot.parks if self._is_canary_to_be(park)}

    def _stopped(self) -> Reason | None:
        if self.snapshot.held is not None:
            return Reason.HELD
        if self._is_too_late(self.now):
            return Reason.UNTIL
        if quiet_now(self.now, self.leash.quiet, self.leash.tz):
            return Reason.QUIET
        return None

    def decisions(self) -> Decisions:
        return Decisions(
            start=tuple(self._start),
            wake=tuple(self._wake),
            held=self._held,
            next_at=min(self._instants, default=None),
            stopped=self.stopped,
            probe=tuple(self._probe),
            follow=tuple(self._follow),
            held_until=self._held_until,
        )

    # Instants

    def _possible_at(self, instant: datetime) -> datetime:
        return after_quiet(max(instant, self.now), self.leash.quiet, self.leash.tz)

    def _is_too_late(self, instant: datetime) -> bool:
        until = self.leash.until
        return until is not None and self._possible_at(instant) >= until

    def look_again(self, instant: datetime) -> None:
        """Something could change at this instant, or when quiet hours are over then."""
        if not self._is_too_late(instant) and self._possible_at(instant) > self.now:
            self._instants.append(self._possible_at(instant))

    # Parks

    def _wakes_at(self, park: ParkView) -> datetime:
        """Not before its account's limit is over, whatever the park itself says."""
        parked_until = self._account(park.account).parked_until
        return park.wakes_at if parked_until is None else max(park.wakes_at, parked_until)

    def _may_wake(self, park: ParkView) -> bool:
        """Whether it can wake at some time without help."""
        return not self.is_past_windows and not self._is_too_late(self._wakes_at(park))

    def _is_canary_to_be(self, park: ParkView) -> bool:
        """Whether it waits for its account's limit, and will wake by itself."""
        return park.is_for_limit and self._may_wake(park)

    def consider_park(self, park: ParkView) -> None:
        reason = self._park_held_by(park)
        if reason is not None:
            self._held[park.task] = reason
        elif self._wakes_at(park) <= self.now:
            self._wake.append(park.id)
            self._take(park.task, park.account, self.snapshot.claims.get(park.task, ()))

    def _park_held_by(self, park: ParkView) -> Reason | None:
        if self.stopped is Reason.HELD:
            return Reason.HELD
        if self.is_past_windows:
            return Reason.WINDOWS
        if self._is_too_late(self._wakes_at(park)):
            return Reason.UNTIL
        self.look_again(self._wakes_at(park))
        if park.wakes_at > self.now:
            return None  # it waits for its own instant: no rule holds it
        return self.stopped or self._due_park_held_by(park)

    def _due_park_held_by(self, park: ParkView) -> Reason | None:
        if self._wakes_at(park) > self.now:
            return Reason.ACCOUNT
        account = self._account(park.account)
        if account.probing and account.canary != park.task:
            self.look_again(self.now + CANARY_LOOK)
            return Reason.PROBING
        if park.account in self._probe:
            return Reason.PROBING
        if (at := self._follows_at(park.account)) is not None and at > self.now:
            self.look_again(at)
            return Reason.SPACING
        if self._is_busy(park.task, self.snapshot.claims.get(park.task, ())):
            return Reason.FILES
        return Reason.SLOTS if self.slots_left <= 0 and not self._has_slot(park.task) else None

    # Candidates

    def consider(self, candidate: Candidate) -> None:
        reason, at = self._held_by(candidate)
        if reason is not None:
            self._held[candidate.id] = reason
            if at is not None:
                self._held_until[candidate.id] = at
        else:
            self._start.append(candidate.id)
            self._take(candidate.id, candidate.account, candidate.files)

    def _held_by(self, candidate: Candidate) -> tuple[Reason | None, datetime | None]:
        if self.slots_left <= 0:
            return Reason.SLOTS, None
        if candidate.account not in self._account_rules:
            reason, again_at = self._account_rule(candidate.account)
            if again_at is not None:
                self.look_again(again_at)
                again_at = self._possible_at(again_at)
            self._account_rules[candidate.account] = reason, again_at
        rule = self._account_rules[candidate.account]
        if rule[0] is None and self._has_claimed_files(candidate):
            return Reason.FILES, None
        return rule

    def _account_rule(self, name: str) -> tuple[Reason | None, datetime | None]:
        """What keeps this account from starting anything new, and until when if known."""
        account = self._account(name)
        if account.parked_until is not None and self.is_past_windows:
            return Reason.WINDOWS, None
        if account.parked_until is not None and account.parked_until > self.now:
            is_too_late = self._is_too_late(account.parked_until)
            return Reason.UNTIL if is_too_late else Reason.ACCOUNT, account.parked_until
        if account.probing:
            return Reason.PROBING, self.now + CANARY_LOOK
        if name in self._probe:
            return Reason.PROBING, None
        if account.parked_until is not None and name in self._awaited:
            return Reason.PROBING, None  # one of its parks will be the canary
        follows_at = self._follows_at(name)
        if follows_at is not None and follows_at > self.now:
            return Reason.SPACING, follows_at
        return self._drain_rule(account)

    def _drain_rule(self, account: AccountView) -> tuple[Reason | None, datetime | None]:
        is_known = account.used_until is None or account.used_until > self.now
        if account.used is None or account.used < self.leash.drain_at or not is_known:
            return None, None
        return Reason.DRAIN, account.used_until

    def _has_claimed_files(self, candidate: Candidate) -> bool:
        """Many candidates often name the same files: each such list is compared once."""
        if not candidate.files or candidate.files in self._files_held:
            return bool(candidate.files)
        is_held = self._is_busy(candidate.id, candidate.files) or any(
            overlaps(candidate.files, files)
            for task, files in self.snapshot.claims.items()
            if task != candidate.id
        )
        if is_held:
            self._files_held.add(candidate.files)
        return is_held

    # Both

    def _account(self, name: str) -> AccountView:
        return self.snapshot.accounts.get(name, _OPEN)

    def _follows_at(self, name: str) -> datetime | None:
        """Of an account that has just opened: when its next one may start."""
        return self.now + SPACING if name in self._follow else self._account(name).follows_at

    def _is_busy(self, task: str, files: tuple[str, ...]) -> bool:
        return bool(files) and any(
            overlaps(files, busy) for other, busy in self._busy.items() if other != task
        )

    def _has_slot(self, task: str) -> bool:
        """Something of it runs: what else of it begins needs no other slot."""
        return task in self.snapshot.running

    def _take(self, task: str, account: str, files: tuple[str, ...]) -> None:
        if not self._has_slot(task):
            self.slots_left -= 1
        if files:
            self._busy[task] = files
        if self._account(account).parked_until is not None:
            self._probe.append(account)
            self._account_rules.pop(account, None)
        elif self._account(account).follows_at is not None:
            self._follow.append(account)
            self._account_rules.pop(account, None)


_OPEN = AccountView()
