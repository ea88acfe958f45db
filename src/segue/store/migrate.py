"""Bringing a database to the schema of this version: forward only, one file a step."""

from __future__ import annotations

import sqlite3
from importlib.resources import files

from segue.errors import UserError
from segue.i18n import _
from segue.store import chain

CHAIN = "_chain.sql"  # the step that gave each row of the journal a hash


def names() -> list[str]:
    folder = files("segue.store") / "migrations"
    return sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))


def steps() -> list[str]:
    """The SQL of each migration, the first one first; their number is the schema version."""
    folder = files("segue.store") / "migrations"
    return [(folder / name).read_text(encoding="utf-8") for name in names()]


def newest() -> int:
    """The schema version that this Segue writes."""
    folder = files("segue.store") / "migrations"
    return sum(entry.name.endswith(".sql") for entry in folder.iterdir())


def version(db: sqlite3.Connection) -> int:
    found: int = db.execute("PRAGMA user_version").fetchone()[0]
    return found


def check_not_newer(found: int, known: int, path: str) -> None:
    if found > known:
        raise UserError(
            "newer_database",
            _("this database was written by a newer Segue (schema {found}, known {known})").format(
                found=found, known=known
            ),
            file=path,
            hint=_("upgrade Segue, or move the file away to start with an empty database"),
        )


def migrate(db: sqlite3.Connection, path: str) -> None:
    """Apply all steps that are missing in one transaction: what one step makes and a later one
    replaces is never written, and half of an upgrade never stays."""
    todo = steps()
    check_not_newer(version(db), len(todo), path)
    if version(db) == len(todo):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        found = version(db)  # another process may have been faster
        for step in todo[found:]:
            for statement in _statements(step):
                db.execute(statement)
        if any(name.endswith(CHAIN) for name in names()[found : len(todo)]):
            chain.link(db)
        db.execute(f"PRAGMA user_version = {len(todo)}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # a full disk has undone it already
            db.execute("ROLLBACK")
        raise


def _statements(script: str) -> list[str]:
    """executescript() would commit first; so the script is cut at its complete statements."""
    found, part = [], ""
    for line in script.splitlines(keepends=True):
        part += line
        if sqlite3.complete_statement(part):
            found.append(part)
            part = ""
    return found
