"""What SQLite says of a database becomes an error that says what to do."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from segue.errors import Bug, UserError
from segue.store import database_errors

PATH = Path("segue.db")


def failed(code: int, text: str = "it says no") -> sqlite3.DatabaseError:
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (sqlite3.SQLITE_FULL, "disk_full"),
        (sqlite3.SQLITE_IOERR | 3 << 8, "disk_full"),
        (sqlite3.SQLITE_READONLY, "read_only"),
        (sqlite3.SQLITE_CANTOPEN, "read_only"),
        (sqlite3.SQLITE_CORRUPT, "database_damaged"),
        (sqlite3.SQLITE_NOTADB, "database_damaged"),
        (sqlite3.SQLITE_BUSY, "database_busy"),
    ],
)
def test_a_code_of_sqlite_is_a_problem_with_a_cure(code: int, expected: str) -> None:
    """With the file that it is about, and what SQLite said."""
    with pytest.raises(UserError) as caught, database_errors.in_words(PATH):
        raise failed(code)
    problem = caught.value.problem
    assert (problem.code, problem.file, bool(problem.hint)) == (expected, "segue.db", True)
    assert "it says no" in problem.message


@pytest.mark.parametrize("text", ["no such table: tasks", "Could not decode to UTF-8 column"])
def test_tables_that_are_not_ours_are_damage(text: str) -> None:
    """Nothing of ours can have written them."""
    found = database_errors.explained(failed(sqlite3.SQLITE_ERROR, text), "segue.db")
    assert isinstance(found, UserError)
    assert found.problem.code == "database_damaged"


def test_anything_else_is_a_bug() -> None:
    """A statement of ours that SQLite does not take."""
    found = database_errors.explained(failed(sqlite3.SQLITE_ERROR, "syntax error"), "segue.db")
    assert isinstance(found, Bug)


def test_letters_that_are_no_utf_8_are_damage() -> None:
    """SQLite's own message quotes what it found."""
    with pytest.raises(UserError) as caught, database_errors.in_words(PATH):
        b"\xff".decode()
    assert caught.value.problem.code == "database_damaged"
