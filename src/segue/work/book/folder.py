"""A book's folder: its chapters, its state with backups, what was learnt.

The state is replaced whole, and a copy of it is in `meta/backups/` before: whatever dies, one of
the two can be read. No text of a chapter is ever deleted: what has to make room is kept beside.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from segue.core.book import BookState
from segue.errors import UserError
from segue.i18n import _
from segue.plans import book_state
from segue.plans.book_state import DamagedError
from segue.store import files

BACKUPS_KEPT = 10
_CHAPTER = re.compile(r"chapter_(0*)([1-9][0-9]{0,8})\.md")
_BACKUP = re.compile(r"ralph-state-(.+)\.json")


@dataclass(frozen=True, slots=True)
class BookFolder:
    root: Path

    @property
    def chapters(self) -> Path:
        return self.root / "chapters"

    @property
    def meta(self) -> Path:
        return self.root / "meta"

    @property
    def state_file(self) -> Path:
        return self.meta / "ralph-state.json"

    @property
    def backups(self) -> Path:
        return self.meta / "backups"

    @property
    def wisdom(self) -> Path:
        return self.meta / "wisdom"

    @property
    def drafts(self) -> Path:
        return self.meta / "drafts"

    # Chapters

    def chapter_files(self) -> dict[int, Path]:
        """The chapters that are there, with whatever is in them."""
        found: dict[int, Path] = {}
        try:
            entries = sorted(self.chapters.iterdir())
        except OSError:
            return {}
        for entry in entries:
            if (match := _CHAPTER.fullmatch(entry.name)) and entry.is_file():
                found.setdefault(int(match[2]), entry)
        return found

    def chapter(self, number: int) -> Path:
        """Where a chapter is, or goes: with zeros before its number where the folder has them."""
        there = self.chapter_files()
        if number in there:
            return there[number]
        padded = [path for path in there.values() if path.stem.startswith("chapter_0")]
        width = max((len(path.stem) - len("chapter_") for path in padded), default=0)
        return self.chapters / f"chapter_{number:0{width}d}.md"

    def half_chapters(self, state: BookState) -> list[int]:
        """Chapters that have a file and were neither completed nor given up; what a person changed
        since it was completed is whole."""
        settled = {*state.completed_chapters, *state.failed_chapters, *state.by_hand}
        there = sorted(self.chapter_files())
        return [n for n in there if n not in settled and n <= state.total_chapters]

    def texts(self, numbers: Iterable[int]) -> dict[int, str]:
        """The hash of each of these chapters that is there with a text."""
        there = self.chapter_files()
        found = {n: digest(there[n]) for n in numbers if n in there}
        return {n: text for n, text in found.items() if text is not None}

    def text(self, number: int) -> str | None:
        """The hash of a chapter's text, None where there is none."""
        return self.texts((number,)).get(number)

    def keep_beside(self, number: int, now: datetime) -> Path | None:
        """Make room for a new draft; the text that was there stays beside it."""
        path = self.chapter_files().get(number)
        if path is None:
            return None
        kept = free(path.with_name(f"{path.name}.half-{stamp(now)}"))
        path.rename(kept)
        files.sync_folder(path.parent)
        return kept

    def keep_draft(self, number: int, draft: int) -> None:
        """A copy of a draft that is about to be revised."""
        path = self.chapter_files().get(number)
        if path is not None:
            self.drafts.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, free(self.drafts / f"{path.stem}.draft-{draft}.md"))

    # The state

    def load(self) -> BookState | None:
        """The state, None where there is none; DamagedError or NewerError as the bytes are."""
        try:
            data = self.state_file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise DamagedError(str(error)) from error
        return book_state.parse(data)

    def fields_of_others(self) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
        """What other tools keep in the state now, and in its breaker; None where none can be read.
        What a reset wrote is nothing that is kept."""
        try:
            there = self.load()
        except (DamagedError, book_state.NewerError):
            return None
        if there is None or not there.total_chapters:
            return None
        return there.more, there.circuit_breaker.more

    def save(self, data: bytes, now: datetime) -> None:
        """A checkpoint: a backup first, then the state."""
        try:
            self.backups.mkdir(parents=True, exist_ok=True)
            files.replace(self.backups / f"ralph-state-{stamp(now)}.json", data)
            files.replace(self.state_file, data)
            self._prune()
        except OSError as error:
            raise files.in_words(error, self.state_file) from error

    def remove_leftovers(self) -> None:
        """Temporary files of a Segue that was killed. Call it while nothing else writes here."""
        for folder in (self.meta, self.backups, self.wisdom, self.chapters):
            for leftover in folder.glob(".*.segue-*"):
                leftover.unlink(missing_ok=True)

    def back_up(self, now: datetime) -> Path | None:
        """A backup of the state as it is, readable or not."""
        if not self.state_file.exists():
            return None
        backup = free(self.backups / f"ralph-state-{stamp(now)}.json")
        try:
            self.backups.mkdir(parents=True, exist_ok=True)
            files.replace(backup, self.state_file.read_bytes())
            self._prune()
        except OSError as error:
            raise files.in_words(error, backup) from error
        return backup

    def backups_newest_first(self) -> list[Path]:
        try:
            entries = list(self.backups.iterdir())
        except OSError:
            return []
        return sorted((e for e in entries if _BACKUP.fullmatch(e.name)), key=_age, reverse=True)

    def newest_valid_backup(self) -> tuple[Path, BookState] | None:
        for path in self.backups_newest_first():
            with suppress(DamagedError, OSError, book_state.NewerError):
                state = book_state.parse(path.read_bytes())
                if state.total_chapters:  # what a reset wrote cannot be continued
                    return path, state
        return None

    def put_damaged_aside(self, now: datetime) -> Path:
        """A copy of a state that cannot be read, before anything takes its place."""
        kept = free(self.meta / f"ralph-state.corrupt-{stamp(now)}.json")
        try:
            files.replace(kept, self.state_file.read_bytes())
        except OSError as error:
            raise files.in_words(error, kept) from error
        return kept

    def _prune(self) -> None:
        for old in self.backups_newest_first()[BACKUPS_KEPT:]:
            with suppress(OSError):
                old.unlink()

    # What was learnt

    def wisdom_files(self) -> list[Path]:
        try:
            return sorted(p for p in self.wisdom.iterdir() if p.suffix == ".md" and p.is_file())
        except OSError:
            return []


def digest(path: Path) -> str | None:
    """The hash of what is in a file, None where nothing is."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(
            "unreadable",
            _("cannot read it: {why}").format(why=error.strerror),
            file=str(path),
            hint=_("make it readable: chmod u+r"),
        ) from error
    return hashlib.sha256(data).hexdigest() if data.strip() else None


def stamp(now: datetime) -> str:
    return f"{now:%Y%m%dT%H%M%S.%fZ}"


def in_seconds(now: datetime) -> str:
    """An instant as the state has it."""
    return f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def free(path: Path) -> Path:
    """The path, or one like it that is not taken."""
    taken, number = path, 2
    while os.path.lexists(taken):
        taken = path.with_name(f"{path.stem}-{number}{path.suffix}")
        number += 1
    return taken


def _age(backup: Path) -> tuple[str, float]:
    """By the stamp in its name, whatever its punctuation."""
    match = _BACKUP.fullmatch(backup.name)
    digits = re.sub(r"\D", "", match[1] if match else "")
    try:
        changed_s = backup.stat().st_mtime
    except OSError:  # it was taken away meanwhile, or leads nowhere
        changed_s = 0.0
    return digits.ljust(20, "0")[:20], changed_s
