"""Follow a growing file from any offset: a run's log, read by its current supervisor."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable
from pathlib import Path

from segue.drivers.inotify import ANYTHING, FolderWatch

CHUNK_BYTES = 16_384  # of short lines this takes ten milliseconds to read
SKIM_BYTES = 1 << 20  # of what is passed over at once, far behind: a millisecond
FAR_BEHIND_BYTES = 256 * 1024
END_BYTES = 64 * 1024  # the end of a file is always read line by line
LOOK_S = 0.2  # at a file that was removed while it is written: no folder event reports it any more


class Turns:
    """One slice in each turn of the loop, for every reader: however much there is to read, and in
    however many files, everything else gets its turn after each slice."""

    def __init__(self) -> None:
        self._wanted: deque[Callable[[], None]] = deque()
        self._handle: asyncio.Handle | None = None

    def ask(self, read: Callable[[], None]) -> None:
        """Call it when it is its turn."""
        self._wanted.append(read)
        if self._handle is None:
            self._handle = asyncio.get_running_loop().call_soon(self._give)

    def _give(self) -> None:
        read = self._wanted.popleft()
        loop = asyncio.get_running_loop()
        self._handle = loop.call_soon(self._give) if self._wanted else None
        read()

    async def mine(self) -> None:
        """Wait for one's turn."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ask(lambda: None if turn.done() else turn.set_result(None))
        await turn


class Follower:
    """Hands over a file's bytes as they come, a chunk at a time, each byte once.

    The file need not exist yet. `offset` is where the next byte is read; while `on_bytes` runs,
    the bytes it was given are behind it. Those who share `turns` read one chunk in each turn of
    the loop, all together. `skim` is offered big pieces where there is very much to read; False:
    it has taken nothing in, and `on_bytes` gets them.
    """

    def __init__(
        self,
        watch: FolderWatch,
        path: Path,
        on_bytes: Callable[[bytes], object],
        offset: int = 0,
        turns: Turns | None = None,
        skim: Callable[[bytes], bool] | None = None,
    ) -> None:
        self._watch = watch
        self._path = path
        self._on_bytes = on_bytes
        self._offset = offset
        self._turns = turns or Turns()
        self._skim = skim
        self._read_until = 0  # what is before it was offered to `skim`, and refused
        self._fd: int | None = None
        self._look: asyncio.TimerHandle | None = None
        self._is_asked = False
        self._is_started = False

    @property
    def offset(self) -> int:
        return self._offset

    def start(self) -> None:
        """Begin in the loop's next turn; what is there already comes first."""
        self._is_started = True
        self._watch.watch(self._path.parent, self._on_change)
        self._schedule()

    async def drain(self) -> None:
        """Read to where the file ends now, and follow it no more: it will not grow. Others get
        their turn after each chunk."""
        self._rest()
        end = self._size()
        while self._offset < end:
            await self._turns.mine()
            if not self._read_chunk():
                return

    def stop(self) -> None:
        """No bytes come after this; it cannot be started again."""
        self._rest()
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _rest(self) -> None:
        if self._is_started:
            self._is_started = False
            self._watch.unwatch(self._path.parent, self._on_change)
        if self._look:
            self._look.cancel()
            self._look = None

    def _on_change(self, name: str) -> None:
        if name in (ANYTHING, self._path.name):
            self._schedule()

    def _schedule(self) -> None:
        self._look = None
        if not self._is_asked:
            self._is_asked = True
            self._turns.ask(self._take_turn)

    def _take_turn(self) -> None:
        self._is_asked = False
        if not self._is_started:
            return
        has_more = self._read_chunk()
        if not self._is_started:
            return
        if has_more:
            self._schedule()
        elif self._fd is not None and not os.fstat(self._fd).st_nlink:
            self._look = asyncio.get_running_loop().call_later(LOOK_S, self._schedule)

    def _size(self) -> int:
        try:
            return os.stat(self._path if self._fd is None else self._fd).st_size  # noqa: PTH116 - for every run
        except FileNotFoundError:
            return 0

    def _read_chunk(self) -> bool:
        """Hand over one chunk; False at the end of the file."""
        if self._fd is None:
            if self._size() <= self._offset:
                return False
            try:
                self._fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return False
        if self._skim_chunk(self._fd):
            return True
        data = os.pread(self._fd, CHUNK_BYTES, self._offset)
        if data:
            self._offset += len(data)
            self._on_bytes(data)
        return bool(data)

    def _skim_chunk(self, fd: int) -> bool:
        """Pass over a big piece, if there is one and nothing in it matters."""
        if self._skim is None or self._offset < self._read_until:
            return False
        left = os.fstat(fd).st_size - self._offset
        if left < FAR_BEHIND_BYTES:
            return False
        data = os.pread(fd, min(SKIM_BYTES, left - END_BYTES), self._offset)
        is_passed = self._skim(data)
        if is_passed:
            self._offset += len(data)
        else:
            self._read_until = self._offset + len(data)
        return is_passed
