"""A book: a folder with `book.toml`, its chapters and a state file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from segue.engine.kind import FileKind, Skippable
from segue.engine.standing import Known, Standing
from segue.work.folders import BOOK


class BookKind(FileKind):
    name = "book"
    marks = BOOK
    failed_acts = ("unskip",)
    has_own_states = True  # a step stands for its chapter

    def standing(self, path: Path, known: Known) -> Standing:
        from segue.work.book.standing import standing  # noqa: PLC0415 - most folders have none

        return standing(path, known)

    def facts(self, standing: Standing) -> dict[str, Any]:
        from segue.work.book import resuming  # noqa: PLC0415 - most folders have none
        from segue.work.book.standing import facts, in_figures  # noqa: PLC0415

        seen = resuming.look(standing.path)
        return {**facts(seen, standing), "state": in_figures(seen.state)}

    def find_task(self, standing: Standing, name: str) -> Skippable | None:
        from segue.work.book.unskip import find_task  # noqa: PLC0415 - few commands ask

        return find_task(standing, name)
