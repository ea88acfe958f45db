"""The questions that Segue itself asks, in the reader's language.

A question is stored with what it is about, and its text is made again from that; the stored text
serves for an agent's own words, and for what an older Segue has stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from segue.i18n import _

DESIGN, ESCALATED, BREAKER = "design", "escalated", "breaker"
PERMISSION = "permission"
BUDGET = "budget"
PLAN_EDIT = "plan_edit"
ACCEPT, REJECT = "accept", "reject"  # what is held

About = Mapping[str, Any]


def asked_about(about: About) -> str | None:
    """The task that one of Segue's own questions is about."""
    found = about.get("checkpoint") or about.get("task")
    return None if found is None else str(found)


def text_of(category: str, about: About) -> str:
    """One of Segue's own questions in the language in use."""
    return _MADE[category](about)


def in_words(category: str, about: About, stored: str) -> str:
    """A stored question in the reader's language."""
    if category not in _MADE:
        return stored
    try:
        return _MADE[category](about)
    except (KeyError, ValueError, TypeError):  # an agent's question, or an older Segue's
        return stored


def _design(about: About) -> str:
    text = _(
        "the design is ready: {path}\nanswer “approve” to continue, or describe what to change"
    )
    return text.format(path=about["path"])


def _escalated(about: About) -> str:
    return _(
        "{id} failed after {n} attempts.\n{error}\nretry: start again from iteration "
        "1\nedit: you fix it yourself, then Segue validates it\nskip: the others "
        "continue without it\nstop: do nothing now"
    ).format(id=about["checkpoint"], n=about["tried"], error=about["error"])


def _breaker(about: About) -> str:
    if about.get("by_hand"):
        return _(
            "you changed chapter {n}, and the judge rejects it ({cause}).\nedit: you "
            "fix the chapter yourself, then the judge scores it\nreplan: the agent "
            "writes the chapter again, your text is kept beside it\nskip: Segue writes "
            "a placeholder instead, your text is kept beside it\nstop: do nothing now"
        ).format(n=about["chapter"], cause=about["cause"])
    return _(
        "the circuit breaker stopped chapter {n} ({cause}).\nedit: you fix the chapter "
        "yourself, then the judge scores it\nreplan: you changed the outline, the "
        "agent writes the chapter again\nskip: Segue writes a placeholder instead\n"
        "stop: do nothing now"
    ).format(n=about["chapter"], cause=about["cause"])


def _budget(about: About) -> str:
    text = _(
        "the budget of ${budget:.2f} is used up (${cost:.2f} spent); continue "
        "with the same amount again?"
    )
    return text.format(budget=about["budget"], cost=about["cost"])


def _permission(about: About) -> str:
    return _("allow it to use {tool}: {what}").format(tool=about["tool"], what=about["what"])


def _plan_edit(about: About) -> str:
    """Edits of a plan that are held, with old and new."""
    parts = [_one_edit(id, edit) for id, edit in about["edits"].items()]
    return "\n".join(
        [
            *parts,
            _(
                "The plan was edited while agents worked, so the edit may be an agent's.\n"
                "accept: use it, now and in later runs\nreject: keep what was accepted before"
            ),
        ]
    )


def _one_edit(id: str, edit: About) -> str:
    if edit["old"] is None:
        head = _("{task} is new: {title}").format(task=id, title=edit["title"])
    elif edit["new"] is None:
        head = _("{task} is gone; put it back into the plan, or accept that").format(task=id)
    else:
        head = _("{task} was changed").format(task=id)
    return f"{head}\n{edit['shown']}".rstrip()


_MADE: dict[str, Callable[[About], str]] = {
    DESIGN: _design,
    ESCALATED: _escalated,
    BREAKER: _breaker,
    BUDGET: _budget,
    PERMISSION: _permission,
    PLAN_EDIT: _plan_edit,
}
