"""Stand-in until the real one is here."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from segue.work.server.types import Phase


@dataclass(frozen=True, slots=True)
class Deliverable:
    path: str
    size: int
    sha256: str

    def to_json(self) -> dict[str, Any]:
        return {"path": self.path, "size": self.size, "sha256": self.sha256}


def collect(workspace: Path, patterns: Sequence[str]) -> list[Deliverable]:
    found = []
    for pattern in patterns:
        for path in sorted(workspace.glob(pattern)):
            if path.is_file():
                data = path.read_bytes()
                found.append(
                    Deliverable(
                        str(path.relative_to(workspace)), len(data), hashlib.sha256(data).hexdigest()
                    )
                )
    return found


def check(phase: Phase, found: Sequence[Deliverable], workspace: Path) -> list[str]:
    names = [item.path for item in found]
    return [
        f"{pattern} is missing"
        for pattern in phase.deliverables
        if not any(Path(name).match(pattern) for name in names)
    ]


def keep_round(folder: Path, workspace: Path, found: Sequence[Deliverable]) -> None:
    for item in found:
        (folder / item.path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(workspace / item.path, folder / item.path)


def text_of(folder: Path, path: str, most: int) -> str | None:
    return (folder / path).read_text(errors="replace")[:most]


def diff(before: Path, after: Path, path: str) -> str | None:
    return None


def write_zip(target: Path, workspace: Path, found: Sequence[Deliverable]) -> None:
    import zipfile  # noqa: PLC0415

    with zipfile.ZipFile(target, "w") as file:
        for item in found:
            file.write(workspace / item.path, item.path)
