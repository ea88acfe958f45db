"""A task list: a Markdown file with marks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from segue.engine.kind import FileKind, Skippable
from segue.engine.standing import Known, Standing
from segue.work.tasklist import standing as tasklist


class TasklistKind(FileKind):
    name = "tasklist"

    def standing(self, path: Path, known: Known) -> Standing:
        return tasklist.standing(path, known)

    def facts(self, standing: Standing) -> dict[str, Any]:
        return tasklist.facts(standing)

    def find_task(self, standing: Standing, name: str) -> Skippable | None:
        from segue.work.tasklist.unskip import find_task  # noqa: PLC0415 - few commands ask

        return find_task(standing, name)
