"""What an agent prints does not decide how much memory the server needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.serve import GOOD, House

GROWTH_BYTES_MAX = 8 << 20  # less than what the larger one has more
BUFFERS_BYTES_MAX = 48 << 20


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.end_everything()


def peak_bytes(pid: int) -> int:
    """The most memory that a process had since `forget_peak`."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) * 1024


def forget_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


@pytest.mark.parametrize("shape", ["lines", "one line"])
def test_the_size_of_a_block_costs_the_server_no_memory(house: House, shape: str) -> None:
    """A question of 64 MB needs no more memory than one of 32 MB, is no question, and its agent is
    heard behind it."""
    end = {"lines": "", "one line": " | tr -d '\\n'"}[shape]
    for name, size in (("small", 32 << 20), ("large", 64 << 20)):
        much = f"yes 'question: how much is too much of it?' | head -c {size}{end}"
        house.hand(name, f"{{ {much}; echo; }} | block USER_QUESTION\n{GOOD}")
    server = house.serve()
    idle, peaks = peak_bytes(server.going.pid), []
    for name in ("small", "large"):
        forget_peak(server.going.pid)
        task = server.new(name)
        server.reaches(task, "review")
        assert server.items(f"/tasks/{task}/questions") == []
        assert house.starts(task) == 1
        peaks.append(peak_bytes(server.going.pid))
    assert peaks[1] - peaks[0] < GROWTH_BYTES_MAX, peaks
    assert peaks[1] - idle < BUFFERS_BYTES_MAX, (idle, peaks)
