"""May an agent of the server use a tool? By the rules of its settings, else by asking a person."""

from __future__ import annotations

from segue.dialects.events import Asked, PermissionAsked
from segue.engine.gates import ALLOW, ALLOW_TOOL, DENY
from segue.engine.question_texts import PERMISSION, text_of
from segue.errors import AgentError
from segue.i18n import _
from segue.work.agents.permissions import Grant, Verdict, judge
from segue.work.phases.attempt import Attempt
from segue.work.phases.damaged_rows import gate_row
from segue.work.phases.supervisor import Supervisor


def asked(supervisor: Supervisor, attempt: Attempt, wanted: PermissionAsked) -> None:
    brand = attempt.profile.brand
    if brand is None or brand.allow is None or brand.deny is None or attempt.reports:
        return
    grants = _grants(supervisor, attempt.run.task)
    verdict = judge(wanted, attempt.profile.settings, grants, attempt.workspace)
    if verdict is Verdict.ASK and attempt.run.role == "work":
        attempt.permission = {
            "tool": wanted.tool, "what": wanted.what, "input": dict(wanted.input),
        }  # fmt: skip
        text = text_of(PERMISSION, attempt.permission)
        asked = Asked(text, (ALLOW, ALLOW_TOOL, DENY), DENY, category=PERMISSION)
        attempt.report(asked, supervisor.clock.now())
        supervisor.end(attempt)
        return
    if verdict is Verdict.ALLOW:
        answer = brand.allow(wanted)
    else:
        answer = brand.deny(wanted, _("the permission rules of this project deny it"))
    try:
        supervisor.engine.send(attempt.run.id, answer)
    except AgentError:  # it has ended meanwhile: its end tells more
        return


def _grants(supervisor: Supervisor, task: str) -> list[Grant]:
    """What a person allowed this task before."""
    found = []
    sql = "SELECT * FROM gates WHERE task = ? AND category = ? AND state = 'answered'"
    for row in supervisor.records.store.all(sql, task, PERMISSION):
        gate = gate_row(row)
        if gate.answer == ALLOW:
            found.append(Grant(gate.about["tool"], gate.about["input"]))
        elif gate.answer == ALLOW_TOOL:
            found.append(Grant(gate.about["tool"]))
    return found
