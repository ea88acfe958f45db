"""The files of a run: what it printed, what was checked, what its executor and tools leave."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

LOG_BYTES_READ = 256 * 1024


class Folders(Protocol):
    """Where a project is, and where what Segue keeps of it lies."""

    @property
    def root(self) -> Path: ...

    @property
    def memory(self) -> Path: ...

    @property
    def database(self) -> Path: ...

    @property
    def locks(self) -> Path: ...

    @property
    def logs(self) -> Path: ...

    @property
    def evidence(self) -> Path: ...

    @property
    def runs(self) -> Path: ...

    def relative(self, path: Path) -> str:
        """A path as people of this project call it."""
        ...


@dataclass(frozen=True, slots=True)
class RunFiles:
    """`logs`: what agents print; `evidence`: what checks print, where no agent writes; `runs`:
    what is needed only while a run lives."""

    logs: Path
    evidence: Path
    runs: Path

    @classmethod
    def of(cls, folders: Folders) -> RunFiles:
        return cls(folders.logs, folders.evidence, folders.runs)

    def log(self, run: str) -> Path:
        return self.logs / f"{run}.log"

    def err(self, run: str) -> Path:
        """Where a structured agent's standard error goes: between its lines it would break them."""
        return self.logs / f"{run}.err.log"

    def check_log(self, run: str) -> Path:
        return self.evidence / f"{run}.log"

    def check_record(self, run: str) -> Path:
        """What was checked, and how it came out."""
        return self.evidence / f"{run}.json"

    def tool_calls(self, run: str) -> Path:
        """What the agent reports by tool call."""
        return self.runs / f"{run}.told"

    def place(self, run: str) -> Path:
        """Where a run's place is kept for an agent that has lost its context."""
        return self.runs / f"{run}.place"

    def script_place(self, conversation: str) -> Path:
        """How far the player of scenarios has come in a conversation."""
        return self.runs / f"{conversation}.place"

    def network_log(self, run: str) -> Path:
        """What the sandbox's proxy let through and refused."""
        return self.logs / f"{run}.network.log"

    @property
    def memory(self) -> tuple[Path, ...]:
        """The folders that no agent sees, but for its own files in them."""
        return tuple({folder.parent: None for folder in (self.logs, self.evidence, self.runs)})

    def claim(self, run: str) -> Path:
        return self.runs / f"{run}.claim"

    def said_at(self, run: str, now: datetime) -> datetime:
        """When the agent last said something: now, but for one whose owner had died."""
        said_s = []
        for path in (self.log(run), self.err(run)):
            with contextlib.suppress(OSError):
                said_s.append(path.stat().st_mtime)
        return min(now, datetime.fromtimestamp(max(said_s), UTC)) if said_s else now

    def tail(self, run: str, bytes_max: int) -> str:
        """The end of what the agent printed, on either stream, as it came; whole lines."""
        try:
            with self.log(run).open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - bytes_max))
                data = file.read(bytes_max)
        except FileNotFoundError:
            return ""
        if size > bytes_max:
            data = data.partition(b"\n")[2] or data
        return data.decode("utf-8", "replace")

    def both_ends(self, run: str) -> list[bytes]:
        """The beginning of a log, where a conversation is named, and its end."""
        try:
            with self.log(run).open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(0)
                first = file.read(LOG_BYTES_READ)
                if size <= LOG_BYTES_READ:
                    return [first]
                file.seek(max(LOG_BYTES_READ, size - LOG_BYTES_READ))
                return [first, b"\n", file.read(LOG_BYTES_READ)]
        except FileNotFoundError:
            return []
