"""Whether SQLite had to discard what its write-ahead log says.

A frame whose checksum is wrong, and all that follow it, count for SQLite as never written: it says
nothing, and what was committed is gone. The log itself shows it: it has a later commit of the same
generation (its salts) than SQLite took in.
"""

from __future__ import annotations

import struct
from pathlib import Path

HEADER = struct.Struct(">8I")
FRAME = struct.Struct(">4I")  # page, size of the database (a commit, else 0), salts
FRAME_BYTES = 24
MAGIC = 0x377F0682  # its last bit: whether checksums are big-endian
HEADER_IS_BAD = 1 << 31


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


def _checksum(data: bytes, is_big: int) -> tuple[int, int]:
    one = two = 0
    words = struct.unpack(f"{'>' if is_big else '<'}{len(data) // 4}I", data)
    for first, second in zip(words[::2], words[1::2], strict=True):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two
