"""Fixtures of the acceptance tests: a project in a temporary folder, and the real command."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds no folder by itself

from acceptance_kit import Box


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    """A project folder of its own; whatever still runs in it afterwards is ended."""
    made = Box(tmp_path)
    yield made
    made.end_everything()
