"""Fixtures of the acceptance tests: a project in a temporary folder, and the real command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.box import Box


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    """A project folder of its own; whatever still runs in it afterwards is ended."""
    made = Box(tmp_path)
    yield made
    made.end_everything()
