"""Permission to use a tool: what follows from the verdict, and what a person granted before."""

from __future__ import annotations

from pathlib import Path

from kit.plain_agent import PlainAgent, attempt_of
from segue.dialects.events import Asked, PermissionAsked
from segue.engine.agent import Grant, Verdict
from segue.engine.gates import ALLOW, ALLOW_TOOL, DENY
from segue.engine.permissions import granted, rule
from segue.store.rows import GateRow

ROOT = Path("/p")
BASH = PermissionAsked("r-1", "Bash", "make", {"command": "make"})


def test_what_a_rule_decides_is_answered() -> None:
    """The agent reads the answer, and why it may not; nobody is asked."""
    allowed = rule(attempt_of(PlainAgent(verdict=Verdict.ALLOW)), BASH, [], ROOT)
    denied = rule(attempt_of(PlainAgent(verdict=Verdict.DENY)), BASH, [], ROOT)
    assert (allowed.verdict, allowed.reply) == (Verdict.ALLOW, b"Bash: allowed")
    assert denied.reply == b"Bash: the permission rules of this project deny it"
    assert allowed.question is None and denied.question is None


def test_what_no_rule_decides_is_a_question() -> None:
    """A person can allow this use, or the tool; the attempt keeps what it is about."""
    attempt = attempt_of(PlainAgent())
    ruling = rule(attempt, BASH, [], ROOT)
    assert ruling.reply is None and ruling.question is not None
    assert ruling.question.options == (ALLOW, ALLOW_TOOL, DENY)
    assert attempt.permission == {"tool": "Bash", "what": "make", "input": {"command": "make"}}


def test_one_question_at_a_time() -> None:
    """While a person is asked something, the agent gets no second question and no answer."""
    attempt = attempt_of(PlainAgent())
    attempt.reports.append(Asked("which one?"))
    ruling = rule(attempt, BASH, [], ROOT)
    assert (ruling.verdict, ruling.reply, ruling.question) == (Verdict.ASK, None, None)
    assert attempt.permission == {}


def test_who_may_not_ask_is_denied() -> None:
    """A reviewer of the work, say: what no rule allows is not asked about."""
    ruling = rule(attempt_of(PlainAgent()), BASH, [], ROOT, may_ask=False)
    assert ruling.question is None and ruling.reply is not None


def test_what_a_person_said_before_counts() -> None:
    """An allowed use is granted with its input, an allowed tool with any and with that; a denial is
    not."""
    about = {"tool": "Bash", "input": {"command": "make"}}
    answered = [
        GateRow("g", "T-1", None, "question", "may it?", about=about, answer=answer)
        for answer in (ALLOW, ALLOW_TOOL, DENY, None)
    ]
    grants = granted(answered)
    exact = Grant("Bash", {"command": "make"})
    assert grants == [exact, exact, Grant("Bash")]
    assert rule(attempt_of(PlainAgent()), BASH, grants, ROOT).verdict is Verdict.ALLOW
