"""What git says of the project around a feature."""

from __future__ import annotations

import subprocess
from pathlib import Path

from segue.work.develop.folder import FOLDER
from segue.work.worktree import GIT_TIMEOUT_S, IDENTITY

OURS = (f"{FOLDER}/", ".segue/", ".gitignore")


def changed(root: Path, *, besides: Path) -> list[str]:
    """Files that are not committed, but for those that Segue itself has written."""
    shown = _git(root, "status", "--porcelain", "-z", "--untracked-files=all").stdout
    design = str(besides.relative_to(root)) if besides.is_relative_to(root) else ""
    prefix = _git(root, "rev-parse", "--show-prefix").stdout.strip()
    found = [entry[3:].removeprefix(prefix) for entry in shown.split("\0") if len(entry) > 3]
    return [name for name in found if name != design and not name.startswith(OURS)]


def commit_design(root: Path, design: Path, feature: str) -> None:
    """The design document and .gitignore: worktrees begin at a commit, and need them."""
    paths = [
        str(path)
        for path in (design, root / ".gitignore")
        if path.exists() and _git(root, "check-ignore", "-q", "--", str(path)).returncode
    ]
    if not paths:
        return
    _git(root, "add", "--", *paths)
    if _git(root, "diff", "--cached", "--quiet", "--", *paths).returncode:
        message = f"design: {' '.join(feature.split())[:60]}"
        _git(root, *IDENTITY, "commit", "-q", "--no-verify", "-m", message, "--", *paths)


def _git(root: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", *args],
        cwd=root,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=GIT_TIMEOUT_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )
