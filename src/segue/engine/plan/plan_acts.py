"""The owner of a plan takes in what people want of it: each act once, in one transaction with what
follows from it.

To park a task whose agent works takes two steps: the agent is ended, and the act waits until the
park is written down. Whoever starts after a death in between finds the act and does the same.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

from segue.core.limits import MANUAL
from segue.core.plan import TaskState
from segue.dialects.events import LimitHit
from segue.engine import acts
from segue.engine.acts import CannotError, Verb
from segue.engine.attempt import ParkedByHand
from segue.engine.executors import StopWanted
from segue.engine.plan import beginning, edits, manual_parks
from segue.engine.plan.attempts import Attempt
from segue.engine.plan.manual_parks import ACCOUNT
from segue.engine.plan.plan_run import PlanRun
from segue.engine.plan.questions import retry_failed, skip_failed
from segue.i18n import _
from segue.store.rows import ActRow


def take_in(run: PlanRun) -> bool:
    """All that waits; whether anything came of it."""
    run.has_acts_left = False
    handlers = {verb: partial(handler, run) for verb, handler in _HANDLERS.items()}
    # What a handler staged before an error of its own cannot be distinguished from the rest.
    intake = acts.Intake(handlers, partial(_refuse, run), survives=False)
    return intake.take(run.ledger.waiting_acts())


def _refuse(run: PlanRun, act: ActRow, why: str) -> None:
    run.ledger.refuse_act(act, why)
    run.publish("notice", text=why)


# Gates


def _settle(run: PlanRun, act: ActRow) -> bool:
    gate = run.ledger.gates.get(act.gate or "")
    if gate is None:
        raise CannotError(_("{id} is no longer waiting").format(id=act.gate))
    answer = acts.said(act, "answer")
    run.ledger.take_act(act)
    run.questions.withdraw(gate.id)
    run.publish("gate_answered", gate=gate.id, task=gate.task, by=act.actor)
    beginning.go_on_with(run, gate, answer)
    return True


# Tasks


def _state(run: PlanRun, act: ActRow) -> tuple[str, TaskState]:
    task = act.task or ""
    row = run.ledger.tasks.get(task)
    if row is None:
        raise CannotError(_("no task `{name}` here").format(name=task))
    return task, row.state


def _retry(run: PlanRun, act: ActRow) -> bool:
    task, state = _state(run, act)
    if not run.file.decide(run, task, act.verb, lambda: run.ledger.take_act(act)):
        if state is not TaskState.FAILED or task not in run.graph:
            raise CannotError(_("{task} has not failed").format(task=task))
        run.ledger.take_act(act)
        _forget_question(run, task)
        retry_failed(run, task)
    return True


def _skip(run: PlanRun, act: ActRow) -> bool:
    task, state = _state(run, act)
    if not run.file.decide(run, task, act.verb, lambda: run.ledger.take_act(act)):
        is_over = state in (TaskState.COMPLETED, TaskState.SKIPPED)
        if is_over or task not in run.graph:
            raise CannotError(_("{task} has already ended").format(task=task))
        run.ledger.take_act(act)
        _forget_question(run, task)
        skip_failed(run, task)
        edits.drop_what_is_out_of_our_hands(run)
    return True


def _forget_question(run: PlanRun, task: str) -> None:
    """What becomes of a failed task is decided: it is not asked about any more."""
    run.questions.withdraw(f"failed:{task}")
    for asked in (run.failed_here, run.unanswered):
        if task in asked:
            asked.remove(task)


# Parks


def _park(run: PlanRun, act: ActRow) -> bool:
    task, _was = _state(run, act)
    until = acts.until(act)
    attempt = next((one for one in run.jobs.values() if one.task.id == task), None)
    if attempt is not None and attempt.finished is None:
        _end_to_park(run, attempt, act, until)
        return False
    manual_parks.move(run.ledger, run.accounts, act.verb, task, until, run.clock)
    run.ledger.take_act(act)
    return True


def _end_to_park(run: PlanRun, attempt: Attempt, act: ActRow, until: datetime) -> None:
    """Its park is written when it has ended; then the act is taken."""
    run.has_acts_left = True
    if attempt.ended_for is None:
        limit = LimitHit(MANUAL, resets_at=until, text=_("by hand"))
        attempt.ended_for = ParkedByHand(limit, acts.by(act))
        run.engine.end_soon(attempt.run.id)


def _wake(run: PlanRun, act: ActRow) -> bool:
    account = act.data.get(ACCOUNT)
    if account is None:
        manual_parks.move(run.ledger, run.accounts, act.verb, act.task or "", None, run.clock)
    else:
        manual_parks.wake_account(run.ledger, str(account), run.clock)
    run.ledger.take_act(act)
    return True


def _message(run: PlanRun, act: ActRow) -> bool:
    """It waits for the next turn of the task's agent (`beginning.py`)."""
    task, state = _state(run, act)
    if state in (TaskState.COMPLETED, TaskState.SKIPPED):
        raise CannotError(_("{task} has already ended").format(task=task))
    return False


def _stop(run: PlanRun, act: ActRow) -> bool:
    run.ledger.take_act(act)
    run.stop(StopWanted(now=False))
    return True


_HANDLERS: dict[Verb, Callable[[PlanRun, ActRow], bool]] = {
    Verb.ANSWER: _settle,
    Verb.APPROVE: _settle,
    Verb.RETRY: _retry,
    Verb.SKIP: _skip,
    Verb.PARK: _park,
    Verb.WAKE: _wake,
    Verb.STOP: _stop,
    Verb.MESSAGE: _message,
}
