"""Attacks: each file tries to break one promise of docs/security.md, with real commands.

The agents are commands that obey a stranger: they do what a program of the same user can do.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.attack import Stranger
from kit.box import Box
from kit.serve import GOOD, House


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    made = Box(tmp_path)
    yield made
    made.end_everything()


@pytest.fixture
def stranger(box: Box) -> Stranger:
    return Stranger(box)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    made.hand("a", GOOD)
    yield made
    made.end_everything()
