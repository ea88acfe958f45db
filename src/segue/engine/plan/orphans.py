"""Agents of a plan that are at work although the tables know nothing of them.

Segue was killed and then its memory was lost: deleted, cleaned away, damaged. Their tasks must not
begin a second time beside them, so each is followed to its end like any other agent that outlived
Segue. What it printed may be lost with the memory; then only a shell command's exit code counts as
its result, and any other agent's task begins again when it has ended.
"""

from __future__ import annotations

from segue.core.machines import Trigger
from segue.core.plan import TaskState
from segue.drivers import processes
from segue.drivers.living import RUN, LivingAgent, living_agents
from segue.engine.plan.plan_run import PlanRun
from segue.i18n import _

UNDER_WAY = (TaskState.PENDING, TaskState.IN_PROGRESS)


def take_over(run: PlanRun, *, is_memory_new: bool) -> None:
    """Give each such agent a row; recovery adopts it with the others."""
    if not is_memory_new and not run.ledger.is_damaged and not _has_lost_run(run):
        return
    for agent in living_agents(str(run.job_factory.project.root)):
        if _is_ours(run, agent):
            _take_over(run, agent)


def _has_lost_run(run: PlanRun) -> bool:
    """Whether a task is in progress without a run, a park or a question."""
    known = {row.task for row in run.ledger.runs.values()}
    known |= {park.task for park in run.ledger.parks.values()}
    known |= {gate.task for gate in run.ledger.gates.values() if gate.task}
    begun = (task for task, row in run.ledger.tasks.items() if row.state is TaskState.IN_PROGRESS)
    return any(task not in known for task in begun)


def _is_ours(run: PlanRun, agent: LivingAgent) -> bool:
    task = agent.says("SEGUE_TASK")
    return (
        agent.says("SEGUE_PLAN") in ("", str(run.file.path))
        and task in run.graph
        and run.ledger.tasks[task].state in UNDER_WAY
        and not any(agent.run in (row.id, row.verify_job) for row in run.ledger.runs.values())
    )


def _take_over(run: PlanRun, agent: LivingAgent) -> None:
    task = run.graph.task(agent.says("SEGUE_TASK"))
    is_taken = any(row.task == task.id for row in run.ledger.runs.values())
    is_check = ".verify-" in agent.run  # Segue's own, of work that is checked again
    if is_check or is_taken or agent.keeper is None or run.ledger.run(agent.run) is not None:
        processes.kill_by_environ(RUN, agent.run)
        return
    profile = run.profile_named(agent.says("SEGUE_AGENT")) or run.profile_for(task)
    row = run.ledger.add_found_run(agent, profile.name, profile.account)
    if run.ledger.tasks[task.id].state is TaskState.PENDING:
        run.move_task(task.id, TaskState.IN_PROGRESS, Trigger.START)
        run.mark(task.id, TaskState.IN_PROGRESS)
    if not run.job_factory.log(row).exists():
        run.unheard.add(row.id)
    text = _("{task}: its agent is still running, but Segue's record of it was lost")
    run.publish("notice", text=text.format(task=task.id))
