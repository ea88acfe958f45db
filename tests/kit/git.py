"""git as a person uses it, under a name of its own: tests read nobody's settings for that."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

IDENTITY = ("user.name=Somebody", "user.email=somebody@example.com", "init.defaultBranch=main")


def git(folder: Path, *args: str, env: Mapping[str, str] | None = None) -> str:
    """What a git command prints, without the blanks at both ends."""
    settings = [word for setting in IDENTITY for word in ("-c", setting)]
    done = subprocess.run(
        ["git", *settings, *args], cwd=folder, env=env, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()
