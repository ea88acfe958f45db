"""What a person says to an agent, as the agent reads it."""

from __future__ import annotations

import json

from segue.engine.acts import Verb
from segue.i18n import _
from segue.store.rows import ActRow


def is_message(act: ActRow) -> bool:
    return act.verb == Verb.MESSAGE


def text_of(act: ActRow) -> str:
    return str(act.data.get("text", ""))


def worded(act: ActRow) -> str:
    """In a prompt."""
    return _("A message from {who}:").format(who=act.actor) + f"\n{text_of(act)}\n"


def as_line(act: ActRow) -> str:
    """For an agent that takes one JSON object per line."""
    return json.dumps({"type": "prompt", "text": text_of(act)}, ensure_ascii=False) + "\n"
