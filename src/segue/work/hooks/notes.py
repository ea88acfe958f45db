"""What the hooks remember, in `.segue/hooks/`: when each fired, how often it held an agent back.

Several agents may fire at once, and each hook is a process of its own: an event is a file whose
time counts, a conversation is a file whose length counts. So nothing needs a lock.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from segue.errors import UserError
from segue.store import files
from segue.work.project import Project

LOG_BYTES_MAX = 256 * 1024  # then it is put aside, as the only one
LINE_CHARS_MAX = 500
CONVERSATIONS_MAX = 500
CONVERSATION = re.compile(r"[0-9A-Za-z][\w-]{0,127}", re.ASCII)


class Notes:
    def __init__(self, project: Project) -> None:
        self._project = project
        self._folder = project.memory / "hooks"

    @property
    def log_file(self) -> Path:
        return self._project.logs / "hooks.log"

    def fired(self, event: str, now: datetime) -> None:
        """Noted where it can be: an agent gets its answer all the same."""
        with suppress(OSError, UserError):
            path = self._path(f"fired-{event}")
            path.touch()
            os.utime(path, (now.timestamp(), now.timestamp()))

    def last_fired(self, event: str) -> datetime | None:
        try:
            at_s = (self._folder / f"fired-{event}").stat().st_mtime
        except OSError:
            return None
        return datetime.fromtimestamp(at_s, UTC)

    def times_held(self, conversation: str) -> int:
        """How often this conversation was kept from stopping."""
        try:
            return (self._folder / f"held-{conversation}").stat().st_size
        except FileNotFoundError:
            return 0

    def count_held(self, conversation: str) -> None:
        self._forget_old()
        with open(self._path(f"held-{conversation}"), "ab", opener=files.private) as file:
            file.write(b".")

    def _forget_old(self) -> None:
        held = sorted(self._folder.glob("held-*"), key=lambda path: path.stat().st_mtime)
        for path in held[: max(0, len(held) - CONVERSATIONS_MAX + 1)]:
            path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        if not self._folder.exists():
            self._project.prepare_memory()
            self._folder.mkdir(mode=0o700, exist_ok=True)
        return self._folder / name

    def log(self, text: str, now: datetime) -> None:
        """One line, in one write. A failure to write it no longer matters."""
        said = " ".join(text.split())[:LINE_CHARS_MAX]
        line = f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ} {said}\n"
        with suppress(OSError, UserError):
            if not self.log_file.parent.exists():
                self._project.prepare_memory()
                self.log_file.parent.mkdir(mode=0o700, exist_ok=True)
            with suppress(FileNotFoundError):
                if self.log_file.stat().st_size > LOG_BYTES_MAX:
                    self.log_file.replace(self.log_file.with_suffix(".log.1"))
            with open(self.log_file, "ab", opener=files.private) as file:
                file.write(line.encode("utf-8", "replace"))
