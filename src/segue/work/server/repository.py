"""The repository that a workspace is, if it is one: where it stands, and a copy with its history.

What is in it was written by an agent. So git gets nothing of Segue's own environment, reads no
settings of anybody's but the repository's, and only `.git` itself is looked at, never a link.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from segue.errors import UserError
from segue.i18n import _

TIMEOUT_S = 600
SETTINGS_MAX = 200
SETTINGS = ("gc.auto=0", "maintenance.auto=false", f"core.hooksPath={os.devnull}")
# A commit that no branch leads to any more is given, too.
GIVES_ANY = "git -c uploadpack.allowAnySHA1InWant=true upload-pack"
# Who commits, and where it came from: what a copy cannot do without.
TAKEN_OVER = re.compile(
    r"user\.(?:name|email)|remote\..+\.(?:url|pushurl|fetch)|branch\..+\.(?:remote|merge)",
    re.DOTALL,
)

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


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
    """None where the workspace is no repository, or none that git can read."""
    if not _is_repository(workspace):
        return None
    git = _Git(workspace / ".git")
    try:
        branch = git("symbolic-ref", "-q", "HEAD", may_fail=True).decode("utf-8", "replace").strip()
        commit = git("rev-parse", "-q", "--verify", "HEAD^{commit}", may_fail=True).decode().strip()
    except UserError:
        return None
    if not (branch or commit) or not (commit == "" or _COMMIT.fullmatch(commit)):
        return None
    return Head(commit or None, branch or None)


def copy(source: Path, target: Path, head: Head) -> None:
    """Make a folder a repository with the history of another, standing where that one stood.

    The folder's files are not touched: whatever was not committed then is not committed now.
    UserError: it cannot be copied; then the folder is as it was.
    """
    if not _is_repository(source):
        raise _failed("fetch", _("its repository is gone"))
    git = _Git(target / ".git")
    try:
        git("init", "-q", "--template=")
        commit = _fetch(git, source / ".git", head.commit)
        _take_over_settings(source / ".git", git)
        if head.branch is not None:
            git("symbolic-ref", "HEAD", head.branch)
        if commit is not None:
            git("update-ref", *(() if head.branch else ("--no-deref",)), "HEAD", commit)
        if git("rev-parse", "-q", "--verify", "HEAD^{commit}", may_fail=True):
            git("read-tree", "HEAD")
    except (UserError, OSError):
        shutil.rmtree(target / ".git", ignore_errors=True)
        raise


def _is_repository(folder: Path) -> bool:
    try:
        return stat.S_ISDIR((folder / ".git").lstat().st_mode)
    except OSError:
        return False


def _fetch(git: _Git, source: Path, commit: str | None) -> str | None:
    """All that branches and tags lead to, and the commit; which of it is there then."""
    take = ("fetch", "-q", "--no-tags", "--no-write-fetch-head", "--update-head-ok",
            "--no-recurse-submodules", f"--upload-pack={GIVES_ANY}", str(source.absolute()),
            "+refs/*:refs/*")  # fmt: skip
    if commit is not None:
        try:
            git(*take, commit)
            return commit
        except UserError:  # it was thrown away since: what is there now has to do
            pass
    git(*take)
    return None


def _take_over_settings(source: Path, git: _Git) -> None:
    kept = _Git(source)("config", "--file", str(source / "config"), "--no-includes", "-z", "--list")
    for entry in kept.decode("utf-8", "replace").split("\0")[:SETTINGS_MAX]:
        key, _newline, value = entry.partition("\n")
        if TAKEN_OVER.fullmatch(key):
            git("config", "--add", key, value)


@dataclass(frozen=True, slots=True)
class _Git:
    folder: Path  # `.git`

    def __call__(self, *args: str, may_fail: bool = False) -> bytes:
        settings = [word for setting in SETTINGS for word in ("-c", setting)]
        env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "GIT_DIR": str(self.folder.absolute()),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }
        try:
            done = subprocess.run(
                ["git", *settings, *args],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                cwd=self.folder.parent,
                env=env,
                timeout=TIMEOUT_S,
                check=False,
            )
        except (FileNotFoundError, subprocess.TimeoutExpired) as error:
            raise _failed(args[0], str(error)) from error
        if done.returncode == 0:
            return done.stdout
        if may_fail and done.returncode == 1:
            return b""
        raise _failed(args[0], done.stderr.decode("utf-8", "replace"))


def _failed(command: str, why: str) -> UserError:
    told = why.strip().splitlines()[-1:] or ["?"]
    return UserError(
        "repository_not_copied",
        _("the repository of the workspace could not be copied: git {command}: {why}").format(
            command=command, why=told[0]
        ),
        hint=_("the files are all there; make a repository of them, or fork again"),
    )
