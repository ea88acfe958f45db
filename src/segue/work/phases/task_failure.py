"""An unexpected error in the handling of one task: that task fails, the others continue.

Each task is failed once. One that cannot even be failed is set aside: its processes are ended and
nothing more is done about it until the next start. So no error comes again and again.
"""

from __future__ import annotations

import logging

from segue.core.machines import RunState, Trigger
from segue.core.plan import TaskState
from segue.core.serving import AGENT
from segue.engine import gates, outage
from segue.engine.launch import secret_values
from segue.engine.parking import end_park
from segue.errors import Bug
from segue.i18n import _
from segue.store.changes import Change, Drop, stamp
from segue.store.rows import PhaseTaskRow
from segue.work.phases import blocked_tasks, moves
from segue.work.phases.supervisor import Supervisor

TROUBLES_MAX = 3  # that files of one task may make while there is room for others
MASK = "***"
WORDS_MAX = 1_000

logger = logging.getLogger("segue.work.phases")


def about(supervisor: Supervisor, id: str, error: Exception) -> None:
    """What may pass by itself is raised again: then everything waits."""
    if outage.is_trouble(error) and _may_pass(supervisor, id, error):
        raise error
    if id in supervisor.quarantined:
        return
    logger.error(
        "task %s: unexpected error, the task fails", id, exc_info=error, extra={"task": id}
    )
    try:
        _fail(supervisor, id, error)
    except Exception as again:
        if outage.is_trouble(again):
            raise
        supervisor.quarantined.add(id)
        logger.error("task %s: set aside", id, exc_info=again, extra={"task": id})
    for attempt in [a for a in supervisor.attempts.values() if a.run.task == id]:
        supervisor.end(attempt)


def _may_pass(supervisor: Supervisor, id: str, error: Exception) -> bool:
    """A file that only this task cannot write holds up the others a few times, and no longer."""
    if outage.is_of_database(error, supervisor.records.store) or not supervisor.can_write():
        return True
    supervisor.troubles[id] = supervisor.troubles.get(id, 0) + 1
    return supervisor.troubles[id] <= TROUBLES_MAX


def _fail(supervisor: Supervisor, id: str, error: Exception) -> None:
    task = supervisor.records.task(id)
    if task is None:
        return
    text = _("Segue hit an internal error on this task: {why}").format(
        why=_in_words(supervisor, id, error)
    )
    now = supervisor.clock.now()
    if task.state not in (TaskState.PENDING, TaskState.IN_PROGRESS):  # a person decides
        supervisor.commit(moves.notice(id, "trouble", text, now))
        return
    if task.state is TaskState.PENDING:
        task = _assigned(supervisor, task)
    if not supervisor.commit(*_failed(supervisor, task, text)):
        raise Bug(f"task {id} could not be failed")
    supervisor.saving.save(id, "final")


def _assigned(supervisor: Supervisor, task: PhaseTaskRow) -> PhaseTaskRow:
    """What was never begun cannot fail: it begins, without any process."""
    agent = supervisor.records.agent(task.id)
    assert agent is not None
    facts = {"slot_is_free": True, "waits_for": []}
    supervisor.commit(
        moves.move_task(task, Trigger.ASSIGN, facts=facts), moves.move_agent(agent, Trigger.ASSIGN)
    )
    found = supervisor.records.task(task.id)
    assert found is not None
    return found


def _failed(supervisor: Supervisor, task: PhaseTaskRow, text: str) -> list[Change]:
    """Nothing of it runs, waits or reminds any more, in whatever state its agent was."""
    now = supervisor.clock.now()
    sets: dict[str, str | int | float | None] = {"error": text, "failed_at": stamp(now)}
    changes: list[Change] = [moves.move_task(task, Trigger.FAIL, sets=sets, data={"error": text})]
    agent = supervisor.records.agent(task.id)
    for cause in (Trigger.FAIL, Trigger.CANCEL):
        if agent is not None and cause in AGENT.allowed(agent.state):
            changes.append(moves.move_agent(agent, cause, sets={"step": None}))
            break
    for run in supervisor.records.open_runs(task.id):
        changes.append(moves.end_run(run, RunState.CUT_OFF, Trigger.CUT_OFF))
    for gate in supervisor.records.gates_of(task.id):
        changes += gates.withdraw(gate, now)
    if (park := supervisor.records.park_of(task.id)) is not None:
        changes.append(end_park(park, Trigger.CANCEL))
    changes.append(Drop("timers", {"task": task.id}))
    changes.append(moves.notice(task.id, "failed", text, now))
    return changes + blocked_tasks.failed(supervisor.records, task.id, now)


def _in_words(supervisor: Supervisor, id: str, error: Exception) -> str:
    """Its kind and what it says, without what people gave in confidence."""
    text = f"{type(error).__name__}: {error}".removesuffix(": ")[:WORDS_MAX]
    try:
        masks = secret_values(supervisor.saving.given(id))
    except Exception:  # noqa: BLE001 - what cannot be masked is not shown
        return type(error).__name__
    for value in masks:
        text = text.replace(value, MASK)
    return text
