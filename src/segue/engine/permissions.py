"""May an agent use a tool? By the rules of its settings, else by asking a person."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from segue.dialects.events import Asked, PermissionAsked
from segue.engine.agent import Grant, Verdict
from segue.engine.attempt import Attempt
from segue.engine.gates import ALLOW, ALLOW_TOOL, DENY
from segue.engine.question_texts import PERMISSION, text_of
from segue.i18n import _
from segue.store.rows import GateRow


@dataclass(frozen=True, slots=True)
class Ruling:
    """What follows: the agent reads a reply, or a person is asked first."""

    verdict: Verdict
    reply: bytes | None = None
    question: Asked | None = None


def rule(
    attempt: Attempt,
    wanted: PermissionAsked,
    grants: Iterable[Grant],
    root: Path,
    *,
    may_ask: bool = True,
    protected: Collection[Path] = (),
) -> Ruling:
    """Of an agent that reads the answer. Where it may not ask, what no rule allows is denied; what
    it asks is kept in `attempt.permission`. A second question waits: it asks again. `protected`:
    files that no rule allows it to write."""
    agent = attempt.profile
    verdict = agent.may_use(wanted, grants, root, protected)
    if verdict is Verdict.ASK and may_ask:
        if attempt.has_asked:
            return Ruling(verdict)
        attempt.permission = {"tool": wanted.tool, "what": wanted.what, "input": dict(wanted.input)}
        text = text_of(PERMISSION, attempt.permission)
        question = Asked(text, (ALLOW, ALLOW_TOOL, DENY), DENY, category=PERMISSION)
        return Ruling(verdict, question=question)
    is_allowed = verdict is Verdict.ALLOW
    refusal = None if is_allowed else _("the permission rules of this project deny it")
    return Ruling(verdict, reply=agent.permission_reply(wanted, refusal))


def granted(answered: Iterable[GateRow]) -> list[Grant]:
    """What a person allowed a task before, by the gates that asked: a use of a tool, or that and
    any other use."""
    found = []
    for gate in answered:
        if gate.answer in (ALLOW, ALLOW_TOOL) and gate.about:
            found.append(Grant(gate.about["tool"], gate.about["input"]))
            found += [Grant(gate.about["tool"])] if gate.answer == ALLOW_TOOL else []
    return found
