"""A feature being developed by an engine that does nothing by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.feature_bench import FeatureBench
from segue import i18n
from segue.work.feature.folder import FeatureFolder


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FeatureBench]:
    """A project with a developer, in English."""
    i18n.use("en")
    made = FeatureBench(tmp_path, monkeypatch)
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> FeatureFolder:
    """An empty project's folder, in English."""
    i18n.use("en")
    return FeatureFolder(tmp_path)
