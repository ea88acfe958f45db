"""What git says of the project around a feature."""

from __future__ import annotations

from pathlib import Path

from segue.drivers import git_content as content
from segue.drivers.git import Repository
from segue.work.feature.folder import FOLDER

OURS = (f"{FOLDER}/", ".segue/", ".gitignore")


def changed(root: Path, *, besides: Path) -> list[str]:
    """Files that are not committed, but for those that Segue itself has written."""
    repository = Repository.containing(root)
    head = repository.resolve("HEAD") if repository else None
    if repository is None or head is None:
        return []
    design = str(besides.relative_to(root)) if besides.is_relative_to(root) else ""
    prefix = f"{root.relative_to(repository.top)}/".removeprefix("./")
    found = [name.removeprefix(prefix) for name in content.changed(repository, head)]
    return [name for name in found if name != design and not name.startswith(OURS)]


def commit_design(root: Path, design: Path, feature: str) -> None:
    """The design document and .gitignore: worktrees begin at a commit, and need them."""
    repository = Repository.containing(root)
    if repository is None:
        return
    paths = [
        str(path.relative_to(repository.top))
        for path in (design, root / ".gitignore")
        if path.exists() and not content.is_ignored(repository, str(path))
    ]
    if paths:
        message = f"design: {' '.join(feature.split())[:60]}"
        content.commit_paths(repository, paths, message)
