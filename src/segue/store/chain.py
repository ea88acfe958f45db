"""The journal is a chain: each row holds the hash of the row before it, and its own.

A hash is the SHA-256 of one JSON array without spaces: the hash of the row before, then the columns
of the row (`COLUMNS`). The first row follows `GENESIS`. Rows are numbered without gaps, and the
database remembers the last number it gave out, so a row that was changed, removed, inserted or cut
off at the end is found and named.

The chain shows what was changed by hand or by accident. Who can rewrite the whole database can
write a new chain as well: compare its head with one that you noted elsewhere.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

COLUMNS = (
    "seq", "at", "entity", "entity_id", "from_state", "to_state", "cause", "data", "work",
    "actor", "via",
)  # fmt: skip
GENESIS = "0" * 64
HEAD = (
    "SELECT s.seq, j.hash FROM sqlite_sequence s LEFT JOIN journal j ON j.seq = s.seq"
    " WHERE s.name = 'journal'"
)
# Up to the row that was the last one when the look began: others may write meanwhile.
ROWS = f"SELECT prev, hash, {', '.join(COLUMNS)} FROM journal WHERE seq <= ? ORDER BY seq"  # noqa: S608 - ours

# Bytes are never ours: a forged column of them gets a hash that does not fit.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=repr).encode


@dataclass(frozen=True, slots=True)
class Head:
    """The last row: its number and its hash."""

    seq: int = 0
    hash: str = GENESIS


@dataclass(frozen=True, slots=True)
class Break:
    """Where the chain does not hold. `why`: missing, changed, unlinked."""

    seq: int
    why: str
    last: int  # of several missing rows; else the same row


def digest(prev: str, row: Sequence[Any]) -> str:
    """The hash of a row (its `COLUMNS`) that follows the row with the hash `prev`."""
    return sha256(_encode([prev, *row]).encode()).hexdigest()


def head(db: sqlite3.Connection) -> Head:
    """The row that the next one follows. To be asked in the transaction that adds it."""
    row = db.execute(HEAD).fetchone()
    return Head() if row is None else Head(row[0], row[1] or "")


def link(db: sqlite3.Connection) -> None:
    """Chain the rows of an older version, which have no hashes."""
    prev = GENESIS
    rows = db.execute(f"SELECT {', '.join(COLUMNS)} FROM journal ORDER BY seq").fetchall()  # noqa: S608 - ours
    linked = []
    for number, row in enumerate(rows, 1):
        own = digest(prev, (number, *row[1:]))
        linked.append((number, prev, own, row[0]))
        prev = own
    db.executemany("UPDATE journal SET seq = ?, prev = ?, hash = ? WHERE seq = ?", linked)
    if rows:
        db.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'journal'", (len(rows),))


def breaks(rows: Iterable[Sequence[Any]], last: int) -> Iterator[Break]:
    """Where the rows (as `ROWS` selects them) do not follow each other. `last`: the number of the
    row that was added last."""
    at, before = 0, GENESIS
    for prev, own, *row in rows:
        seq = row[0]
        if seq != at + 1:
            yield Break(at + 1, "missing", seq - 1)
        elif prev != before:
            yield Break(seq, "unlinked", seq)
        if prev is None or digest(prev, row) != own:
            yield Break(seq, "changed", seq)
        at, before = seq, own
    if at < last:
        yield Break(at + 1, "missing", last)
