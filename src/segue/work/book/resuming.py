"""An interrupted book: what is there, what continuing would do, and what a damaged state leaves.

A damaged state is never taken for a new book. The newest backup that can be read takes its place;
without one the chapters that are there can be counted again; the damaged file is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from segue.core import book as rules
from segue.core.book import BookState
from segue.errors import UserError
from segue.i18n import _
from segue.plans import book_state
from segue.plans.book_state import DamagedError, NewerError
from segue.store import files
from segue.work.book import evidence, settings
from segue.work.book.folder import BookFolder, in_seconds
from segue.work.book.writing import book_of, fitted, new_state, newer
from segue.work.owned import owned


@dataclass(frozen=True, slots=True)
class Look:
    """A book's state as it is found, as far as the chapters that are there prove it. `damage`: why
    it cannot be read; then `backup` is the newest that can, and `chapters` how many files a rebuild
    would count."""

    folder: BookFolder
    state: BookState | None = None
    lost: tuple[int, ...] = ()  # called completed, and without a text
    changed: tuple[int, ...] = ()  # changed since they were accepted
    damage: str | None = None
    backup: Path | None = None
    chapters: int = 0

    @property
    def is_resumable(self) -> bool:
        state = self.state
        return state is not None and state.completed_at is None and state.is_begun


def look(root: Path) -> Look:
    """What a folder's state says. NewerError: it is left alone, in words."""
    folder = BookFolder(root.resolve())
    try:
        return _proven(folder, _with_total(folder, folder.load()))
    except NewerError as error:
        raise newer(folder, error) from error
    except DamagedError as error:
        backup = folder.newest_valid_backup()
        return Look(
            folder,
            damage=str(error),
            backup=backup[0] if backup else None,
            chapters=len(folder.chapter_files()),
        )


def _proven(folder: BookFolder, state: BookState | None) -> Look:
    """Another tool keeps no hashes: its state is shown as it is, and what is missing beside it."""
    if state is None:
        return Look(folder)
    found = evidence.look(folder, state)
    shown = found.state if state.texts else state
    if shown.open_chapters and shown.current_chapter in state.completed_chapters:
        shown = rules.at_chapter(shown, shown.open_chapters[0])  # where it would continue
    return Look(folder, shown, lost=found.lost, changed=found.changed)


def _with_total(folder: BookFolder, state: BookState | None) -> BookState | None:
    """Another tool may not say how many chapters there are; `book.toml` does, if it can be read."""
    if state is None or state.total_chapters or not state.is_begun:
        return state
    with suppress(UserError):
        return fitted(state, settings.load(folder.root))
    return state


# The sentences of the original


def nothing_begun() -> str:
    return _("Found no interrupted writing here. Start with: segue write-all")


def lost_chapters(numbers: Sequence[int]) -> str:
    text = _("chapter {chapters} has no text; `segue write-all` writes it again")
    return text.format(chapters=", ".join(map(str, numbers)))


def nothing_to_resume() -> str:
    return _("Nothing here can be resumed.")


def no_way_back() -> str:
    return _("It cannot be restored. Start over: segue write-all")


def was_reset() -> str:
    return _("The state of the book was reset. Start over with: segue write-all")


# What can be done


def restore(folder: BookFolder, now: datetime) -> tuple[Path, BookState, Path]:
    """The newest backup that can be read, its state, and where the damaged file is kept."""
    found = folder.newest_valid_backup()
    if found is None:
        raise UserError(
            "no_backup",
            no_way_back(),
            file=str(folder.state_file),
            hint=_("or rebuild the state from the existing chapters: segue resume --rebuild"),
        )
    return found[0], found[1], folder.put_damaged_aside(now)


def rebuild(folder: BookFolder, now: datetime, chapters: int | None = None) -> BookState:
    """A state from the chapters alone: the last one is judged, those before it are completed."""
    book = book_of(folder, BookState(folder.root.name, 0) if chapters else None, chapters)
    state = new_state(book, now)
    there = [n for n in sorted(folder.chapter_files()) if n <= state.total_chapters]
    state = replace(state, ralph_active=True, can_resume=True)
    if not there:
        return rules.next_write(rules.at_chapter(state, 1))
    state = rules.at_chapter(replace(state, completed_chapters=tuple(there[:-1])), there[-1])
    return rules.next_write(replace(state, is_written=True))


def reset(folder: BookFolder) -> Path | None:
    """Back up, then write the five fields of a reset; what waits is ended. The backup's path."""
    now = datetime.now(UTC)
    try:
        with owned(folder.root, "book", folder.meta) as ledger:
            ledger.end_waits()
            ledger.commit()
            backup = folder.back_up(now)
            _keep_damaged(folder, now)
            files.replace(folder.state_file, book_state.render_reset(in_seconds(now)))
    except OSError as error:
        raise files.in_words(error, folder.state_file) from error
    return backup


def _keep_damaged(folder: BookFolder, now: datetime) -> None:
    """Backups are pruned; damaged files are kept until a person has looked at them."""
    try:
        folder.load()
    except DamagedError:
        folder.put_damaged_aside(now)
