"""Works without a file of their own: one row for each, which knows its folder."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from segue.store import works
from segue.store.rows import PANES, SERVER
from segue.store.sqlite import Store

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store.open(tmp_path / "segue.db")
    yield made
    made.close()


def rows(store: Store) -> list[tuple[str, str, str]]:
    found = store.all("SELECT id, kind, path FROM works ORDER BY id")
    return [(row["id"], row["kind"], row["path"]) for row in found]


def test_a_work_has_one_row_however_often_it_begins(store: Store, tmp_path: Path) -> None:
    """Each kind its own."""
    for _start in range(2):
        works.enrol(store, SERVER, tmp_path / "project", NOON)
        works.enrol(store, PANES, tmp_path / "state", NOON)
    places = [(PANES, PANES, tmp_path / "state"), (SERVER, SERVER, tmp_path / "project")]
    assert rows(store) == [(id, kind, str(path)) for id, kind, path in places]


def test_a_project_that_moved_is_found_where_it_is_now(store: Store, tmp_path: Path) -> None:
    """The row follows the folder."""
    works.enrol(store, SERVER, tmp_path / "old", NOON)
    works.enrol(store, SERVER, tmp_path / "new", NOON)
    assert rows(store) == [(SERVER, SERVER, str(tmp_path / "new"))]
