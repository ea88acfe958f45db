"""Fixtures of the front end: a desk in memory, and a client of the application on it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds no folder by itself

from front_kit import FakeDesk, Front


@pytest.fixture
def desk() -> FakeDesk:
    return FakeDesk()


@pytest.fixture
def front(desk: FakeDesk) -> Iterator[Front]:
    """The application on the desk in memory, and clients that are let in."""
    made = Front(desk)
    yield made
    made.close()
