"""The memory of a project: one function changes states, all or nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from segue.engine.clock import SystemClock
from segue.engine.ledger import Ledger
from segue.errors import Bug, UserError
from segue.store import sqlite
from segue.store.changes import Add, Change, Move, Note, instant, stamp
from segue.store.sqlite import Store

NOW = datetime(2025, 3, 1, 12, 0, 0, 250, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "segue.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with closing(Store.open(path)) as opened:
        yield opened


def a_plan(name: str = "p") -> Add:
    return Add("work", name, "pending", {"path": f"/plans/{name}.md", "kind": "tasklist"})


def a_task(key: str, plan: str = "p") -> Add:
    row = {"work": plan, "key": key, "title": f"Do {key}"}
    return Add("task", f"{plan}/{key}", "pending", row)


def start(key: str, **more: object) -> Move:
    return Move("task", f"p/{key}", "pending", "in_progress", "start", **more)  # type: ignore[arg-type]


def state(store: Store, key: str) -> str:
    row = store.one("SELECT state FROM tasks WHERE id = ?", f"p/{key}")
    assert row is not None
    return str(row["state"])


def dump(store: Store) -> list[str]:
    with closing(sqlite3.connect(store.path)) as other:
        return list(other.iterdump())


def test_a_move_swaps_the_state_counts_the_version_and_is_journalled(store: Store) -> None:
    """One move changes the state, its version and its time, and leaves one journal row."""
    assert store.move(a_plan(), a_task("T-1"), at=NOW)
    assert store.move(start("T-1", sets={"error": "none"}, data={"why": "자리"}), at=LATER)
    row = store.one("SELECT * FROM tasks WHERE id = 'p/T-1'")
    assert row is not None
    assert (row["state"], row["version"], row["error"]) == ("in_progress", 2, "none")
    assert (row["created_at"], row["updated_at"]) == (stamp(NOW), stamp(LATER))
    last = store.all("SELECT * FROM journal WHERE entity_id = 'p/T-1' ORDER BY seq")[-1]
    assert dict(last) | {"seq": 0, "prev": "", "hash": ""} == {
        "seq": 0,
        "prev": "",
        "hash": "",
        "at": stamp(LATER),
        "entity": "task",
        "entity_id": "p/T-1",
        "from_state": "pending",
        "to_state": "in_progress",
        "cause": "start",
        "data": '{"why": "자리"}',
        "work": "p",
        "actor": "segue",
        "via": "engine",
    }


def test_an_added_entity_is_journalled_from_nothing(store: Store) -> None:
    """The first journal row of an entity has no state before it."""
    store.move(a_plan(), at=NOW)
    rows = [dict(row) for row in store.all("SELECT * FROM journal")]
    assert [(r["from_state"], r["to_state"], r["cause"]) for r in rows] == [
        (None, "pending", "add")
    ]


@pytest.mark.parametrize("losing", ["state", "version", "missing", "twice", "note"])
def test_one_change_that_loses_undoes_all_of_its_move(store: Store, losing: str) -> None:
    """Whatever change of a move cannot be made, none of the others is, and no journal row."""
    store.move(a_plan(), a_task("T-1"), a_task("T-2"), at=NOW)
    losers: dict[str, Change] = {
        "state": Move("task", "p/T-2", "in_progress", "completed", "complete"),
        "version": start("T-2", version=7),
        "missing": start("T-9"),
        "twice": a_task("T-1"),
        "note": Note("task", "p/T-9", {"mark": "pending"}),
    }
    before = dump(store)
    assert store.move(start("T-1"), a_task("T-3"), losers[losing], at=LATER) is False
    assert dump(store) == before
    assert store.move(start("T-1"), at=LATER) is True


def test_the_version_is_compared_where_it_is_given(store: Store) -> None:
    """The same state with another version is somebody else's; the right version wins."""
    store.move(a_plan(), a_task("T-1"), at=NOW)
    store.move(start("T-1"), at=NOW)
    park = Move("task", "p/T-1", "in_progress", "in_progress", "park", version=1)
    assert store.move(park, at=NOW) is False
    park = Move("task", "p/T-1", "in_progress", "in_progress", "park", version=2)
    assert store.move(park, at=NOW) is True
    assert store.move(park, at=NOW) is False


@pytest.mark.parametrize(
    ("entity", "before", "to", "cause"),
    [
        ("task", "skipped", "failed", "fail"),
        ("task", "pending", "in_progress", "complete"),
        ("task", "pending", "nowhere", "start"),
        ("work", "finished", "running", "finish"),
    ],
)
def test_an_illegal_transition_is_loud_and_writes_nothing(
    store: Store, entity: str, before: str, to: str, cause: str
) -> None:
    """A move that the machine's table does not have raises Bug; what came with it is undone."""
    store.move(a_plan(), a_task("T-1"), at=NOW)
    found = dump(store)
    name = "p" if entity == "work" else "p/T-1"
    with pytest.raises(Bug, match="illegal"):
        store.move(a_task("T-2"), Move(entity, name, before, to, cause), at=LATER)
    assert dump(store) == found
    assert store.move(a_task("T-2"), at=LATER), "the store works on after a bug"


def test_a_note_changes_a_fact_and_is_not_journalled(store: Store) -> None:
    """A note writes its columns and leaves state, version and journal alone."""
    store.move(a_plan(), a_task("T-1"), at=NOW)
    rows = len(store.all("SELECT * FROM journal"))
    assert store.move(Note("task", "p/T-1", {"mark": "pending"}), at=LATER)
    row = store.one("SELECT mark, state, version FROM tasks")
    assert row is not None
    assert tuple(row) == ("pending", "pending", 1)
    assert len(store.all("SELECT * FROM journal")) == rows


def test_a_note_cannot_change_a_state(store: Store) -> None:
    """States change by Move alone: a note that names the state is a bug and writes nothing."""
    store.move(a_plan(), a_task("T-1"), at=NOW)
    with pytest.raises(Bug):
        store.move(Note("task", "p/T-1", {"state": "completed"}), at=LATER)
    assert state(store, "T-1") == "pending"


def test_foreign_keys_hold(store: Store) -> None:
    """A task of a plan that is not there is a bug, and nothing of its move is written."""
    with pytest.raises(Bug):
        store.move(a_plan("q"), a_task("T-1", plan="p"), at=NOW)
    assert store.all("SELECT * FROM works") == []
    assert store.all("SELECT * FROM journal") == []


def test_it_is_kept_safely(store: Store) -> None:
    """The write-ahead log, full synchronisation and foreign keys are on."""
    found = [
        store.all(f"PRAGMA {name}")[0][0]
        for name in ("journal_mode", "synchronous", "foreign_keys")
    ]
    assert found == ["wal", 2, 1]


def test_what_was_moved_is_there_when_it_is_opened_again(path: Path) -> None:
    """Opening twice migrates once and loses nothing."""
    with closing(Store.open(path)) as store:
        store.move(a_plan(), a_task("T-1"), at=NOW)
    with closing(Store.open(path)) as store:
        assert state(store, "T-1") == "pending"
        assert len(store.all("SELECT * FROM journal")) == 2


def test_a_reader_finds_nothing_before_there_is_a_memory(path: Path) -> None:
    """Looking makes no file; an empty file is no memory either."""
    assert Store.open_readonly(path) is None
    assert not path.exists()
    path.touch()
    assert Store.open_readonly(path) is None
    assert path.read_bytes() == b""


def test_a_reader_sees_what_is_committed_and_cannot_write(store: Store, path: Path) -> None:
    """A second connection for looking reads beside the writer; a write through it is told."""
    store.move(a_plan(), a_task("T-1"), at=NOW)
    reader = Store.open_readonly(path)
    assert reader is not None
    with closing(reader):
        assert state(reader, "T-1") == "pending"
        store.move(start("T-1"), at=LATER)
        assert state(reader, "T-1") == "in_progress"
        with pytest.raises(UserError) as caught:
            reader.move(start("T-1"), at=LATER)
    assert caught.value.problem.code == "read_only"


@pytest.mark.parametrize("look", [Store.open, Store.open_readonly])
def test_a_newer_database_is_told_and_not_touched(path: Path, look: object) -> None:
    """A schema of a later version is refused in words, byte for byte untouched."""
    Store.open(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 999")
    before = path.read_bytes()
    with pytest.raises(UserError) as caught:
        look(path)  # type: ignore[operator]
    problem = caught.value.problem
    assert (problem.code, problem.file) == ("newer_database", str(path))
    assert "999" in problem.message
    assert problem.hint
    assert path.read_bytes() == before


@pytest.mark.parametrize("look", [Store.open, Store.open_readonly])
def test_a_file_that_is_no_database_is_told_and_not_touched(path: Path, look: object) -> None:
    """Garbage in the place of the database is called damaged, with what to do."""
    garbage = b"this was a database once\n" * 400
    path.write_bytes(garbage)
    with pytest.raises(UserError) as caught:
        look(path)  # type: ignore[operator]
    problem = caught.value.problem
    assert (problem.code, problem.file) == ("database_damaged", str(path))
    assert problem.hint
    assert path.read_bytes() == garbage


@pytest.mark.parametrize("sql", ["SELECT * FROM works", "SELECT path, kind FROM works"])
def test_letters_that_nobody_wrote_are_told_as_damage(path: Path, sql: str) -> None:
    """A bit that flipped in a text makes it no text any more."""
    row = {"path": "/x/PLAN.md", "kind": "tasklist"}
    with closing(Store.open(path)) as store:
        assert store.move(Add("work", "p", "pending", row), at=NOW)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    path.write_bytes(path.read_bytes().replace(b"tasklist", b"taskli\xf3t"))
    with closing(Store.open(path)) as store, pytest.raises(UserError) as caught:
        store.all(sql)
    assert caught.value.problem.code == "database_damaged"


def test_a_row_that_nobody_wrote_is_told_as_damage(path: Path) -> None:
    """A state that there is not."""
    row = {"path": "/x/PLAN.md", "kind": "tasklist"}
    with closing(Store.open(path)) as store:
        assert store.move(Add("work", "p", "finishee", row), at=NOW)
        with pytest.raises(UserError) as caught:
            Ledger(store, SystemClock(), Path("/x/PLAN.md"), "tasklist")
    assert caught.value.problem.code == "database_damaged"
    assert caught.value.problem.file == str(path)


def test_a_damaged_page_is_told(path: Path) -> None:
    """A database with a good head and broken pages behind it is called damaged, not a bug."""
    with closing(Store.open(path)) as store:
        store.move(a_plan(), *(a_task(f"T-{n}") for n in range(500)), at=NOW)
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(UserError) as caught, closing(Store.open(path)) as store:
        store.all("SELECT * FROM tasks ORDER BY title")
    assert caught.value.problem.code == "database_damaged"


def test_a_database_that_another_program_holds_is_told(
    path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock that outlasts the patience becomes words; the move can be made when it is gone."""
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_S", 0.05)
    with closing(Store.open(path)) as mine:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(UserError) as caught:
                mine.move(a_plan(), at=NOW)
            other.execute("ROLLBACK")
        assert caught.value.problem.code == "database_busy"
        assert mine.move(a_plan(), at=NOW)


def test_an_instant_keeps_its_moment_and_sorts_as_text() -> None:
    """Instants of any zone are kept in UTC with microseconds, in order as text."""
    seoul = datetime(2025, 3, 1, 21, 0, 0, 250, tzinfo=timezone(timedelta(hours=9)))
    assert stamp(seoul) == stamp(NOW) == "2025-03-01T12:00:00.000250Z"
    assert instant(stamp(seoul)) == NOW
    assert stamp(NOW.replace(microsecond=0)) < stamp(NOW) < stamp(LATER)


def test_journal_data_is_json(store: Store) -> None:
    """What a change says about itself comes back as it was."""
    data = {"tasks": ["T-1"], "n": 3, "text": "되\n감"}
    store.move(Add("account", "work", "open", {}, data=data), at=NOW)
    row = store.one("SELECT data FROM journal")
    assert row is not None
    assert json.loads(row["data"]) == data


@pytest.mark.parametrize("what", ["segue.db", "segue.db*"])
def test_a_database_that_was_removed_is_put_back_whole(path: Path, what: str) -> None:
    """With its log or without it: what was recorded before, and after, is found by the next."""
    with closing(Store.open(path)) as store:
        assert store.move(a_plan(), a_task("one"), a_task("two"), at=NOW)
        for file in path.parent.glob(what):
            file.unlink()
        assert not store.is_in_place
        assert store.move(start("one"), at=NOW), "what is open goes on"
        store.put_back()
        assert store.is_in_place
        assert store.move(start("two"), at=LATER)
        with closing(Store.open(path)) as other:
            assert [state(other, key) for key in ("one", "two")] == ["in_progress"] * 2
    with closing(Store.open(path)) as store:
        assert [state(store, key) for key in ("one", "two")] == ["in_progress"] * 2
        (checked,) = store.all("PRAGMA integrity_check")
        assert checked[0] == "ok"
    assert [file.name for file in path.parent.iterdir()] == ["segue.db"]


def test_another_database_in_its_place_is_not_touched(path: Path) -> None:
    """It is told in words, and what the other records is kept when this one is closed."""
    with closing(Store.open(path)) as store:
        for file in path.parent.glob("segue.db*"):
            file.unlink()
        with closing(Store.open(path)) as other:
            assert other.move(a_plan(), at=NOW)
            with pytest.raises(UserError) as caught:
                store.put_back()
            assert caught.value.problem.code == "memory_replaced"
            store.close()
            assert other.move(a_task("one"), at=NOW)
            assert Path(f"{path}-wal").exists(), "the log of the other one"


def test_a_database_in_a_folder_that_is_gone_can_be_put_back_later(path: Path) -> None:
    """While it is being removed there is no place for it; nothing is lost by the try."""
    folder = path.parent / "memory"
    folder.mkdir()
    with closing(Store.open(folder / "segue.db")) as store:
        assert store.move(a_plan(), a_task("one"), at=NOW)
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
        with pytest.raises(FileNotFoundError):
            store.put_back()
        folder.mkdir()
        store.put_back()
        assert state(store, "one") == "pending"


def test_a_folder_in_the_place_of_the_database_is_told(path: Path) -> None:
    """It is named for what it is; to look finds no memory."""
    path.mkdir()
    with pytest.raises(UserError) as caught:
        Store.open(path)
    assert caught.value.problem.code == "memory_unusable"
    assert Store.open_readonly(path) is None
