"""What SQLite says of a database, in words for a person."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from segue.errors import Bug, UserError
from segue.i18n import _

# What nothing of ours can have written: other letters than UTF-8, a table by another name.
_FOREIGN = re.compile(r"^(?:Could not decode|no such (?:table|column|index)|table \w+ has)")


@contextmanager
def in_words(path: Path) -> Iterator[None]:
    """What SQLite says of the disk, said to a person."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise explained(error, str(path)) from error
    except UnicodeDecodeError as error:  # SQLite's own message quotes what it found
        raise damaged(str(path), error) from error


def explained(error: sqlite3.DatabaseError, path: str) -> Exception:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    match code:
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR:
            return UserError(
                "disk_full",
                _("the disk is full or not writable: {why}").format(why=error),
                file=path,
                hint=_("free some space and start again: nothing that was recorded is lost"),
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return UserError(
                "read_only",
                _("cannot write to the database: {why}").format(why=error),
                file=path,
                hint=_("make the folder writable"),
            )
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return damaged(path, error)
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return UserError(
                "database_busy",
                _("another program has locked the database: {why}").format(why=error),
                file=path,
                hint=_("close the program that uses the file"),
            )
        case _:
            return damaged(path, error) if _FOREIGN.search(str(error)) else Bug(f"{path}: {error}")


def damaged(path: str, why: Exception) -> UserError:
    return UserError(
        "database_damaged",
        _("the database is damaged: {why}").format(why=why),
        file=path,
        hint=_("move it away: Segue continues from the marks in the plan, which say what is done"),
    )


def replaced(path: Path) -> UserError:
    return UserError(
        "memory_replaced",
        _("the database was replaced by another one while the plan ran"),
        file=str(path),
        hint=_("start again: Segue continues from the marks in the plan"),
    )
