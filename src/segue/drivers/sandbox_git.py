"""What a sandboxed program sees of the repository that its workspace belongs to.

It must be able to look and to commit, and must not change what git runs for others: hooks,
settings, the git directories of submodules and of other worktrees. In a worktree that Segue made
for one task it writes objects and the worktree's own records, and no name that others use: its
HEAD is detached first (`detach`), and Segue brings the branch to where the program has committed.
A person's own worktree stays on its branch; there it writes names as well.

An agent writes the workspace, so nothing in it decides which folder outside becomes visible: a
linked worktree's git directory counts only if that, too, names the workspace.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from segue.drivers.git import HASH, Repository, named_by, read_small, refs_of
from segue.drivers.sandbox import Mount, Mounts

GUARDED = ("config", "hooks", "modules", "worktrees", "info/attributes")
WORKTREE_GUARDED = ("commondir", "gitdir", "config.worktree")


def git_mounts(workspace: Path, home: Path, *, is_isolated: bool = False) -> Mounts:
    """The mounts for the repository around a workspace; none where there is no usable one.
    `is_isolated`: the workspace is a worktree that Segue made for this task alone."""
    workspace = Path(os.path.realpath(workspace))
    for top in (workspace, *workspace.parents):
        if top != workspace and Path(os.path.realpath(home)).is_relative_to(top):
            return {}  # a repository of the home folder: not this project's
        pointer = top / ".git"
        if not os.path.lexists(pointer):
            continue
        if _is_folder(pointer):
            return {**_around(top, workspace), **_own_repository(pointer)}
        linked = _linked(top)
        if linked is None:
            return {}
        return {**_around(top, workspace), **_linked_worktree(linked, is_isolated)}
    return {}


def unwelcome(workspace: Path) -> tuple[Path, ...]:
    """What no mount can keep a program from making in the git folder of its workspace, and what
    must not be there behind it: a `commondir` would lead git to other settings and hooks."""
    git_dir = Path(os.path.realpath(workspace)) / ".git"
    return (git_dir / "commondir",) if _is_folder(git_dir) else ()


def detach(workspace: Path) -> None:
    """Let a linked worktree stand on its commit instead of a branch: the names of branches are
    shared by all worktrees, and a program in the sandbox cannot write them."""
    linked = _linked_above(Path(os.path.realpath(workspace)))
    if linked is None:
        return
    head = (read_small(linked.git_dir / "HEAD") or "").strip()
    branch = head.removeprefix("ref:").strip()
    if head.startswith("ref:"):
        commit = refs_of(linked.common).get(branch)
        if commit is not None and HASH.fullmatch(commit):
            fresh = linked.git_dir / "HEAD.lock"  # as git itself does it
            fresh.write_text(f"{commit}\n")
            fresh.replace(linked.git_dir / "HEAD")


def _around(top: Path, workspace: Path) -> Mounts:
    """Files beside a workspace below the top must be there, or git takes them for deleted."""
    return {} if top == workspace else {top: Mount.READ}


def _own_repository(git_dir: Path) -> Mounts:
    """`.git` is a mount by itself: else it could be moved away with all that is guarded in it."""
    if os.path.lexists(git_dir / "commondir"):  # it would lead git to other settings
        return {git_dir: Mount.READ}
    found: Mounts = {git_dir: Mount.WRITE}
    (git_dir / "hooks").mkdir(exist_ok=True)
    for name in GUARDED:
        path = git_dir / name
        if path.is_symlink():
            return {git_dir: Mount.READ}
        if path.exists():
            found[path] = Mount.READ
    return found


def _linked_worktree(linked: Repository, is_isolated: bool) -> Mounts:
    found: Mounts = {
        linked.top / ".git": Mount.READ,
        linked.common: Mount.READ,
        linked.git_dir: Mount.WRITE,
        linked.common / "objects": Mount.WRITE,
    }
    if not is_isolated:
        found |= {linked.common / name: Mount.WRITE for name in ("refs", "logs")}
    for name in WORKTREE_GUARDED:
        if _is_file(linked.git_dir / name):
            found[linked.git_dir / name] = Mount.READ
    # What is packed is the history: new objects are single files.
    for name in ("pack", "info"):
        if _is_folder(linked.common / "objects" / name):
            found[linked.common / "objects" / name] = Mount.READ
    return found


def _linked_above(workspace: Path) -> Repository | None:
    for top in (workspace, *workspace.parents):
        if os.path.lexists(top / ".git"):
            return _linked(top)
    return None


def _linked(top: Path) -> Repository | None:
    """The linked worktree at a folder, if the repository knows it as well."""
    git_dir = named_by(top / ".git")
    if git_dir is None or (read_small(git_dir / "commondir") or "").strip() != "../..":
        return None
    named = Path((read_small(git_dir / "gitdir") or "").strip())
    if git_dir.parent.name != "worktrees" or Path(os.path.realpath(named)) != top / ".git":
        return None
    return Repository.at(top, git_dir)


def _is_folder(path: Path) -> bool:
    return path.exists() and stat.S_ISDIR(path.lstat().st_mode)


def _is_file(path: Path) -> bool:
    return path.exists() and stat.S_ISREG(path.lstat().st_mode)
