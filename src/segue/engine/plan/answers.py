"""What a person says to an agent that waits: permission to use a tool, and deadlines of answers."""

from __future__ import annotations

from datetime import datetime

from segue.dialects.events import PermissionAsked
from segue.engine import gates, permissions
from segue.engine.outcome import Need
from segue.engine.plan import beginning
from segue.engine.plan.attempts import Attempt
from segue.engine.plan.plan_run import PlanRun
from segue.engine.question_texts import PERMISSION
from segue.errors import AgentError
from segue.store.actors import TIMER, acting

DEADLINE = "deadline"  # by whom a question was answered: no one, in time


def permission_asked(run: PlanRun, attempt: Attempt, asked: PermissionAsked) -> None:
    """The agent wants to use a tool: answered by the rules, or by a person."""
    if not attempt.profile.answers_permissions:
        return
    task = attempt.task.id
    grants = permissions.granted(run.ledger.answered_gates(task, PERMISSION))
    folder, plan = run.job_factory.folder(task), run.file.path
    ruling = permissions.rule(attempt, asked, grants, folder, protected=(plan,))
    run.publish(
        "permission_asked",
        task=task,
        tool=asked.tool,
        what=asked.what,
        verdict=ruling.verdict.value,
    )
    if ruling.question is not None:
        stop_to_ask(run, attempt, ruling.question)
    elif ruling.reply is not None:
        try:
            run.engine.send(attempt.run.id, ruling.reply)
        except AgentError as error:  # it has ended meanwhile, or reads nothing: its end tells more
            run.publish("notice", text=f"{task}: {error}")


@acting(TIMER)
def take_defaults(run: PlanRun) -> None:
    """Optional questions without an answer by the deadline take their default."""
    if run.stopping:
        return
    now = run.clock.now()
    for gate in list(run.ledger.gates.values()):
        if gate.preset is not None and gates.takes_default(gate) and gates.is_over(gate, now):
            run.questions.withdraw(gate.id)
            run.publish(
                "gate_answered", gate=gate.id, task=gate.task, by=DEADLINE, answer=gate.preset
            )
            beginning.go_on_with(run, gate, gate.preset)


def next_deadline(run: PlanRun) -> datetime | None:
    optional = filter(gates.takes_default, run.ledger.gates.values())
    return min((gate.deadline for gate in optional if gate.deadline), default=None)


def stop_to_ask(run: PlanRun, attempt: Attempt, need: Need) -> None:
    """The first question counts: the agent ends, and continues with the answer."""
    if not attempt.has_asked:
        run.events.report(attempt, need)
        run.engine.end_soon(attempt.run.id)
