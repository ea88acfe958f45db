"""Fixtures of unit tests: a plan under way, with an engine that does nothing by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.bench import Bench
from segue import i18n


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A project folder of its own, in English."""
    i18n.use("en")
    made = Bench(tmp_path)
    yield made
    made.close()
