"""From a command line to the same in its sandbox: what this run may touch.

The workspace and what its repository needs; the program's own state; the run's own files in
Segue's memory: where its tools write their reports, and where its place is kept.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from segue.drivers import git, sandbox, sandbox_git
from segue.drivers.sandbox import Mount, Rules
from segue.engine.agent import Access
from segue.engine.run_files import RunFiles
from segue.store import files as stored

NAME = "segue"


@dataclass(frozen=True, slots=True)
class Confined:
    """A command line as it is run. `layers`: how many processes of a sandbox are above it."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    layers: int = 0


def confine(
    argv: tuple[str, ...],
    env: Mapping[str, str],
    access: Access | None,
    *,
    folder: Path,
    files: RunFiles,
    run: str,
    environ: Mapping[str, str],
    channel: Mapping[Path, Mount],
) -> Confined:
    """`channel`: the run's own files in Segue's memory."""
    if access is None:
        return Confined(argv, env)
    home = Path(env.get("HOME") or "/nonexistent")
    is_isolated = any(folder.is_relative_to(one) for one in files.memory)
    if is_isolated:
        sandbox_git.detach(folder)
    for made in access.folders:
        made.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in channel:  # a mount needs something to stand on
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    rules = Rules(
        workspace=folder,
        home=home,
        mounts={
            **access.mounts,
            **sandbox_git.git_mounts(folder, home, is_isolated=is_isolated),
            **channel,
        },
        hidden=(*files.memory, *state_folders(environ)),
        copies=_git_identity(home, environ),
        network=access.network,
        network_log=files.network_log(run),
    )
    wrapped = sandbox.wrapped(rules, argv, env, sandbox.bubblewrap())
    return Confined(wrapped.argv, wrapped.env, wrapped.layers)


def can_write(access: Access, folder: Path, path: Path) -> bool:
    """Whether what runs in this sandbox can write a file."""
    named = (mounted for mounted, how in access.mounts.items() if how is Mount.WRITE)
    return any(path.is_relative_to(writable.resolve()) for writable in (folder, *named))


def state_folders(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Where Segue keeps what is the user's: settings, tokens, held conversations."""
    home = Path(environ.get("HOME") or "/nonexistent")
    state = Path(environ.get("XDG_STATE_HOME") or home / ".local" / "state")
    settings = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    return state / NAME, settings / NAME, home


def _git_identity(home: Path, environ: Mapping[str, str]) -> dict[Path, Path]:
    """Commits need a name. The person's own settings of git may hold tokens: only who they are
    is taken from them."""
    text = git.identity()
    if not text:
        return {}
    path = state_folders(environ)[0] / "sandbox" / "gitconfig"
    return {home / ".gitconfig": _kept(path, text)}


@lru_cache(maxsize=4)
def _kept(path: Path, text: str) -> Path:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    stored.replace(path, text.encode("utf-8", "surrogateescape"), mode=0o600)
    return path
