"""The folders in which work may lie, whatever kind it is of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from segue.work.project import MEMORY

BOOK = ("book.toml", "meta/ralph-state.json")  # either makes a folder a book
FOLDERS_MAX = 2_000
NOT_LOOKED_INTO = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__", MEMORY})
OF_A_BOOK = frozenset({"chapters", "meta"})  # in it: text, no plans


def markdown_below(folder: Path) -> list[Path]:
    """Markdown files below a folder, breadth first, bounded."""
    return [
        entry
        for _folder, entries in folders_below(folder)
        for entry in entries
        if entry.suffix.lower() == ".md" and entry.is_file()
    ]


def folders_below(folder: Path) -> Iterator[tuple[Path, list[Path]]]:
    """The folder and those below it, with what is in each, breadth first, bounded."""
    todo = [folder]
    for number, current in enumerate(todo):
        if number >= FOLDERS_MAX:
            break
        try:
            entries = [entry for entry in sorted(current.iterdir()) if not entry.is_symlink()]
        except OSError:
            continue
        not_plans = OF_A_BOOK if is_book(current) else frozenset()
        skipped = NOT_LOOKED_INTO | not_plans
        todo += [e for e in entries if e.name not in skipped and e.is_dir()]
        yield current, entries


def is_book(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in BOOK)
