"""Whether SQLite had to discard what its write-ahead log says.

A frame whose checksum is wrong, and all that follow it, count for SQLite as never written: it says
nothing, and what was committed is gone. The log itself shows it: it has a later commit of the same
generation (its salts) than SQLite took in.

While another process writes, the log is always ahead of what SQLite took in: the frames of a commit
are there before they count. So that is only a suspicion, quick to have; reading the log with its
checksums (`is_broken`) confirms it.
"""

from __future__ import annotations

import os
import struct
import sys
import time
from pathlib import Path

HEADER = struct.Struct(">8I")
FRAME = struct.Struct(">4I")  # page, size of the database (a commit, else 0), salts
FRAME_BYTES = 24
SUMS = struct.Struct(">2I")
MAGIC = 0x377F0682  # its last bit: whether checksums are big-endian
HEADER_IS_BAD = 1 << 31
SALTS = slice(16, 24)  # in the header of the log
LOOKS, BETWEEN_LOOKS_S = 5, 0.02
INDEX_BYTES, FRAMES_TAKEN_IN, INDEX_SALTS = 40, slice(16, 20), slice(32, 40)


def frames_committed(wal: Path) -> int:
    """The number of the last frame that ends a commit of this generation; 0 without any."""
    try:
        with wal.open("rb") as file:
            head = file.read(HEADER.size)
            if len(head) < HEADER.size or not file.peek(1):
                return 0
            magic, _version, page_bytes, _serial, salt_1, salt_2, sum_1, sum_2 = HEADER.unpack(head)
            if magic & ~1 != MAGIC or _checksum(head[:24], magic & 1) != (sum_1, sum_2):
                return HEADER_IS_BAD
            last = number = 0
            while len(frame := file.read(FRAME.size)) == FRAME.size:
                number += 1
                _page, size, *salts = FRAME.unpack(frame)
                if size and salts == [salt_1, salt_2]:
                    last = number
                file.seek(HEADER.size + number * (FRAME_BYTES + page_bytes))
            return last
    except FileNotFoundError:
        return 0


def is_broken(wal: Path) -> bool:
    """Whether it has a commit of this generation that no one can read any more. To be asked while
    nothing is written to it."""
    try:
        data = memoryview(wal.read_bytes())
    except FileNotFoundError:
        return False
    if len(data) <= HEADER.size:
        return False
    magic, _version, page_bytes, _serial, *salts, sum_1, sum_2 = HEADER.unpack(data[: HEADER.size])
    sums = _checksum(data[:24], magic & 1)
    if magic & ~1 != MAGIC or sums != (sum_1, sum_2):
        return True
    is_readable, step = True, FRAME_BYTES + page_bytes
    for at in range(HEADER.size, len(data) - step + 1, step):
        _page, size, *found = FRAME.unpack(data[at : at + FRAME.size])
        if is_readable:
            sums = _checksum(data[at : at + 8], magic & 1, sums)
            sums = _checksum(data[at + FRAME_BYTES : at + step], magic & 1, sums)
            told = SUMS.unpack(data[at + FRAME.size : at + FRAME_BYTES])
            is_readable = found == salts and sums == told
        if not is_readable and size and found == salts:
            return True
    return False


def is_discarded(database: Path) -> bool:
    """Whether SQLite has passed over commits of the log, for a look: the caller has the database
    open, so its index of the log (`-shm`) says how much of which generation was taken in."""
    wal = Path(f"{database}-wal")
    for look in range(LOOKS):  # others may write: what is damaged stays as it is
        if not (_is_ahead(database) and is_broken(wal)):
            return False
        if look < LOOKS - 1:
            time.sleep(BETWEEN_LOOKS_S)
    return True


def _is_ahead(database: Path) -> bool:
    """Whether the log has more commits of its generation than were taken in."""
    try:
        committed = frames_committed(Path(f"{database}-wal"))
        with Path(f"{database}-wal").open("rb") as log:
            salts = log.read(HEADER.size)[SALTS]
        head = os.pread(_index(f"{database}-shm"), INDEX_BYTES, 0)
    except FileNotFoundError:
        return False
    if len(head) < INDEX_BYTES:
        return False
    taken_in = int.from_bytes(head[FRAMES_TAKEN_IN], sys.byteorder)
    is_of_this_generation = committed == HEADER_IS_BAD or head[INDEX_SALTS] == salts
    return is_of_this_generation and committed > taken_in


_INDEXES: dict[tuple[int, int], int] = {}


def _index(path: str) -> int:
    """The file, open for reading. It is never closed: that would drop the locks that SQLite has on
    it in this process, and then another process takes the database for its own alone."""
    status = Path(path).stat()
    key = status.st_dev, status.st_ino
    if key not in _INDEXES:
        _INDEXES[key] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    return _INDEXES[key]


def _checksum(
    data: bytes | memoryview, is_big: int, before: tuple[int, int] = (0, 0)
) -> tuple[int, int]:
    one, two = before
    words = struct.unpack(f"{'>' if is_big else '<'}{len(data) // 4}I", data)
    for first, second in zip(words[::2], words[1::2], strict=True):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two
