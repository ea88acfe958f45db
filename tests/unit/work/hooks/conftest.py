"""A project with hooks, and what Claude Code was really seen to send to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.hooks import Yard
from segue import i18n


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    """A project folder of its own, in English."""
    i18n.use("en")
    yield Yard(tmp_path)
