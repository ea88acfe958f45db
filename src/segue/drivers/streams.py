"""What flows between an agent and its keeper: output into logs, bytes typed into a pty.

Memory is bounded by one chunk each way, and nothing here ever blocks. Keepers use this file
without the rest of Segue: standard library only.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:  # as in typing, which is slow to import; annotations are never evaluated here
    from segue.drivers.masking import Masker

if TYPE_CHECKING or __name__ != "streams":
    from segue.drivers.records import TAIL_BYTES_MAX
else:  # imported by the keeper, without the package
    from records import TAIL_BYTES_MAX

CHUNK_BYTES = 65536
BIG_CHUNK_BYTES = 1 << 18  # of an output that fills its pipe
BIG_PIPE_BYTES = 1 << 20
TAIL_BYTES = 2_600  # of what was lost: it fits into the block of the end record


class Output:
    """One output of the agent: where it comes from, where it is kept, what was lost.

    With a `masker` the log never has what it takes out, and bytes are counted as it gives them.
    """

    def __init__(
        self, source: int, path: str, bytes_max: int, masker: Masker | None = None
    ) -> None:
        os.set_blocking(source, False)
        self.source = source
        self.log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.masker = masker
        self.chunk_bytes = CHUNK_BYTES
        self.room_bytes = bytes_max
        self.kept_bytes = self.lost_bytes = 0
        self._tail = b""  # the end of what was lost
        self._is_torn = False  # what stands before it is not what stood there

    def copy(self) -> bool | None:
        """Copy a chunk: True, there may be more; False, not now; None, never again."""
        try:
            data = os.read(self.source, self.chunk_bytes)
        except BlockingIOError:
            return False
        if len(data) == CHUNK_BYTES == self.chunk_bytes:
            self.grow()
        self.keep(self.masker.feed(data) if self.masker else data)
        return True if data else None

    @property
    def is_big(self) -> bool:
        return self.chunk_bytes > CHUNK_BYTES

    def grow(self) -> None:
        """It prints faster than it is read: a bigger pipe, so that neither waits for the other so
        often. Few runs need one, and all pipes of a user together are bounded."""
        self.chunk_bytes = BIG_CHUNK_BYTES
        with suppress(OSError):  # a terminal, or a user with many big pipes: the usual size will do
            fcntl.fcntl(self.source, fcntl.F_SETPIPE_SZ, BIG_PIPE_BYTES)

    def finish(self) -> None:
        """Nothing more comes: what the masker held back is no secret, or only a part of one."""
        if self.masker:
            self.keep(self.masker.close())

    def keep(self, data: bytes) -> None:
        wanted = memoryview(data)[: self.room_bytes]
        kept = 0
        try:
            while wanted:
                written = os.write(self.log, wanted)
                wanted = wanted[written:]
                kept += written
        except OSError:
            pass  # a full disk, mostly: counted, and the next chunk is tried again
        self.kept_bytes += kept
        self.room_bytes -= kept
        self._lose(data[kept:], kept)

    def _lose(self, data: bytes, kept: int) -> None:
        if kept and self._tail:
            self._is_torn = True
            self._tail = self._tail.removesuffix(b"\n") + b"\n"
        self.lost_bytes += len(data)
        self._tail += data
        if len(self._tail) > TAIL_BYTES_MAX:
            self._is_torn, self._tail = True, self._tail[-TAIL_BYTES_MAX:]

    def lost_tail(self, bytes_max: int = TAIL_BYTES) -> bytes:
        """The end of what the log does not have, to be read behind it: an agent's report is mostly
        the last that it prints. Whole lines only, where it does not follow what is in the log."""
        tail = self._tail[-bytes_max:]
        if not self._is_torn and len(tail) == len(self._tail):
            return tail
        return b"\n" + tail.partition(b"\n")[2]


class Feed:
    """Bytes from a file or FIFO typed into a pty, never more than one chunk ahead."""

    def __init__(self, source: int, master: int) -> None:
        self.source, self.master = source, master
        self.pending = b""
        self.open = True

    def turn(self) -> None:
        try:
            if not self.pending and self.open:
                self.pending = os.read(self.source, CHUNK_BYTES)
                self.open = bool(self.pending)
            while self.pending:
                self.pending = self.pending[os.write(self.master, self.pending) :]
        except BlockingIOError:
            return
