"""The memory of a project: `.segue/segue.db`.

`move` is the only way to change a state. It compares (the expected state and, where
given, the version), swaps, and writes the journal row, for all the changes it is given,
in one transaction; a caller that lost the race gets False and nothing has changed.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from segue.core import machines, serving
from segue.errors import Bug, UserError
from segue.i18n import _
from segue.store import chain, database_errors, lock, migrate, statements, wal
from segue.store.actors import Actor
from segue.store.changes import Add, Change, Drop, Move, Note, Put, Record, Remove, Value, stamp
from segue.store.rows import PANES

STATELESS = frozenset(
    {
        "timers",
        "secrets",
        "checkpoints",
        "restorations",
        "notices",
        "settings",
        "idempotency",
        "tokens",
        "logins",
    }
)
MACHINES = {**machines.MACHINES, serving.AGENT.name: serving.AGENT}
BUSY_TIMEOUT_S = 15.0
WORKS_KNOWN_MAX = 10_000


class Store:
    """One connection to the database of a project. Not shared between threads."""

    def __init__(self, db: sqlite3.Connection, path: Path, *, is_damaged: bool = False) -> None:
        self._db = db
        self.path = path
        self.is_damaged = is_damaged  # what was committed last could not be read any more
        self._file = _identity(path)
        self._head: chain.Head | None = None  # of the journal, while a transaction adds to it
        self._works: dict[tuple[str, str], str | None] = {}  # of which work a row is

    @classmethod
    def open(cls, path: Path) -> Store:
        """Open for reading and writing; made and migrated where needed."""
        with database_errors.in_words(path):
            _check_readable(path)
            committed = wal.frames_committed(Path(f"{path}-wal"))
            _make_private(path)
            db = sqlite3.connect(
                _uri(path, "rwc"), uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None
            )
            is_suspected = committed > 0 and committed > _frames_read(db)
            is_damaged = is_suspected and _is_log_broken(db, path)
            _set_up(db, path)
        return cls(db, path, is_damaged=is_damaged)

    @classmethod
    def open_readonly(cls, path: Path) -> Store | None:
        """Open for looking only; None where there is no memory yet."""
        if not path.is_file():
            return None
        with database_errors.in_words(path):
            db = _connect_readonly(path)
            db.row_factory = sqlite3.Row
            found = migrate.version(db)
            if found < len(migrate.steps()):
                db.close()
                return cls.open(path) if found else None
        return cls(db, path)

    def close(self) -> None:
        self._db.close()

    @property
    def is_in_place(self) -> bool:
        """Whether others who open the path find this database: it may have been removed."""
        return self._file is not None and _identity(self.path) == self._file

    def put_back(self) -> None:
        """Rewrite the database where it was removed: the open connection still has all of it.

        FileNotFoundError: it is being removed this moment.
        """
        fresh = self.path.with_name(f".{self.path.name}.segue-{os.getpid()}")
        fresh.unlink(missing_ok=True)
        try:
            _make_private(fresh)
            with closing(sqlite3.connect(fresh)) as copy:
                self._db.backup(copy)
            if not self.path.exists():
                for left in (f"{self.path}-wal", f"{self.path}-shm"):  # the removed one's
                    Path(left).unlink(missing_ok=True)
            os.link(fresh, self.path)
            db = _connect(self.path, _uri(self.path, "rw"))
        except FileExistsError:
            self._abandon()
            raise database_errors.replaced(self.path) from None
        except sqlite3.OperationalError as error:
            if fresh.exists():
                raise database_errors.explained(error, str(self.path)) from error
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(fresh)) from error
        finally:
            fresh.unlink(missing_ok=True)
        self._abandon()
        self._db, self._file = db, _identity(self.path)

    def _abandon(self) -> None:
        """Never closed, not even at the end of the program: to close the last connection removes
        the log of this path, and that is another database's now."""
        import ctypes  # noqa: PLC0415 - hardly ever needed

        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._db))
        self._db = sqlite3.connect(":memory:")

    def wait_at_most(self, wait_s: float) -> None:
        """For another program that holds the database; then `database_busy`."""
        self._db.execute(f"PRAGMA busy_timeout = {int(wait_s * 1000)}")

    def move(
        self, *changes: Change, at: datetime, then: Callable[[], Iterable[Change]] = tuple
    ) -> bool:
        """Apply all changes and their journal rows, or none of them. `then` is asked in the same
        transaction for more, when it can see them."""
        with database_errors.in_words(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            self._head = None
            try:
                now = stamp(at)
                for change in itertools.chain(changes, _later(then)):
                    if not self._apply(change, now):
                        self._roll_back()
                        return False
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._roll_back()
                raise
        return True

    def _roll_back(self) -> None:
        self._works.clear()  # rows that were added are not there
        self._db.execute("ROLLBACK")

    def _apply(self, change: Change, now: str) -> bool:
        match change:
            case Move():
                return self._swap(change, now)
            case Add():
                return self._add(change, now)
            case Note():
                if "state" in change.sets:
                    raise Bug(f"{change.entity} {change.id}: a state is changed by a Move alone")
                sets, beside = statements.parted(change.entity, change.sets)
                if not sets:
                    return self._set_beside(change.entity, change.id, beside)
                sql = statements.note_sql(change.entity, tuple(sets))
                if self._db.execute(sql, (*sets.values(), change.id)).rowcount != 1:
                    return False
                return self._set_beside(change.entity, change.id, beside)
            case Remove():
                return self._remove(change, now)
            case Record(entity, id, to, cause, data):
                self._record(now, entity, id, None, to, cause, data, change.by)
                return True
            case Put() | Drop():
                if change.table not in STATELESS:
                    raise Bug(f"{change.table}: rows with a state are not put or dropped")
                values = change.row if isinstance(change, Put) else change.where
                make = statements.put_sql if isinstance(change, Put) else statements.drop_sql
                self._db.execute(make(change.table, tuple(values)), tuple(values.values()))
                return True

    def _swap(self, move: Move, now: str) -> bool:
        if not MACHINES[move.entity].allows(move.state, move.to, move.cause):
            raise Bug(f"{move.entity} {move.id}: {move.state} -{move.cause}-> {move.to} is illegal")
        sets, beside = statements.parted(move.entity, move.sets)
        sql = statements.move_sql(move.entity, tuple(sets), move.version is not None)
        values = [move.to, now, *sets.values(), move.id, move.state]
        if move.version is not None:
            values.append(move.version)
        if self._db.execute(sql, values).rowcount != 1:
            return False
        self._record(now, move.entity, move.id, move.state, move.to, move.cause, move.data, move.by)
        return self._set_beside(move.entity, move.id, beside)

    def _set_beside(self, entity: str, id: str, sets: Mapping[str, Value]) -> bool:
        """Columns that are in the table beside the entity's own."""
        if not sets:
            return True
        sql = statements.beside_sql(statements.BESIDE[entity][0], tuple(sets))
        return self._db.execute(sql, (*sets.values(), id)).rowcount == 1

    def _remove(self, gone: Remove, now: str) -> bool:
        # Recorded first: of which work it was is not known any more when it is gone.
        self._record(now, gone.entity, gone.id, gone.state, "deleted", gone.cause, None, gone.by)
        sql = statements.remove_sql(gone.entity)
        return self._db.execute(sql, (gone.id, gone.state, gone.version)).rowcount == 1

    def _add(self, add: Add, now: str) -> bool:
        row, beside = statements.parted(add.entity, add.row)
        sql = statements.add_sql(add.entity, tuple(row))
        if self._db.execute(sql, (add.id, add.state, now, now, *row.values())).rowcount != 1:
            return False
        if beside:
            sql = statements.put_sql(statements.BESIDE[add.entity][0], ("task", *beside))
            self._db.execute(sql, (add.id, *beside.values()))
        self._record(now, add.entity, add.id, None, add.state, add.cause, add.data, add.by)
        return True

    # The columns of a journal row, each by its name.
    def _record(
        self,
        now: str,
        entity: str,
        id: str,
        state: str | None,
        to: str,
        cause: str,
        data: Mapping[str, object] | None,
        by: Actor,
    ) -> None:
        text = None if data is None else json.dumps(data, ensure_ascii=False)
        head = self._head or chain.head(self._db)
        work = self._work_of(entity, id)
        row = (head.seq + 1, now, entity, id, state, to, cause, text, work, by.name, by.via)
        own = chain.digest(head.hash, row)
        self._db.execute(statements.JOURNAL_SQL, (*row, head.hash, own))
        self._head = chain.Head(row[0], own)

    def _work_of(self, entity: str, id: str) -> str | None:
        match entity:
            case "work":
                return id
            case "pane":
                return PANES
            case "account" | "token":
                return None
        if (entity, id) not in self._works:  # it never changes, and is asked for each journal row
            found = self._db.execute(statements.work_sql(entity), (id,)).fetchone()
            if found is None:
                return None
            if len(self._works) >= WORKS_KNOWN_MAX:
                self._works.clear()
            self._works[entity, id] = found[0]
        return self._works[entity, id]

    # Reading. Rows are plain: names as in the tables.

    def all(self, sql: str, *values: object) -> list[sqlite3.Row]:
        with database_errors.in_words(self.path):
            return self._db.execute(sql, values).fetchall()

    def each(self, sql: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """One row after the other, as tuples: for more than memory should hold."""
        with database_errors.in_words(self.path), closing(_connect_readonly(self.path)) as db:
            yield from db.execute(sql, values)

    @property
    def generation(self) -> tuple[int, int]:
        """Another one whenever anything was changed, by us or by another process."""
        with database_errors.in_words(self.path):
            others = self._db.execute("PRAGMA data_version").fetchone()[0]
        return self._db.total_changes, others

    @contextmanager
    def reading(self) -> Iterator[None]:
        """While rows become values: one that says what no Segue has written is damage."""
        try:
            yield
        except (ValueError, KeyError, TypeError) as error:
            raise database_errors.damaged(str(self.path), error) from error

    def is_whole(self) -> bool:
        """Whether SQLite finds nothing wrong with it; takes its time."""
        with database_errors.in_words(self.path):
            return [row[0] for row in self._db.execute("PRAGMA integrity_check")] == ["ok"]

    def one(self, sql: str, *values: object) -> sqlite3.Row | None:
        with database_errors.in_words(self.path):
            row: sqlite3.Row | None = self._db.execute(sql, values).fetchone()
            return row


def has_lost_commits(path: Path) -> bool:
    """Whether SQLite passes over what its write-ahead log says was committed. A look."""
    if not path.is_file() or not wal.frames_committed(Path(f"{path}-wal")):
        return False
    with database_errors.in_words(path), closing(_connect_readonly(path)):
        return wal.is_discarded(path)


def _later(then: Callable[[], Iterable[Change]]) -> Iterator[Change]:
    """Asked when all that comes before it is done."""
    yield from then()


def _connect(path: Path, uri: str) -> sqlite3.Connection:
    db = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    _set_up(db, path)
    return db


def _frames_read(db: sqlite3.Connection) -> int:
    """How much of its write-ahead log SQLite took in."""
    try:
        db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        return int(db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1])
    except BaseException:
        db.close()
        raise


def _is_log_broken(db: sqlite3.Connection, path: Path) -> bool:
    """Checked while no process can write to it: a commit of another process that is under way, or a
    log that is restarted, is not damage."""
    try:
        db.execute("BEGIN IMMEDIATE")
        try:
            return wal.is_broken(Path(f"{path}-wal"))
        finally:
            db.execute("ROLLBACK")
    except BaseException:
        db.close()
        raise


def _set_up(db: sqlite3.Connection, path: Path) -> None:
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = ON")
        if 0 < migrate.version(db) < migrate.newest():
            lock.check_no_older_owner(path.parent / "locks")
        migrate.migrate(db, str(path))
    except BaseException:
        db.close()
        raise
    db.row_factory = sqlite3.Row


def _make_private(path: Path) -> None:
    """Its user's alone, whatever the umask; what SQLite puts beside it gets the same mode."""
    with suppress(OSError):  # SQLite says better what is wrong
        # Opened only to make it: to close a file again drops all locks of this process on it.
        if not path.exists():
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _connect_readonly(path: Path) -> sqlite3.Connection:
    """Where not even the files beside the database can be made, it does not change either."""
    for more in ("", "&immutable=1"):
        db = sqlite3.connect(
            _uri(path) + more, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None
        )
        try:
            migrate.check_not_newer(migrate.version(db), len(migrate.steps()), str(path))
        except sqlite3.OperationalError:
            db.close()
            if more:
                raise
            continue
        except BaseException:
            db.close()
            raise
        return db
    raise Bug("unreachable")


def _uri(path: Path, mode: str = "ro") -> str:
    return f"{path.absolute().as_uri()}?mode={mode}"


def _check_readable(path: Path) -> None:
    """A database of a newer version, or no database at all, is an error before it is touched."""
    if path.is_dir():
        raise UserError(
            "memory_unusable",
            _("this is a folder, but Segue needs a file of this name for its database"),
            file=str(path),
            hint=_(
                "move it away: Segue continues from the marks in the plan, which say what is done"
            ),
        )
    if not path.exists() or path.stat().st_size == 0:
        return
    db = sqlite3.connect(_uri(path), uri=True, timeout=BUSY_TIMEOUT_S)
    try:
        migrate.check_not_newer(migrate.version(db), len(migrate.steps()), str(path))
    finally:
        db.close()
