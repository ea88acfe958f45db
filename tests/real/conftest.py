"""Fixtures of the tests with the real programs: a project, a fake model, the real command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

# Importlib mode adds no folder by itself; a project and a terminal are those of the other kit.
from kit.stage import Stage


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """A project of its own on a fake model of its own; whatever is left of it is ended."""
    with Stage(tmp_path, monkeypatch) as made:
        yield made
