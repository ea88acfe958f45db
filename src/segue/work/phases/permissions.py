"""An agent of the server wants to use a tool: `engine/permissions.py` says whether it may."""

from __future__ import annotations

from segue.dialects.events import PermissionAsked
from segue.engine import permissions
from segue.engine.question_texts import PERMISSION
from segue.errors import AgentError
from segue.work.phases.attempt import Attempt
from segue.work.phases.supervisor import Supervisor


def asked(supervisor: Supervisor, attempt: Attempt, wanted: PermissionAsked) -> None:
    if not attempt.profile.answers_permissions or attempt.reports:
        return
    answered = supervisor.records.answered_gates(attempt.run.task, PERMISSION)
    grants = permissions.granted(answered)
    may_ask = attempt.run.role == "work"
    ruling = permissions.rule(attempt, wanted, grants, attempt.workspace, may_ask=may_ask)
    if ruling.question is not None:
        attempt.report(ruling.question, supervisor.clock.now())
        supervisor.end(attempt)
    elif ruling.reply is not None:
        try:
            supervisor.engine.send(attempt.run.id, ruling.reply)
        except AgentError:  # it has ended meanwhile: its end tells more
            return
