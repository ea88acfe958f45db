"""A folder for a server, and what every test of this folder leaves behind: nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.app import House
from kit.processes import environs, signal_all
from segue import i18n


@pytest.fixture
def house(tmp_path: Path) -> House:
    i18n.use("en")
    return House(tmp_path)


@pytest.fixture(autouse=True)
def no_agent_lives_on(tmp_path: Path) -> Iterator[None]:
    """A server that stops lets its agents go on: those of a test end with it."""
    yield
    mine = {
        pid
        for pid, environ in environs().items()
        if environ.get("SEGUE_PROJECT", "").startswith(str(tmp_path))
    }
    signal_all(mine)
