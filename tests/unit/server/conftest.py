"""Fixtures of the front end: a desk in memory, and a client of the application on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kit.front import FakeDesk, Front


@pytest.fixture
def desk() -> FakeDesk:
    return FakeDesk()


@pytest.fixture
def front(desk: FakeDesk) -> Iterator[Front]:
    """The application on the desk in memory, and clients that are let in."""
    made = Front(desk)
    yield made
    made.close()
