"""One process on one conversation: the programs themselves do not see to it.

Two processes that continue one conversation both end well, and what one of them did is
lost to it. So a run that continues one, or is seen to have one, holds it by a file with
the claim of its run; it is free again when that run has ended, whatever died meanwhile. The
files are the user's, not a project's: two projects can know the same conversation.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from segue.store import files

GUARD = "guard"
BEGINS_S = 10.0  # within this a run that took a conversation has its claim, or never will
HOLDER_BYTES_MAX = 16 * 1024


@dataclass(frozen=True, slots=True)
class ConversationHolder:
    """A run, with the file that says whether it lives."""

    run: str
    claim: str
    plan: str
    task: str


class Conversations:
    """`is_live` tells whether the run of a claim is under way; None: it was not claimed yet."""

    def __init__(self, folder: Path, is_live: Callable[[Path], bool | None]) -> None:
        self._folder = folder
        self._is_live = is_live

    def take(self, kind: str, id: str, wanting: ConversationHolder) -> ConversationHolder | None:
        """None: it is theirs now. A holder: that run is at work in it."""
        path = self._path(kind, id)
        with self._guarded():
            held = _read(path)
            if held is not None and held.run != wanting.run and self._is_held(path, held):
                return held
            files.replace(path, json.dumps(asdict(wanting)).encode())
        return None

    def _is_held(self, path: Path, by: ConversationHolder) -> bool:
        """By a run that is under way, or is just about to begin: it takes before it starts."""
        is_live = self._is_live(Path(by.claim))
        if is_live is None:
            return abs(time.time() - path.stat().st_mtime) < BEGINS_S
        return is_live

    def release(self, kind: str, id: str, run: str) -> None:
        path = self._path(kind, id)
        with self._guarded():
            held = _read(path)
            if held is not None and held.run == run:
                path.unlink(missing_ok=True)

    def _path(self, kind: str, id: str) -> Path:
        return self._folder / f"{kind}-{sha256(id.encode()).hexdigest()[:32]}"

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Nobody else looks or takes meanwhile."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(self._folder / GUARD, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise files.in_words(error, self._folder) from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)


def folder(environ: Mapping[str, str], otherwise: Path) -> Path:
    """Where a user's conversations are held; `otherwise` for one without a home."""
    if environ.get("XDG_STATE_HOME"):
        return Path(environ["XDG_STATE_HOME"]) / "segue" / "conversations"
    if environ.get("HOME") and os.access(environ["HOME"], os.W_OK):
        return Path(environ["HOME"]) / ".local" / "state" / "segue" / "conversations"
    return otherwise


def _read(path: Path) -> ConversationHolder | None:
    """Who holds it; None where no run does, or the file says nothing."""
    try:
        with path.open("rb") as file:
            told = json.loads(file.read(HOLDER_BYTES_MAX))
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    match told:
        case {"run": str(run), "claim": str(claim), "plan": str(plan), "task": str(task)}:
            return ConversationHolder(run, claim, plan, task)
    return None
