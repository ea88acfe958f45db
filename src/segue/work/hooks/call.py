"""One firing of a hook: the event, its payload, and whose it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from segue.work.hooks.notes import CONVERSATION, Notes
from segue.work.project import Project


@dataclass(frozen=True, slots=True)
class Call:
    """One firing of a hook. `run`: the run of Segue's that it comes from, if it does."""

    event: str
    payload: Mapping[str, Any]
    environ: Mapping[str, str]
    project: Project
    notes: Notes
    now: datetime

    @property
    def run(self) -> str | None:
        return self.environ.get("SEGUE_RUN") or None

    @property
    def conversation(self) -> str | None:
        given = self.payload.get("session_id")
        return given if isinstance(given, str) and CONVERSATION.fullmatch(given) else None

    @property
    def place_file(self) -> Path | None:
        path = self.environ.get("SEGUE_PLACE")
        return Path(path) if path else None

    def text(self, key: str) -> str:
        given = self.payload.get(key)
        return given if isinstance(given, str) else ""

    def log(self, text: str) -> None:
        who = self.run or self.conversation or "?"
        self.notes.log(f"{self.event} {who}: {text}", self.now)
