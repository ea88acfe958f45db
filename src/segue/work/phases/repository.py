"""The repository that a workspace is, if it is one: where it stands, and a copy with its history.

What is in it was written by an agent. So where it stands is read without git; its history is packed
by a git that sees its objects and nothing of its settings; and only `.git` itself is looked at,
never a link.
"""

from __future__ import annotations

import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from segue.drivers import git as safe
from segue.drivers.git import Git, Repository, environment, own_settings, read_bounded, refs_of
from segue.errors import AgentError, UserError
from segue.i18n import _

TIMEOUT_S = 600
SETTINGS_MAX = 200
SHALLOW_BYTES_MAX = 1 << 20
# Who commits, and where it came from: what a copy cannot do without.
TAKEN_OVER = re.compile(
    r"user\.(?:name|email)|remote\..+\.(?:url|pushurl|fetch)|branch\..+\.(?:remote|merge)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Head:
    """Where a repository stands. No commit: nothing was committed yet; no branch: on none."""

    commit: str | None
    branch: str | None  # refs/heads/…

    @classmethod
    def of(cls, kept: Mapping[str, Any] | None) -> Head | None:
        """As a checkpoint kept it."""
        return cls(kept["commit"], kept["branch"]) if kept else None


def head_of(workspace: Path) -> Head | None:
    """None where the workspace is no repository, or none that can be read."""
    found = safe.head_of(workspace / ".git") if _is_repository(workspace) else None
    return None if found is None else Head(*found)


def copy(source: Path, target: Path, head: Head) -> None:
    """Make a folder a repository with the history of another, standing where that one stood.

    The folder's files are not touched: whatever was not committed then is not committed now.
    UserError: it cannot be copied; then the folder is as it was.
    """
    known = Repository.at(source, source / ".git") if _is_repository(source) else None
    if known is None:
        raise _failed(_("its repository no longer exists"))
    env = {**environment(), "GIT_DIR": str((target / ".git").absolute())}
    git = Git(target, env, timeout_s=TIMEOUT_S)
    try:
        git("init", "-q", "--template=", *_format(known))
        commit = _take_history(known, git, head.commit)
        _take_over_settings(known, git)
        if head.branch is not None:
            git("symbolic-ref", "HEAD", head.branch)
        if commit is not None:
            git("update-ref", *(() if head.branch else ("--no-deref",)), "HEAD", commit)
        if git.holds("rev-parse", "-q", "--verify", "HEAD^{commit}"):
            git("read-tree", "HEAD")
    except (AgentError, UserError, OSError) as error:
        shutil.rmtree(target / ".git", ignore_errors=True)
        if isinstance(error, AgentError):
            raise _failed(str(error)) from error
        raise


def _is_repository(folder: Path) -> bool:
    try:
        return stat.S_ISDIR((folder / ".git").lstat().st_mode)
    except OSError:
        return False


def _format(source: Repository) -> tuple[str, ...]:
    found = dict(own_settings(source.common)).get("extensions.objectformat", "")
    return (f"--object-format={found}",) if found in ("sha1", "sha256") else ()


def _take_history(source: Repository, git: Git, commit: str | None) -> str | None:
    """All that branches and tags lead to, and the commit; which of it is there then."""
    refs = refs_of(source.git_dir)
    if commit is not None:
        try:
            _take_objects(source, git, {*refs.values(), commit})
        except AgentError:  # it was thrown away since: what is there now has to do
            commit = None
    if commit is None:
        _take_objects(source, git, refs.values())
    orders = "".join(f"create {name} {at}\n" for name, at in refs.items())
    git("update-ref", "--stdin", stdin=orders.encode())
    return commit


def _take_objects(source: Repository, git: Git, tips: Iterable[str]) -> None:
    """Pack what the commits lead to, and unpack it in the other."""
    wanted = "".join(f"{tip}\n" for tip in sorted(set(tips)))
    if not wanted:
        return
    with source.shadow() as shadow, tempfile.TemporaryFile(dir=git.cwd / ".git") as pack:
        replace(shadow, timeout_s=TIMEOUT_S)(
            "pack-objects", "-q", "--revs", "--stdout", stdin=wanted.encode(), into=pack
        )
        pack.seek(0)
        git("index-pack", "--stdin", stdin=pack)
    shallow = read_bounded(source.common / "shallow", SHALLOW_BYTES_MAX)
    if shallow is not None:
        (git.cwd / ".git" / "shallow").write_bytes(shallow)


def _take_over_settings(source: Repository, git: Git) -> None:
    for key, value in own_settings(source.common)[:SETTINGS_MAX]:
        if TAKEN_OVER.fullmatch(key):
            git("config", "--add", key, value)


def _failed(why: str) -> UserError:
    told = why.strip().splitlines()[-1:] or ["?"]
    return UserError(
        "repository_not_copied",
        _("could not copy the repository of the workspace: {why}").format(why=told[0]),
        hint=_("the files still exist; run `git init` in the folder, or fork again"),
    )
