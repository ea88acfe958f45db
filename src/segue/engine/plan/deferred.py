"""Tasks that could start but for a limit that another plan hit, quiet hours, or the leash's end.

They are parked like those that hit a limit themselves, only that they have no run yet: shown once
for each time, recorded for other processes, begun when the time has come.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from segue.core.decide import Reason
from segue.core.leash import quiet_ends
from segue.engine.ledger import Ledger
from segue.engine.plan.plan_run import PlanRun
from segue.engine.waiting_parks import Deferred
from segue.store.changes import stamp

QUIET, UNTIL, DRAIN = "quiet_hours", "until", "drain"  # kinds, where it is no limit that was hit
NAMED_MAX = 1_000  # of very many only the first are named


def look(run: PlanRun) -> None:
    """After a decision: which tasks wait for a time now? Report the new ones."""
    match run.decisions.stopped:
        case Reason.HELD:
            return  # that is no decision about them
        case Reason.QUIET | Reason.UNTIL:
            waiting = _by_the_clock(run)
        case _:
            waiting = _by_accounts(run)
    found = {one.task: one for one in islice(waiting, NAMED_MAX)}
    if found == run.deferred:
        return
    for task, one in found.items():
        if task not in run.deferred_published or run.deferred_published[task] != one.wakes_at:
            run.deferred_published[task] = one.wakes_at
            run.publish(
                "task_parked",
                task=task,
                kind=one.kind,
                account=one.account,
                resets_at=None,
                wakes_at=one.wakes_at,
                why="",
            )
    run.deferred = found
    run.ledger.note_held([one.to_json() for one in found.values()])


def forget(ledger: Ledger, account: str) -> None:
    """A person woke the account while the plan was idle: nothing of it waits for its limit."""
    no_limits = (QUIET, UNTIL, DRAIN)
    ledger.note_held(
        [one for one in ledger.held if one["account"] != account or one["kind"] in no_limits]
    )


def _by_the_clock(run: PlanRun) -> Iterator[Deferred]:
    """Nothing starts now, on any agent."""
    is_quiet = run.decisions.stopped is Reason.QUIET
    at = quiet_ends(run.clock.now(), run.leash.quiet, run.leash.tz) if is_quiet else None
    for candidate in run.frontier.ready:
        yield Deferred(candidate.id, candidate.account, QUIET if is_quiet else UNTIL, _text(at))


def _by_accounts(run: PlanRun) -> Iterator[Deferred]:
    """Those whose account another plan has parked; of its own parks this plan tells anyway."""
    decisions = run.decisions
    reasons = (Reason.ACCOUNT, Reason.DRAIN, Reason.UNTIL)
    held = {task: why for task, why in decisions.held.items() if why in reasons}
    if not held:
        return
    parks = run.ledger.parks.values()
    told = {park.account for park in parks}
    tasks = {park.task for park in parks}
    kinds: dict[str, str] = {}
    for task, why in held.items():
        if task in tasks:
            continue
        account = run.agent_for(run.graph.task(task)).account
        if account in told:
            continue
        if account not in kinds:
            kinds[account] = DRAIN if why is Reason.DRAIN else run.accounts.kind(account)
        yield Deferred(task, account, kinds[account], _text(decisions.held_until.get(task)))


def _text(at: datetime | None) -> str | None:
    return None if at is None else stamp(at)
