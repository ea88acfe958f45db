"""What a person says to an agent that waits: permission to use a tool, and deadlines of answers."""

from __future__ import annotations

from datetime import datetime

from segue.dialects.events import Asked, PermissionAsked
from segue.engine import gates
from segue.engine.gates import ALLOW, ALLOW_TOOL, DENY
from segue.engine.outcome import Need
from segue.engine.question_texts import PERMISSION, text_of
from segue.errors import AgentError
from segue.i18n import _
from segue.store.actors import TIMER, acting
from segue.work.agents.permissions import Grant, Verdict, judge
from segue.work.plans import beginning
from segue.work.plans.attempts import Attempt
from segue.work.plans.plan_run import PlanRun

DEADLINE = "deadline"  # by whom a question was answered: nobody, in time


def permission_asked(run: PlanRun, attempt: Attempt, asked: PermissionAsked) -> None:
    """The agent wants to use a tool: answered by the rules, or by a person."""
    brand = attempt.profile.brand
    if brand is None or brand.allow is None or brand.deny is None:
        return
    root = run.job_factory.folder(attempt.task.id)
    verdict = judge(asked, attempt.profile.settings, _grants(run, attempt.task.id), root)
    run.publish(
        "permission_asked",
        task=attempt.task.id,
        tool=asked.tool,
        what=asked.what,
        verdict=verdict.value,
    )
    if verdict is Verdict.ASK:
        if attempt.has_asked:
            return  # one question at a time: it asks again for this one
        attempt.permission = {"tool": asked.tool, "what": asked.what, "input": dict(asked.input)}
        text = text_of(PERMISSION, attempt.permission)
        question = Asked(text, (ALLOW, ALLOW_TOOL, DENY), DENY, category=PERMISSION)
        stop_to_ask(run, attempt, question)
        return
    if verdict is Verdict.ALLOW:
        answer = brand.allow(asked)
    else:
        answer = brand.deny(asked, _("the permission rules of this project deny it"))
    try:
        run.engine.send(attempt.run.id, answer)
    except AgentError as error:  # it has ended meanwhile, or reads nothing: its end tells more
        run.publish("notice", text=f"{attempt.task.id}: {error}")


def _grants(run: PlanRun, task: str) -> list[Grant]:
    """What a person allowed this task before, newest answer last."""
    found = []
    for about, answer in run.ledger.permissions(task):
        if answer == ALLOW:
            found.append(Grant(about["tool"], about["input"]))
        elif answer == ALLOW_TOOL:
            found.append(Grant(about["tool"]))
    return found


@acting(TIMER)
def take_defaults(run: PlanRun) -> None:
    """Optional questions that nobody answered in time take their default."""
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
    """The first question counts: the agent ends, and goes on with the answer."""
    if not attempt.has_asked:
        run.events.report(attempt, need)
        run.engine.end_soon(attempt.run.id)
