"""What an event means for a task of a plan, beside what it means for any run.

What it comes to is judged when the run has ended (`outcomes.py`): until then every word is
only noted.
"""

from __future__ import annotations

from functools import partial

from segue.core.machines import RunState
from segue.dialects.events import (
    ActRefused,
    Asked,
    BlockUnclosed,
    DependencyAsked,
    ErrorReported,
    Event,
    Garbled,
    Opened,
    PermissionAsked,
    Retrying,
    Said,
    StepDone,
    ToolUsed,
    Unsigned,
)
from segue.engine import refusals
from segue.engine.plan import answers, conversations
from segue.engine.plan.attempts import Attempt
from segue.engine.plan.plan_run import PlanRun
from segue.i18n import _
from segue.plans.task_edit import TaskEdit
from segue.store.changes import Change


def heard(run: PlanRun, attempt: Attempt, event: Event) -> None:
    if attempt.run.state is RunState.VERIFYING and not isinstance(event, Said):
        return  # a check reports nothing but its exit code
    run.events.hear(attempt, event)
    match event:
        case Said(text):
            run.emit("task_said", task=attempt.task.id, text=text)
        case ToolUsed(tool, what):
            run.emit("task_said", task=attempt.task.id, text=f"⚙ {tool} {what}".rstrip())
        case StepDone(n):
            _step_done(run, attempt, n)
        case ActRefused():
            run.ledger.stage_made(partial(_refused, run, attempt, event))
        case Opened(conversation):
            conversations.opened(run, attempt, conversation)
        case Asked() | DependencyAsked():
            answers.stop_to_ask(run, attempt, event)
        case PermissionAsked():
            answers.permission_asked(run, attempt, event)
        case _:
            _hindered(run, attempt, event)


def _refused(run: PlanRun, attempt: Attempt, event: ActRefused) -> list[Change]:
    now = run.clock.now()
    return refusals.told(run.ledger.store, attempt.run.id, attempt.task.id, event, now)


def _hindered(run: PlanRun, attempt: Attempt, event: Event) -> None:
    """What keeps it from its work, or soon will."""
    match event:
        case Retrying():
            run.publish(
                "agent_retrying",
                task=attempt.task.id,
                attempt=event.attempt,
                attempts_max=event.attempts_max,
                wait_s=event.wait_s,
                status=event.status,
                text=event.text,
            )
        case ErrorReported():
            _error_reported(run, attempt, event)
        case BlockUnclosed(name):
            text = _("{task}: its {name} was never closed, so Segue ignored it")
            run.publish("notice", text=text.format(task=attempt.task.id, name=name))
        case Unsigned(marker, expected) if marker.startswith("["):
            text = _("{task}: Segue ignored {marker} without the nonce; expected: {expected}")
            facts = {"task": attempt.task.id, "marker": marker, "expected": expected}
            run.publish("notice", text=text.format(**facts))
        case Garbled(why=why) if why:
            text = _("{task}: Segue ignored its report ({why})")
            run.publish("notice", text=text.format(task=attempt.task.id, why=why))
        case _:
            pass  # garbled text is in the log; a plan's task has no phases


def _error_reported(run: PlanRun, attempt: Attempt, told: ErrorReported) -> None:
    """An error in the agent's own words: the run has failed, continues later, or just continues."""
    if told.is_fatal or told.is_pause:  # that it ends well then does not count
        run.events.report(attempt, told)
        run.engine.end_soon(attempt.run.id)
    else:
        attempt.lines.extend(told.message.splitlines())
        run.publish("notice", text=f"{attempt.task.id}: {told.message}")


def _step_done(run: PlanRun, attempt: Attempt, n: int) -> None:
    task = attempt.task
    if 1 <= n <= len(task.steps) and n not in attempt.steps_done:
        attempt.steps_done.add(n)
        run.edit(task.id, TaskEdit(steps={n: True}))
        run.publish("step_done", task=task.id, step=n, text=task.steps[n - 1].text)
