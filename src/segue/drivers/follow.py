"""Follow a growing file from any offset: a run's log, read by whoever supervises it now."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from segue.drivers.inotify import ANYTHING, FolderWatch

CHUNK_BYTES = 65536
LOOK_S = 0.2  # at a file that was removed while it is written: no folder tells of it any more


class Follower:
    """Hands over a file's bytes as they come, a chunk at a time, each byte once.

    The file need not exist yet. `offset` is where the next byte is read; while `on_bytes` runs,
    the bytes it was given are behind it. Between two chunks the loop gets its turn.
    """

    def __init__(
        self,
        watch: FolderWatch,
        path: Path,
        on_bytes: Callable[[bytes], None],
        offset: int = 0,
    ) -> None:
        self._watch = watch
        self._path = path
        self._on_bytes = on_bytes
        self._offset = offset
        self._fd: int | None = None
        self._turn: asyncio.Handle | None = None
        self._is_started = False

    @property
    def offset(self) -> int:
        return self._offset

    def start(self) -> None:
        """Begin in the loop's next turn; what is there already comes first."""
        self._is_started = True
        self._watch.watch(self._path.parent, self._on_change)
        self._schedule()

    def drain(self) -> None:
        """Read to the end at once: for a file that will not grow any more."""
        while self._read_chunk():
            pass

    def stop(self) -> None:
        """No bytes come after this; it cannot be started again."""
        if self._is_started:
            self._is_started = False
            self._watch.unwatch(self._path.parent, self._on_change)
        if self._turn:
            self._turn.cancel()
            self._turn = None
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _on_change(self, name: str) -> None:
        if name in (ANYTHING, self._path.name):
            self._schedule()

    def _schedule(self) -> None:
        if self._turn is None:
            self._turn = asyncio.get_running_loop().call_soon(self._take_turn)

    def _take_turn(self) -> None:
        self._turn = None
        has_more = self._read_chunk()
        if not self._is_started:
            return
        if has_more:
            self._schedule()
        elif self._fd is not None and not os.fstat(self._fd).st_nlink:
            self._turn = asyncio.get_running_loop().call_later(LOOK_S, self._take_turn)

    def _read_chunk(self) -> bool:
        """Hand over one chunk; False at the end of the file."""
        if self._fd is None:
            try:
                if os.stat(self._path).st_size <= self._offset:  # noqa: PTH116 - for every run
                    return False
                self._fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return False
        data = os.pread(self._fd, CHUNK_BYTES, self._offset)
        if data:
            self._offset += len(data)
            self._on_bytes(data)
        return bool(data)
