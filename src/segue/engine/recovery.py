"""The start after a death: what became of each run, of the canaries and of the accounts' parks.

A run whose agent still lives is adopted; one that ended meanwhile is settled as if now;
one that never started never will; one that was cut off continues by the rule of its kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol, TypeVar

from segue.core.limits import holds_account
from segue.engine.accounts import Accounts
from segue.engine.attempt import Attempt
from segue.engine.canary import Canaries
from segue.engine.executors import Alive, Executor, Finished, Job, NeverStarted
from segue.engine.run_files import RunFiles
from segue.engine.said import heard_before
from segue.store.rows import ParkRow

AnAttempt = TypeVar("AnAttempt", bound=Attempt)
AnAttempt_contra = TypeVar("AnAttempt_contra", bound=Attempt, contravariant=True)


class RecoveryRules(Protocol[AnAttempt_contra]):
    """What a kind of work does about a run that an earlier owner began."""

    def adopted(self, attempt: AnAttempt_contra, job: str, *, is_alive: bool) -> None:
        """It lives, or its end comes through the inbox."""
        ...

    def never_started(self, attempt: AnAttempt_contra) -> None: ...

    def cut_off(self, attempt: AnAttempt_contra, conversation: str | None) -> None:
        """Nothing of it runs any more. What it used is known by now; `conversation`: its id, where
        that was not processed yet."""
        ...


def recover_run(
    executor: Executor,
    files: RunFiles,
    attempt: AnAttempt,
    job: Job,
    rules: RecoveryRules[AnAttempt],
    *,
    stays_paused: bool = False,
) -> None:
    """Find out what became of a run, and do about it what its kind's rules say."""
    match executor.recover(job, stays_paused=stays_paused):
        case Alive():
            rules.adopted(attempt, job.id, is_alive=True)
        case Finished():
            rules.adopted(attempt, job.id, is_alive=False)
        case NeverStarted():
            rules.never_started(attempt)
        case _:
            # Its owner died with it: what it used and in which conversation is in its log.
            heard = heard_before(files, attempt.run.id, attempt.run.nonce, attempt.profile)
            attempt.used = heard.used
            is_new = attempt.run.resume_id is None
            rules.cut_off(attempt, heard.conversation if is_new else None)


def adopt_canaries(canaries: Canaries, attempts: Iterable[Attempt]) -> None:
    """What becomes of a canary that lives says whether the limit is over; of one that does not the
    account's own row tells."""
    for run in [attempt.run for attempt in attempts]:
        if canaries.accounts.canary(run.account) == run.task_id:
            canaries.adopt(run.account, run.task_id)


def keep_account_parks(accounts: Accounts, parks: Iterable[ParkRow], now: datetime) -> None:
    """Each account waits for the last of its parks."""
    last: dict[str, ParkRow] = {}
    for park in parks:
        before = last.get(park.account)
        is_later = before is None or before.wakes_at < park.wakes_at
        if is_later and park.wakes_at > now and holds_account(park.kind):
            last[park.account] = park
    for park in last.values():
        accounts.park(park.account, park.kind, park.wakes_at)
