"""Whose turn it is: `core.decide` says it, for what waits for a slot, an account or a time.

An agent that may work, by its rows, and has no turn yet stays as it is: its run is not begun, its
process is stopped. To the scheduler it is a park that is due. What follows at once in a task that
has a slot (a check, a rework, a reminder) keeps the slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from segue.core.decide import Candidate, ParkView, Reason, Snapshot, decide
from segue.core.machines import RunState
from segue.engine.question_texts import BUDGET
from segue.engine.scheduler import Turn, carry_out, nearest, park_view
from segue.errors import UserError
from segue.i18n import _
from segue.store.rows import RunRow
from segue.work.phases import outcomes, parking, task_failure
from segue.work.phases.supervisor import Supervisor

CHECK = "check"  # a role that needs no account


def taken(supervisor: Supervisor) -> dict[str, Candidate]:
    """The tasks that have a slot: something of them runs."""
    at_work = set(supervisor.records.at_work())
    return {
        one.run.task: Candidate(one.run.task, one.run.account)
        for one in supervisor.attempts.values()
        if not one.is_paused and one.run.task in at_work
    }


def is_its(supervisor: Supervisor, run: RunRow) -> bool:
    """Whether a run may begin or continue now: its turn has come, or its task has a slot and its
    account is open."""
    now = supervisor.clock.now()
    if supervisor.not_before.get(run.id, now) > now:  # its conversation is in use
        return False
    if run.task in supervisor.granted:
        return True
    if run.task != supervisor.ended and run.task not in taken(supervisor):
        return False
    return run.role == CHECK or _is_open(supervisor, run)


def _is_open(supervisor: Supervisor, run: RunRow) -> bool:
    view = supervisor.accounts.view().get(run.account)
    if view is None:
        return True
    return view.canary == run.task or (view.parked_until is None and not view.probing)


def give(supervisor: Supervisor) -> None:
    """Carry out what is decided now."""
    if supervisor.is_stopping:
        return
    now = supervisor.clock.now()
    supervisor.held = BUDGET if supervisor.budget.holds() else None
    turn = _Turn(supervisor, now)
    decisions = carry_out(
        turn.snapshot(), now, supervisor.canaries, wake=turn.wake, start=turn.start
    )
    later = [at for at in supervisor.not_before.values() if at > now]
    supervisor.look_at = nearest(decisions.next_at, *later)


def in_words(supervisor: Supervisor, task: str) -> str | None:
    """What an agent waits for that may continue; None where it does not."""
    if task in taken(supervisor):
        return None
    now = supervisor.clock.now()
    held = decide(_Turn(supervisor, now).snapshot(with_queue=False), now).held.get(task)
    match held:
        case None:
            return None
        case Reason.SLOTS:
            return _("waits for a free slot")
        case Reason.QUIET:
            return _("waits for the quiet hours to end")
        case Reason.UNTIL:
            return _("past the time in [leash] until, so no task starts")
        case Reason.HELD:
            return _("waits for an answer about the budget")
    return _("waits for its account's limit to end")


@dataclass(slots=True)
class _Queue:
    """The pending tasks whose dependencies are completed, by rank; made as they are looked at."""

    supervisor: Supervisor
    accounts: dict[str, str]

    def __iter__(self) -> Iterator[Candidate]:
        records = self.supervisor.records
        waiting = sorted(records.queue(), key=lambda one: (one[2], one[0]))
        ranked = sorted(
            (
                Candidate(id, ready_since=since.timestamp(), order=order, priority=-priority)
                for order, (id, priority, since) in enumerate(waiting)
            ),
            key=lambda candidate: candidate.rank,
        )
        for candidate in ranked:
            task = records.task(candidate.id)
            if task is None or task.id in self.supervisor.quarantined:
                continue
            if not records.unfinished(task.depends_on):
                account = self.accounts[task.id] = self._account(task.agent)
                yield Candidate(task.id, account)

    def _account(self, agent: str) -> str:
        try:
            return self.supervisor.continuation.profile_or_fallback(agent).account
        except UserError:
            return ""  # it fails at once, and says why


class _Turn:
    """One decision, and who it is about."""

    def __init__(self, supervisor: Supervisor, now: datetime) -> None:
        self.supervisor, self.now = supervisor, now
        self._parks = {park.id: park for park in supervisor.records.waiting_parks()}
        self._runs = {run.id: run for run in _waiting(supervisor)}
        self._accounts: dict[str, str] = {}

    def snapshot(self, *, with_queue: bool = True) -> Snapshot:
        supervisor, running = self.supervisor, taken(self.supervisor)
        is_asked = with_queue and len(running) < supervisor.slots()
        parks = map(park_view, self._parks.values())
        return Snapshot(
            ready=_Queue(supervisor, self._accounts) if is_asked else (),
            running=running,
            parks=[*parks, *map(self._begun, self._runs.values())],
            accounts=supervisor.accounts.view(),
            slots=supervisor.slots(),
            leash=supervisor.leash,
            held=supervisor.held,
        )

    def _begun(self, run: RunRow) -> ParkView:
        """What was begun and waits for its turn is due."""
        at = self.supervisor.not_before.get(run.id) or min(run.created_at, self.now)
        return ParkView(run.id, run.task, _account(run), at, is_for_limit=False)

    def wake(self, id: str) -> Turn | None:
        park, run = self._parks.get(id), self._runs.get(id)
        if park is not None:
            return self._turn(park.task, park.account, lambda: parking.wake(self.supervisor, park))
        if run is not None:
            return self._turn(run.task, _account(run), lambda: self.supervisor.reconcile(run.task))
        return None

    def start(self, id: str) -> Turn | None:
        task = self.supervisor.records.task(id)
        if task is None:
            return None
        return self._turn(id, self._accounts[id], lambda: outcomes.assigned(self.supervisor, task))

    def _turn(self, task: str, account: str, act: Callable[[], object]) -> Turn:
        return Turn(task, account, lambda: self._begin(task, account, act))

    def _begin(self, task: str, account: str, act: Callable[[], object]) -> None:
        supervisor = self.supervisor
        supervisor.granted.add(task)
        try:
            act()
        except Exception as error:  # noqa: BLE001 - it fails its own task
            task_failure.about(supervisor, task, error)
        finally:
            supervisor.granted.discard(task)
        if task not in taken(supervisor):  # it could not begin: it tries nothing
            supervisor.canaries.ended(account, task)


def _account(run: RunRow) -> str:
    return "" if run.role == CHECK else run.account


def _waiting(supervisor: Supervisor) -> Iterator[RunRow]:
    """Runs that may begin, or whose processes may continue, by their rows."""
    at_work = set(supervisor.records.at_work()) - supervisor.quarantined
    runs = [run for run in supervisor.records.open_runs() if run.task in at_work]
    checked = {run.task for run in runs if run.role != "work"}
    ending = {one.run.task for one in supervisor.attempts.values() if one.is_ending}
    for run in runs:
        attempt = supervisor.attempts.get(run.id)
        if run.task in ending or (run.role == "work" and run.task in checked):
            continue
        is_meant = attempt is None and run.state is RunState.INTENDED
        if is_meant or (attempt is not None and attempt.is_paused):
            yield run
