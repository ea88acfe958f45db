"""How far an agent has got within its phase, by its own word: numbered steps, or its own list.

What it keeps in a list of its own says more than the numbers of steps: once there is a list, the
numbers do not count any more.
"""

from __future__ import annotations

from segue.core.machines import Trigger
from segue.core.plan import TaskState
from segue.core.serving import AgentState
from segue.dialects.events import StepDone, TodosListed
from segue.i18n import _
from segue.store.changes import Value
from segue.store.rows import AgentRow, PhaseTaskRow
from segue.work.phases import moves
from segue.work.phases.attempt import Attempt
from segue.work.phases.supervisor import Supervisor

IN_REVIEW = 0.9  # of a phase that is done and not approved yet
NOT_DONE_MAX = 99  # percent of what is not completed


def heard(attempt: Attempt, event: StepDone | TodosListed) -> None:
    """Kept in mind until all of one read is heard: an agent may report many steps at once. What a
    living process reported about an earlier phase is read again after a restart, and ignored."""
    before = attempt.progress
    if attempt.heard < attempt.run.heard:
        return
    match event, before:
        case StepDone(), TodosListed():
            return
        case StepDone(n), StepDone(m) if n <= m:
            return
    attempt.progress, attempt.is_further = event, True


def keep(supervisor: Supervisor, attempt: Attempt) -> None:
    """Noted while it works."""
    event, attempt.is_further = attempt.progress, False
    task, agent = (
        supervisor.records.task(attempt.run.task),
        supervisor.records.agent(attempt.run.task),
    )
    if event is None or task is None or agent is None or attempt.run.role != "work":
        return
    if agent.state is not AgentState.RUNNING:
        return
    sets = _listed(event) if isinstance(event, TodosListed) else _stepped(task, agent, event.n)
    before = {"step": agent.step, "steps_done": agent.steps_done, "steps_total": agent.steps_total}
    if sets != before:
        data = {"step": sets["step"], "done": sets["steps_done"], "total": sets["steps_total"]}
        supervisor.commit(moves.move_agent(agent, Trigger.STEP, sets=sets, data=data))


def _listed(event: TodosListed) -> dict[str, Value]:
    return {
        "step": event.current or None,
        "steps_done": event.done,
        "steps_total": len(event.todos),
    }


def _stepped(task: PhaseTaskRow, agent: AgentRow, n: int) -> dict[str, Value]:
    """Steps are done in their order; what is heard again changes nothing."""
    total = len(task.now_at.steps) if task.now_at and task.now_at.steps else None
    done = max(agent.steps_done if agent.steps_total == total else 0, n)
    return {"step": None, "steps_done": min(done, total or done), "steps_total": total}


AFRESH: dict[str, Value] = {"step": None, "steps_done": 0, "steps_total": None}


def current_step(task: PhaseTaskRow, agent: AgentRow) -> str | None:
    """What it is at: an entry of its list, or a step by its number, from 1, and its name."""
    if task.state is not TaskState.IN_PROGRESS:
        return None
    if agent.step:
        return agent.step
    names = task.now_at.steps if task.now_at else ()
    if names:
        n = min(agent.steps_done + 1, len(names))
        return f"{n}. {_(names[n - 1])}"
    return str(agent.steps_done + 1) if agent.steps_done and not agent.steps_total else None


def of_task(task: PhaseTaskRow, done: int, total: int | None) -> int:
    """Percent: the phases that are done, and how far it is within the current one."""
    if task.state is TaskState.COMPLETED:
        return 100
    if not task.phases:
        return _percent(_share(done, total))
    within = _within(task, done, total)
    return _percent(((task.phase or 1) - 1 + within) / len(task.phases))


def of_phase(task: PhaseTaskRow, done: int, total: int | None) -> int:
    """Percent of the current phase."""
    return 100 if task.state is TaskState.COMPLETED else _percent(_within(task, done, total))


def _within(task: PhaseTaskRow, done: int, total: int | None) -> float:
    share = _share(done, total)
    return max(IN_REVIEW, share) if task.state is TaskState.REVIEW else share


def _share(done: int, total: int | None) -> float:
    """Without a total every step leads half of what is left further."""
    return done / total if total else done / (done + 1)


def _percent(share: float) -> int:
    return min(NOT_DONE_MAX, int(100 * share))
