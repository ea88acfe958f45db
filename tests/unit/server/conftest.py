"""Fixtures of the front end: commands in memory, and a client of the application on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kit.front import FakeCommands, Front


@pytest.fixture
def commands() -> FakeCommands:
    return FakeCommands()


@pytest.fixture
def front(commands: FakeCommands) -> Iterator[Front]:
    """The application on the commands in memory, and clients that are let in."""
    made = Front(commands)
    yield made
    made.close()
