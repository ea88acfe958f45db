"""What waits for a time on the server, besides limits: deadlines, reminders, checkpoints.

A timer is a row. It goes in the same transaction as what it makes happen, so it fires once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from segue.core.machines import GateState, Trigger
from segue.core.serving import AgentState
from segue.engine import gates, notices, outage
from segue.engine.gates import Reminder, Reminders
from segue.store.actors import TIMER, acting
from segue.store.changes import Change, Drop, Note, instant
from segue.store.rows import SERVER, GateRow, PhaseTaskRow
from segue.work.phases import asking, moves, task_failure
from segue.work.phases.supervisor import Supervisor

logger = logging.getLogger("segue.work.phases")

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
    remind_at = supervisor.reminders.look(supervisor.clock.now())
    return min([*soon, *([remind_at] if remind_at else [])], default=None)


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
        case _:  # an older Segue's reminder
            supervisor.commit(gone)


def _deadline(
    supervisor: Supervisor, task: PhaseTaskRow, timer: dict[str, Any], gone: Change
) -> None:
    """An optional question takes its default; a required one stays, and reminds."""
    gate = supervisor.records.gate(timer["gate"])
    if gate is None or gate.state is not GateState.PENDING:
        supervisor.commit(gone)
        return
    if gate.preset is None or not gates.takes_default(gate):
        late = Reminder(gate, "urgent", is_late=True)
        supervisor.commit(gone)
        supervisor.reminders.tell(late)
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
    said = gates.as_told(gate, text)
    redactor = supervisor.saving.redactor
    told = {
        "type": asking.ANSWER, "text": redactor.hidden(task.id, said + "\n"),
        "questionId": gate.id, "answer": redactor.hidden(task.id, text),
    }  # fmt: skip
    changes = [
        *also,
        *gates.settle(gate, Trigger.ANSWER, supervisor.clock.now(), redactor.text(task.id, text)),
        *asking.after(supervisor, task, agent, gate, Trigger.ANSWER, told),
    ]
    is_ours = supervisor.commit(*changes, then=then)
    if is_ours:
        asking.save(supervisor, gate)
    supervisor.reconcile(task.id)
    return is_ours


def reminders(supervisor: Supervisor) -> Reminders:
    """Tells of gates that have waited for a person for long."""
    store = supervisor.records.store

    def tell(reminder: Reminder) -> None:
        gate, now = reminder.gate, supervisor.clock.now()
        task = supervisor.records.task(gate.task) if gate.task else None
        text = reminder.in_words(f"{task.title}: {gate.text}" if task else gate.text)
        told = notices.notice(
            SERVER, reminder.about, reminder.kind, text, now, task=gate.task or "", gate=gate.id
        )
        count = {**gate.about, "reminders": gate.about.get("reminders", 0) + 1}
        counted = Note("gate", gate.id, {"about": moves.as_json(count)})
        try:
            supervisor.commit(then=notices.once(store, told, counted))
        except Exception as error:
            if outage.is_trouble(error):
                raise
            logger.exception("gate %s: a reminder could not be written", gate.id)

    waiting = supervisor.records.pending_gates
    return Reminders(supervisor.reminder_steps, waiting, tell, is_lazy=True)
