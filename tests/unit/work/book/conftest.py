"""A book being written by an engine that does nothing by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.book_bench import BookBench
from segue import i18n
from segue.work.book.folder import BookFolder


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BookBench]:
    """A book of three chapters with a writer and a judge, in English."""
    i18n.use("en")
    made = BookBench(tmp_path, monkeypatch)
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> BookFolder:
    """An empty book's folder, in English."""
    i18n.use("en")
    return BookFolder(tmp_path)
