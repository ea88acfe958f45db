"""`--isolate worktree`: each task in a git worktree and branch of its own, merged in order.

Nothing that is not merged is ever deleted: work that was cut off stays on a branch. The agent
writes in its worktree, so what says there which repository it belongs to (`.git`) is compared,
and never followed.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from segue.drivers import git_content as content
from segue.drivers.git import (
    Git,
    GitError,
    Repository,
    alone,
    environment,
    read_small,
    remove_tree,
)
from segue.drivers.git_content import Conflict
from segue.errors import UserError
from segue.i18n import _

__all__ = ["Conflict", "Worktrees"]

GIT_NEEDED = (2, 38)  # the first that merges without touching files
LOCK_S = 5.0  # another git command is over after so long, or it was killed and left its lock
EARLIER_S = 20.0  # a git command of a start that was killed is over after so long


P = ParamSpec("P")
T = TypeVar("T")


def _alone(
    method: Callable[Concatenate[Worktrees, P], T],
) -> Callable[Concatenate[Worktrees, P], T]:
    """Never beside a git command of an earlier start, which may outlive a killed Segue."""

    @wraps(method)
    def locked(self: Worktrees, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with alone(self.lock, EARLIER_S):
            return method(self, *args, **kwargs)

    return locked


@dataclass(frozen=True, slots=True)
class Worktrees:
    """The worktrees of one plan's tasks, in one repository."""

    root: Path  # the project folder: merges go into its current branch
    folder: Path  # where worktrees are made
    plan: Path  # Segue alone writes in it

    def check(self) -> None:
        """Before anything is begun: a repository, with a commit, on a branch."""
        _check_version()
        found = Repository.containing(self.root)
        if found is None or found.resolve("HEAD") is None:
            raise UserError(
                "no_repository",
                _("--isolate worktree needs a git repository with at least one commit"),
                file=str(self.root),
                hint="git init && git add -A && git commit -m start",
            )
        if not (read_small(found.git_dir / "HEAD") or "").startswith("ref:"):
            raise UserError(
                "no_repository",
                _("the repository has no branch checked out, so there is nothing to merge into"),
                file=str(self.root),
                hint="git switch BRANCH",
            )

    @property
    def _plan_name(self) -> str:
        """The plan's path as one word: two plans never share a branch or a folder."""
        is_inside = self.plan.is_relative_to(self.root)
        path = self.plan.relative_to(self.root) if is_inside else self.plan
        return _safe(str(path.with_suffix("")))

    def branch(self, task: str) -> str:
        return f"segue/{self._plan_name}/{_safe(task)}"

    def path(self, task: str) -> Path:
        return self.folder / self._plan_name / _safe(task)

    def workspace(self, task: str) -> Path:
        """The project's folder in the worktree: it may lie below the repository's top."""
        found = Repository.containing(self.root)
        return self.path(task) / (self.root.relative_to(found.top) if found else "")

    @property
    def lock(self) -> Path:
        return self.folder / f".{self._plan_name}.lock"

    def _unfilled(self, task: str) -> Path:
        """Stands beside a worktree until all its files are in it: no agent was in it before."""
        return self.path(task).with_name(f".{_safe(task)}.unfilled")

    # Making and ending

    @_alone
    def make(self, task: str) -> Path:
        """A fresh worktree from the current state of the project's branch."""
        path, branch, project = self.path(task), self.branch(task), self._project()
        self.set_aside(task)
        with _in_words(path):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            self._unfilled(task).touch()
        head = self._head(project)
        project.refs()("worktree", "add", "-q", "--no-checkout", "-b", branch, str(path), head)
        content.fill(self._worktree(task), head)
        with _in_words(path):
            self._unfilled(task).unlink()
        return path

    @_alone
    def set_aside(self, task: str) -> None:
        """End a worktree whose work was not merged; its branch keeps what was done."""
        if self._unfilled(task).exists():
            self._remove_unfilled(task)
        elif self.has(task):
            self.commit(task, f"{task}: left unfinished")
            with suppress(Conflict):  # then each of the two is on a branch
                self.take_back(task)
            self.close(task)
        else:
            self.keep_folder(task)
        branch = self.branch(task)
        if (tip := self._tip(branch)) is not None:
            self._put_aside(branch, tip)

    def _remove_unfilled(self, task: str) -> None:
        for record in self._records(task):
            remove_tree(record)
        remove_tree(self.path(task))
        with _in_words(self.path(task)):
            self._unfilled(task).unlink()

    @_alone
    def keep_folder(self, task: str) -> Path:
        """Move what is no worktree (any more) out of the way, as it is; where it is then. Its
        `.git` gets another name: git would follow it."""
        path = kept = self.path(task)
        with _in_words(path):
            if os.path.lexists(path):
                kept = _free(path)
                path.rename(kept)
                if not kept.is_symlink() and os.path.lexists(kept / ".git"):
                    (kept / ".git").rename(_free(kept / ".git"))
        for record in self._records(task):
            remove_tree(record)
        return kept

    @_alone
    def close(self, task: str) -> None:
        """Remove the worktree; the branch stays. It leaves its place in one step: half a worktree
        would look as if its agent had changed it."""
        path = self.path(task)
        closed = path.with_name(f".{path.name}.closed")
        if self.has(task):
            remove_tree(closed)
            with _in_words(path):
                path.rename(closed)
        if not os.path.lexists(path):
            for record in self._records(task):
                remove_tree(record)
        remove_tree(closed)

    # What is there

    def has(self, task: str) -> bool:
        """Whether the task's worktree is there, and really one of its own."""
        return bool(self._records(task)) and self.is_there(task) and not self.is_changed(task)

    def is_there(self, task: str) -> bool:
        path = self.path(task)
        return path.is_dir() and not path.is_symlink()

    def is_changed(self, task: str) -> bool:
        """Whether `.git` of the worktree was changed: only its agent can have done that."""
        records = self._records(task)
        if not records or not os.path.lexists(self.path(task)):
            return False
        pointer = read_small(self.path(task) / ".git") if self.is_there(task) else None
        return (
            len(records) > 1
            or pointer != f"gitdir: {records[0]}\n"
            or (read_small(records[0] / "commondir") or "").strip() != "../.."
        )

    def _records(self, task: str) -> list[Path]:
        """Where the repository keeps what it knows of the worktree: one folder, if all is well."""
        path = self.path(task)
        named = {str(path / ".git"), str(path.parent.resolve() / path.name / ".git")}
        folder = self._project().common / "worktrees"
        known = folder.resolve().glob("*/gitdir")
        return [found.parent for found in known if (read_small(found) or "").strip() in named]

    def _worktree(self, task: str) -> Repository:
        records = self._records(task)
        found = Repository.at(self.path(task), records[0]) if len(records) == 1 else None
        if found is None or self.is_changed(task):
            raise GitError(_("{folder} is no longer a git worktree").format(folder=self.path(task)))
        return Repository(found.top, found.git_dir, self._project().common)

    def _project(self) -> Repository:
        found = Repository.containing(self.root)
        if found is None:
            raise GitError(_("{folder} is no longer a git repository").format(folder=self.root))
        return found

    def _head(self, repository: Repository) -> str:
        head = repository.resolve("HEAD")
        if head is None:
            text = _("cannot read the git HEAD of {folder}")
            raise GitError(text.format(folder=repository.git_dir))
        return head

    # Bringing the work home

    @_alone
    def commit(self, task: str, message: str) -> None:
        """What the agent did not commit is committed; the plan's file is Segue's alone: it is
        as it was where the branch began, whatever the agent made of it."""
        project, plan = self._project(), None
        if self.plan.is_relative_to(self.root):
            plan = str(self.plan.relative_to(project.top))
        base = self._head(project)
        content.commit_all(self._worktree(task), message, kept=plan, base=base)

    @_alone
    def take_back(self, task: str) -> None:
        """Bring the branch to where the agent has committed: it may have left it for another, or
        for none. Where both have new commits, neither is the whole work: no merge, nothing lost."""
        tree, branch = self._worktree(task), self.branch(task)
        head, tip = tree.resolve("HEAD"), self._tip(branch)
        if head is None:
            return  # a branch without a commit: there is nothing on it
        if tip is None or content.is_ancestor(tree, tip, head):
            self._project().refs()("update-ref", f"refs/heads/{branch}", head)
        elif not content.is_ancestor(tree, head, tip):
            on = (read_small(tree.git_dir / "HEAD") or "").strip()
            other = on.removeprefix("ref: refs/heads/")
            if other == on:
                other = self._free_branch(branch)
                self._project().refs()("update-ref", f"refs/heads/{other}", head)
            text = _("the agent committed to its own branch and also to {other}")
            raise Conflict([], text.format(other=other))

    @_alone
    def merge(self, task: str, message: str) -> None:
        """Bring the branch into the project's own; done twice, it changes nothing."""
        branch, project = self.branch(task), self._project()
        tip = self._tip(branch)
        if tip is None:
            return  # merged and removed before
        head = self._head(project)
        self._wait_for_lock(project)
        self._abort_leftover(project, head, tip)
        if not content.is_ancestor(project, tip, head):
            self._merge(project, head, tip, message)
        self.close(task)
        project.refs()("update-ref", "-d", f"refs/heads/{branch}", tip)

    def _merge(self, project: Repository, head: str, tip: str, message: str) -> None:
        """The files first, the branch last: a merge that was cut off is made again."""
        made = content.merged(project, head, tip, message)
        content.check_out(project, head, made)
        told = ("-m", f"merge: {' '.join(message.split())}")
        moved = project.refs().attempt("update-ref", *told, "HEAD", made, head)
        if moved.returncode:  # another process committed at the same moment
            content.check_out(project, made, head)
            raise Conflict([], moved.stderr.strip())

    def _abort_leftover(self, project: Repository, head: str, tip: str) -> None:
        """Undo a merge of this branch that did not end. A person's own merge is not touched."""
        under_way = (read_small(project.git_dir / "MERGE_HEAD") or "").strip()
        if not under_way:
            return
        if under_way != tip:
            raise Conflict([], _("another merge is in progress in the project; finish it first"))
        content.abort_merge(project, head)

    def _wait_for_lock(self, project: Repository) -> None:
        """A merge beside another git command would stop half-way, and could not be undone."""
        lock = project.git_dir / "index.lock"
        until = time.monotonic() + LOCK_S
        while lock.exists():
            if time.monotonic() > until:
                text = _("another git command holds {lock}; if no git is running, remove that file")
                raise Conflict([], text.format(lock=lock))
            time.sleep(LOCK_S / 100)

    # Branches

    def _tip(self, branch: str) -> str | None:
        return self._project().resolve(f"refs/heads/{branch}")

    def _put_aside(self, branch: str, tip: str) -> None:
        """Rename an unmerged branch; one that is merged has nothing to keep."""
        project = self._project()
        if not content.is_ancestor(project, tip, self._head(project)):
            free = self._free_branch(branch)
            project.refs()("update-ref", f"refs/heads/{free}", tip, "")
        project.refs()("update-ref", "-d", f"refs/heads/{branch}", tip)

    def _free_branch(self, branch: str) -> str:
        n = 1
        while self._tip(f"{branch}-kept-{n}") is not None:
            n += 1
        return f"{branch}-kept-{n}"


def _check_version() -> None:
    said = Git(Path("/"), environment())("version")
    found = re.search(r"(\d+)\.(\d+)", said)
    if found and (int(found[1]), int(found[2])) < GIT_NEEDED:
        text = _("--isolate worktree needs git 2.38 or newer; this one is {version}")
        raise UserError("old_git", text.format(version=found[0]), hint="apt install git")


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    """What the file system refuses fails the task, and no other."""
    try:
        yield
    except OSError as error:
        raise GitError(f"{path}: {error.strerror or error}") from error


def _safe(name: str) -> str:
    """A name as part of a branch and of a path: words and hyphens."""
    return re.sub(r"[^\w]+", "-", name).strip("-") or "task"


def _free(path: Path) -> Path:
    n = 1
    while os.path.lexists(free := path.with_name(f"{path.name}-kept-{n}")):
        n += 1
    return free
