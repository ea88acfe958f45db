"""What Segue wants a task's entry to show: its mark, its sub-steps, its two comments.

An edit is a value: two edits of one task become one, an edit can be stored as text, and it can be
applied again to another text of the same plan.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from segue.core.plan import TaskState
from segue.plans.comments import Language
from segue.plans.tasklist import Document


@dataclass(frozen=True, slots=True)
class TaskEdit:
    """None, or no entry: that part stays as it is. `retries`: used and limit; None used removes
    the comment. `all_steps` comes before `steps`."""

    mark: TaskState | None = None
    all_steps: bool | None = None
    steps: Mapping[int, bool] = field(default_factory=dict)
    error: str | None = None
    retries: tuple[int | None, int] | None = None
    language: Language = "en"

    def then(self, later: TaskEdit) -> TaskEdit:
        """Both as one: `later` wins where the two differ."""
        is_anew = later.all_steps is not None
        has_comment = later.error is not None or later.retries is not None
        return TaskEdit(
            mark=self.mark if later.mark is None else later.mark,
            all_steps=later.all_steps if is_anew else self.all_steps,
            steps=later.steps if is_anew else {**self.steps, **later.steps},
            error=self.error if later.error is None else later.error,
            retries=self.retries if later.retries is None else later.retries,
            language=later.language if has_comment else self.language,
        )

    def apply(self, document: Document, task: str) -> None:
        """A task that is not in the plan any more needs no edit."""
        if task not in document:
            return
        if self.mark is not None:
            document.set_mark(task, self.mark)
        if self.all_steps is not None:
            document.set_all_steps(task, self.all_steps)
        for n, is_done in self.steps.items():
            document.set_step(task, n, is_done)
        if self.error is not None:
            document.set_error(task, self.error, self.language)
        if self.retries is not None:
            document.set_retries(task, *self.retries, self.language)

    def to_text(self) -> str:
        """All but the mark, which the tables know anyway."""
        told: dict[str, Any] = {
            "all_steps": self.all_steps,
            "steps": list(self.steps.items()),
            "error": self.error,
            "retries": self.retries,
            "language": self.language,
        }
        return json.dumps(told, ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> TaskEdit:
        told = json.loads(text)
        return cls(
            all_steps=told["all_steps"],
            steps=dict(told["steps"]),
            error=told["error"],
            retries=None if told["retries"] is None else tuple(told["retries"]),
            language=told["language"],
        )


NOTHING = TaskEdit()
