"""What people provided in confidence, taken out of whatever leaves the server.

Agents' output is masked while it is written. This is for all the rest: what came another way, and
what was written down before the value was known as a secret.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping
from typing import Any

from segue.drivers.masking import Masker, forms
from segue.engine.launch import secret_values
from segue.errors import UserError
from segue.store.sqlite import Store

# Members with text written by others; all other members are ours.
WORDED = frozenset(
    {
        "answer", "comments", "currentStep", "default", "description", "diff", "error",
        "feedback", "metadata", "name", "options", "question", "reason", "taskTitle", "text",
        "title", "verification",
    }
)  # fmt: skip

# For private use in Unicode: they do not occur in texts.
OPENS, CLOSES = "\ue000", "\ue001"
HIDDEN = re.compile(f"{OPENS}([^{OPENS}{CLOSES}]+){CLOSES}")

logger = logging.getLogger("segue.redaction")


def revealed(text: str, given: Mapping[str, str], *, is_json: bool = False) -> str:
    """What `Redactor.hidden` hid, as it is given to the agent."""

    def value(found: re.Match[str]) -> str:
        known = given.get(found[1])
        if known is None:
            return found[0]
        return json.dumps(known, ensure_ascii=False)[1:-1] if is_json else known

    return HIDDEN.sub(value, text)


class Redactor:
    """`given`: what was provided for a task, in clear. `renew` after something was."""

    def __init__(self, store: Store, given: Callable[[str], Mapping[str, str]]) -> None:
        self._store, self._given = store, given
        self._tasks: frozenset[str] | None = None
        self._known: dict[str, tuple[tuple[str, ...], tuple[bytes, ...]]] = {}

    def renew(self) -> None:
        self._tasks = None
        self._known.clear()

    def text(self, task: str, text: str) -> str:
        """A text about a task, without its secrets."""
        values, looks_like = self._secrets(task)
        if not looks_like:
            return text
        data = text.encode("utf-8", "surrogatepass")
        if not any(form in data for form in looks_like):
            return text
        masker = Masker(values)
        return (masker.feed(data) + masker.close()).decode("utf-8", "replace")

    def hidden(self, task: str, text: str) -> str:
        """A text for an agent as it may be stored until it is sent: names in the place of values.
        `revealed` is for the sender."""
        if not self._secrets(task)[1]:
            return text
        given = self._given(task)
        names = {value: name for name, value in given.items() if value in secret_values(given)}
        for value in sorted(names, key=len, reverse=True):
            text = text.replace(value, f"{OPENS}{names[value]}{CLOSES}")
        return text

    def shown(self, task: str, found: dict[str, Any]) -> dict[str, Any]:
        """What is shown of a task: the same, without its secrets in anything that was worded."""
        if not self._secrets(task)[1]:
            return found
        return {name: self._member(task, value, name in WORDED) for name, value in found.items()}

    def _member(self, task: str, value: Any, is_worded: bool) -> Any:
        match value:
            case str() if is_worded:
                return self.text(task, value)
            case dict():
                return {
                    name: self._member(task, part, is_worded or name in WORDED)
                    for name, part in value.items()
                }
            case list():
                return [self._member(task, part, is_worded) for part in value]
        return value

    def _secrets(self, task: str) -> tuple[tuple[str, ...], tuple[bytes, ...]]:
        if self._tasks is None:
            rows = self._store.all("SELECT DISTINCT task FROM secrets")
            self._tasks = frozenset(row["task"] for row in rows)
        if task not in self._tasks:
            return (), ()
        if task not in self._known:
            try:
                values = secret_values(self._given(task))
            except UserError as error:  # another key: they are unknown here
                logger.error("task %s: its secrets cannot be masked: %s", task, error)
                values = ()
            looks_like = tuple(form for value in values for form in forms(value))
            self._known[task] = values, looks_like
        return self._known[task]
