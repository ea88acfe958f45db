"""Where a feature's files are: the one state file, and the design document."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from segue.core.develop import Feature
from segue.drivers.git import Repository
from segue.drivers.git_content import is_ignored
from segue.plans import develop_state
from segue.store import files

FOLDER = ".develop-workflow"
SLUG_CHARS_MAX = 60


@dataclass(frozen=True, slots=True)
class FeatureFolder:
    root: Path  # the project's folder

    @property
    def state_file(self) -> Path:
        return self.root / FOLDER / "state.yaml"

    def design(self, feature: str) -> Path:
        return self.root / "docs" / "design" / f"{slug(feature)}.md"

    def load(self) -> tuple[bytes, Feature] | None:
        """The file and what it says; None where there is none. BrokenError as it is."""
        try:
            data = self.state_file.read_bytes()
        except FileNotFoundError:
            return None
        return data, develop_state.parse(data)

    def save(self, data: bytes) -> None:
        try:
            self.state_file.parent.mkdir(parents=True, exist_ok=True)
            files.replace(self.state_file, data)
        except OSError as error:
            raise files.in_words(error, self.state_file) from error

    def put_aside(self, backups: Path, now: datetime) -> Path | None:
        """Remove the state; a copy of it is kept with Segue's other backups."""
        kept = self.keep_copy(backups, now)
        self.state_file.unlink(missing_ok=True)
        return kept

    def keep_copy(self, backups: Path, now: datetime) -> Path | None:
        """A copy of the state as it is, with Segue's other backups."""
        if not self.state_file.exists():
            return None
        kept = backups / f"develop-state-{now:%Y%m%dT%H%M%S.%fZ}.yaml"
        try:
            backups.mkdir(mode=0o700, parents=True, exist_ok=True)
            files.replace(kept, self.state_file.read_bytes())
        except OSError as error:
            raise files.in_words(error, self.state_file) from error
        return kept

    # git

    def is_repository(self) -> bool:
        return (self.root / ".git").exists()

    def is_ignored(self) -> bool:
        found = Repository.containing(self.root)
        return found is not None and is_ignored(found, str(self.state_file))

    def ignore(self) -> None:
        """One line more in .gitignore; what is there stays."""
        path = self.root / ".gitignore"
        before = b""
        with suppress(FileNotFoundError):
            before = path.read_bytes()
        end = b"" if not before or before.endswith(b"\n") else b"\n"
        try:
            files.replace(path, before + end + f"{FOLDER}/\n".encode())
        except OSError as error:
            raise files.in_words(error, path) from error


def slug(feature: str) -> str:
    """A feature's name as a file's: its words, of any script."""
    text = unicodedata.normalize("NFC", feature).casefold()
    words = re.sub(r"[^\w]+", "-", text).strip("-_")
    return words[:SLUG_CHARS_MAX].strip("-_") or "feature"
