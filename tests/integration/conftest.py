"""A folder for a server, and what every test of this folder leaves behind: nothing."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from office_kit import House

from segue import i18n


@pytest.fixture
def house(tmp_path: Path) -> House:
    i18n.use("en")
    return House(tmp_path)


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
