"""What every test of this folder leaves behind: nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def no_agent_lives_on(tmp_path: Path) -> Iterator[None]:
    """A server that stops lets its agents go on: those of a test end with it."""
    yield
    mark = f"SEGUE_PROJECT={tmp_path}".encode()
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        with suppress(OSError):
            pairs = (process / "environ").read_bytes().split(b"\0")
            if any(pair.startswith(mark) for pair in pairs):
                os.kill(int(process.name), signal.SIGKILL)
