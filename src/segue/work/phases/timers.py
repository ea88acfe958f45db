"""What waits for a time on the server, besides limits: deadlines, reminders, checkpoints.

A timer is a row. It goes in the same transaction as what it makes happen, so it fires once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from segue.core.machines import GateState, Trigger
from segue.core.serving import AgentState
from segue.engine.prompts import permission
from segue.engine.question_texts import PERMISSION
from segue.i18n import _
from segue.store.actors import TIMER, acting
from segue.store.changes import Change, Drop, Note, instant
from segue.store.rows import GateRow, PhaseTaskRow
from segue.work.phases import asking, moves, task_failure
from segue.work.plans.answers import ALLOW, ALLOW_TOOL

if TYPE_CHECKING:
    from segue.work.phases.supervisor import Supervisor

AGAIN = timedelta(minutes=1)  # after one could not fire
SOONEST = "SELECT id, at FROM timers WHERE work = 'server' ORDER BY at LIMIT ?"


@acting(TIMER)
def fire(supervisor: Supervisor) -> None:
    """Everything whose instant has come."""
    now = supervisor.clock.now()
    for timer in supervisor.records.due(now):
        if supervisor.deferred_timers.get(timer["id"], now) > now:
            continue
        try:
            _fire(supervisor, timer)
            supervisor.deferred_timers.pop(timer["id"], None)
        except Exception as error:  # noqa: BLE001 - it fails its own task, or is tried later
            supervisor.deferred_timers[timer["id"]] = now + AGAIN
            task_failure.about(supervisor, timer["task"], error)
    supervisor.deferred_timers = {
        id: at for id, at in supervisor.deferred_timers.items() if at > now
    }


def next_at(supervisor: Supervisor) -> datetime | None:
    """When the next one fires; those that could not are not tried again and again."""
    rows = supervisor.records.store.all(SOONEST, len(supervisor.deferred_timers) + 1)
    soon = [supervisor.deferred_timers.get(row["id"], instant(row["at"])) for row in rows]
    return min(soon, default=None)


def _fire(supervisor: Supervisor, timer: dict[str, Any]) -> None:
    task, agent = supervisor.records.task(timer["task"]), supervisor.records.agent(timer["task"])
    gone: Change = Drop("timers", {"id": timer["id"]})
    if task is None or agent is None:
        supervisor.commit(gone)
        return
    match timer["kind"]:
        case "save":
            again = moves.timer("save", task.id, supervisor.clock.now() + moves.SAVE_EVERY)
            supervisor.commit(again)
            if agent.state is AgentState.RUNNING:
                supervisor.saving.save(task.id, "timer")
        case "deadline":
            _deadline(supervisor, task, timer, gone)
        case kind:
            _remind(supervisor, task, timer, gone, kind)


def _deadline(
    supervisor: Supervisor, task: PhaseTaskRow, timer: dict[str, Any], gone: Change
) -> None:
    """An optional question takes its default; a required one stays, and reminds."""
    gate = supervisor.records.gate(timer["gate"])
    if gate is None or gate.state is not GateState.PENDING:
        supervisor.commit(gone)
        return
    if gate.is_required or gate.preset is None:
        text = _("the deadline of a question is over: {text}").format(text=gate.text)
        supervisor.commit(
            gone, moves.notice(task.id, "urgent", text, supervisor.clock.now(), gate.id)
        )
        return
    answer(supervisor, task, gate, gate.preset, [gone])


def answer(
    supervisor: Supervisor,
    task: PhaseTaskRow,
    gate: GateRow,
    text: str,
    also: list[Change],
    then: Callable[[], Iterable[Change]] = tuple,
) -> bool:
    """What a person (or the default) said goes to the agent."""
    agent = supervisor.records.agent(task.id)
    assert agent is not None
    said = text
    if gate.category == PERMISSION and "tool" in gate.about:
        is_given = text in (ALLOW, ALLOW_TOOL)
        said = permission(gate.about["tool"], gate.about["what"], is_given=is_given)
        if text not in gate.options:
            said += "\n" + text
    redactor = supervisor.saving.redactor
    told = {
        "type": asking.ANSWER, "text": redactor.hidden(task.id, said + "\n"),
        "questionId": gate.id, "answer": redactor.hidden(task.id, text),
    }  # fmt: skip
    changes = [
        *also,
        *moves.settle_gate(
            gate, Trigger.ANSWER, supervisor.clock.now(), answer=redactor.text(task.id, text)
        ),
        *asking.after(supervisor, task, agent, gate, Trigger.ANSWER, told),
    ]
    is_ours = supervisor.commit(*changes, then=then)
    if is_ours:
        asking.save(supervisor, gate)
    supervisor.reconcile(task.id)
    return is_ours


def _remind(
    supervisor: Supervisor, task: PhaseTaskRow, timer: dict[str, Any], gone: Change, kind: str
) -> None:
    """Something has waited for a person for long."""
    gate = supervisor.records.gate(timer["gate"])
    if gate is None or gate.state is not GateState.PENDING:
        supervisor.commit(gone)
        return
    texts = {
        "remind": _("still waits for you: {text}"),
        "urgent": _("urgent, waits for you: {text}"),
        "escalate": _("has waited for too long: {text}"),
    }
    shown = f"{task.title}: {gate.text}"
    text = texts.get(kind, "{text}").format(text=shown)
    about = {**gate.about, "reminders": gate.about.get("reminders", 0) + 1}
    supervisor.commit(
        gone,
        Note("gate", gate.id, {"about": moves.as_json(about)}),
        moves.notice(task.id, kind, text, supervisor.clock.now(), gate.id),
    )
