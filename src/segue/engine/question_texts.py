"""The questions that Segue itself asks, in the language of whoever looks.

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

About = Mapping[str, Any]


def text_of(category: str, about: About) -> str:
    """One of Segue's own questions in the language in use."""
    return _MADE[category](about)


def in_words(category: str, about: About, stored: str) -> str:
    """A stored question for whoever looks now."""
    if category not in _MADE:
        return stored
    try:
        return _MADE[category](about)
    except (KeyError, ValueError, TypeError):  # an agent's question, or an older Segue's
        return stored


def _design(about: About) -> str:
    text = _("the design is written: {path}\n“approve” goes on; anything else is what to change")
    return text.format(path=about["path"])


def _escalated(about: About) -> str:
    return _(
        "{id} could not be done; it was tried {n} times.\n{error}\n"
        "retry: from iteration 1\n"
        "edit: you mend it by hand, then it is validated\n"
        "skip: the others go on without it\n"
        "stop: nothing is done now"
    ).format(id=about["checkpoint"], n=about["tried"], error=about["error"])


def _breaker(about: About) -> str:
    if about.get("by_hand"):
        return _(
            "you changed chapter {n}, and the judge rejects it ({cause}).\n"
            "edit: you mend the chapter by hand, then it is judged\n"
            "replan: it is written afresh, your text is kept beside it\n"
            "skip: a placeholder takes its place, your text is kept beside it\n"
            "stop: nothing is done now"
        ).format(n=about["chapter"], cause=about["cause"])
    return _(
        "the circuit breaker has stopped chapter {n} ({cause}).\n"
        "edit: you mend the chapter by hand, then it is judged\n"
        "replan: you changed the outline, it is written afresh\n"
        "skip: a placeholder takes its place\n"
        "stop: nothing is done now"
    ).format(n=about["chapter"], cause=about["cause"])


def _budget(about: About) -> str:
    text = _("the budget of ${budget:.2f} is used up (${cost:.2f}); continue with as much again?")
    return text.format(budget=about["budget"], cost=about["cost"])


def _permission(about: About) -> str:
    return _("may it use {tool}: {what}").format(tool=about["tool"], what=about["what"])


_MADE: dict[str, Callable[[About], str]] = {
    DESIGN: _design,
    ESCALATED: _escalated,
    BREAKER: _breaker,
    BUDGET: _budget,
    PERMISSION: _permission,
}
