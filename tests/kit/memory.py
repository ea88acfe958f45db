"""What Segue remembers of a project, beside it and in its state folder: removed, or set back."""

from __future__ import annotations

import shutil
from pathlib import Path

from segue.store.files import state_base
from segue.work.project import Project


def forget(project: Path, *files: str) -> None:
    """All that Segue remembers of the project is gone, and these files of its."""
    for path in (Project(project).database.parent, project / ".segue"):
        shutil.rmtree(path, ignore_errors=True)
    for name in files:
        (project / name).unlink(missing_ok=True)


class Backup:
    """Folders and all state of this test, as they are now; `restore` makes them so again."""

    def __init__(self, into: Path, *folders: Path) -> None:
        self._kept = {path: into / f"{path.name}-kept" for path in (*folders, state_base())}
        for path, copy in self._kept.items():
            shutil.copytree(path, copy, symlinks=True)

    def restore(self) -> None:
        for path, copy in self._kept.items():
            shutil.rmtree(path)
            shutil.copytree(copy, path, symlinks=True)
