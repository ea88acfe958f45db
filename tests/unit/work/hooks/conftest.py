"""A project with hooks, and what Claude Code was really seen to send to them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds no folder by itself

from hooks_kit import Yard

from segue import i18n


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    """A project folder of its own, in English."""
    i18n.use("en")
    yield Yard(tmp_path)
