"""`--isolate worktree`: each task in a git worktree and branch of its own, merged in order.

Nothing that is not merged is ever deleted: work that was cut off stays on a branch.
"""

from __future__ import annotations

import re
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from segue.errors import AgentError, UserError
from segue.i18n import _

IDENTITY = (
    "-c", "user.name=Segue", "-c", "user.email=segue@localhost", "-c", "commit.gpgsign=false",
)  # fmt: skip
GIT_TIMEOUT_S = 120
LOCK_S = 5.0  # another git command is over after so long, or it was killed and left its lock


class Conflict(AgentError):  # noqa: N818 - what git calls it
    """A merge that could not be made; the files that two tasks changed differently, if any."""

    def __init__(self, files: list[str], why: str) -> None:
        super().__init__(why)
        self.files = files


@dataclass(frozen=True, slots=True)
class Worktrees:
    """The worktrees of one plan's tasks, in one repository."""

    root: Path  # the project folder: merges go into its current branch
    folder: Path  # where worktrees are made
    plan: Path  # Segue alone writes in it

    def check(self) -> None:
        """Before anything is begun: a repository, with a commit, on a branch."""
        if self._try("rev-parse", "--verify", "-q", "HEAD").returncode:
            raise UserError(
                "no_repository",
                _("--isolate worktree needs a git repository with at least one commit"),
                file=str(self.root),
                hint="git init && git add -A && git commit -m start",
            )
        if self._try("symbolic-ref", "-q", "HEAD").returncode:
            raise UserError(
                "no_repository",
                _("the repository is on no branch, so there is nothing to merge into"),
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
        return self.path(task) / self._prefix()

    def _prefix(self) -> str:
        return self._try("rev-parse", "--show-prefix").stdout.strip()

    def make(self, task: str) -> Path:
        """A fresh worktree from the current state of the project's branch."""
        path, branch = self.path(task), self.branch(task)
        self._git("worktree", "prune")
        self.set_aside(task)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._git("worktree", "add", "-q", "-b", branch, str(path), "HEAD")
        return path

    def set_aside(self, task: str) -> None:
        """End a worktree whose work was not merged; its branch keeps what was done."""
        path, branch = self.path(task), self.branch(task)
        if self.has(task):
            self.commit(task, f"{task}: left unfinished")
            with suppress(Conflict):  # then each of the two is on a branch
                self.take_back(task)
            self._git("worktree", "remove", "--force", str(path))
        elif path.exists():  # not a worktree: somebody's folder
            path.rename(_free(path))
        if self._has_branch(branch):
            self._put_aside(branch)

    def close(self, task: str) -> None:
        """Remove the worktree; the branch stays."""
        if self.has(task):
            self._git("worktree", "remove", "--force", str(self.path(task)))

    def has(self, task: str) -> bool:
        """Whether the task's worktree is there, and really one of its own."""
        path = self.path(task)
        return path.is_dir() and self._try(
            "rev-parse", "--git-dir", cwd=path
        ).stdout.strip() not in (
            "",
            self._try("rev-parse", "--absolute-git-dir").stdout.strip(),
        )

    def commit(self, task: str, message: str) -> None:
        """What the agent did not commit is committed; the plan's file is Segue's alone."""
        path = self.path(task)
        if self.plan.is_relative_to(self.root):
            self._restore_plan(path, self._prefix() + str(self.plan.relative_to(self.root)))
        self._git("add", "-A", cwd=path)
        if self._try("diff", "--cached", "--quiet", cwd=path).returncode:
            self._git(*IDENTITY, "commit", "-q", "--no-verify", "-m", message, cwd=path)

    def _restore_plan(self, path: Path, plan: str) -> None:
        """The plan as it was where the branch began, whatever the agent made of it."""
        project = self._git("rev-parse", "HEAD").strip()
        base = self._try("merge-base", "HEAD", project, cwd=path).stdout.strip()
        if not base:
            return  # a history of its own, which is never merged
        if not self._try("cat-file", "-e", f"{base}:{plan}").returncode:
            self._git("checkout", "-q", base, "--", plan, cwd=path)
        elif (path / plan).exists():
            self._git("rm", "-q", "-f", "--cached", "--ignore-unmatch", "--", plan, cwd=path)
            (path / plan).unlink()

    def take_back(self, task: str) -> None:
        """Bring the branch to where the agent has committed: it may have left it for another, or
        for none. Where both have gone on, neither is the whole work: no merge, nothing lost."""
        path, branch = self.path(task), self.branch(task)
        head = self._try("rev-parse", "-q", "--verify", "HEAD", cwd=path).stdout.strip()
        if not head:
            return  # a branch without a commit: there is nothing on it
        if not self._has_branch(branch) or self._is_within(branch, head):
            self._git("update-ref", f"refs/heads/{branch}", head)
        elif not self._is_within(head, branch):
            other = self._try("symbolic-ref", "-q", "--short", "HEAD", cwd=path).stdout.strip()
            if not other:
                other = self._free_branch(branch)
                self._git("branch", other, head)
            text = _("the agent has committed on its own branch and, apart from it, on {other}")
            raise Conflict([], text.format(other=other))

    def merge(self, task: str, message: str) -> None:
        """Bring the branch into the project's own; done twice, it changes nothing."""
        branch = self.branch(task)
        if not self._has_branch(branch):
            return  # merged and removed before
        self._wait_for_lock()
        self._abort_leftover(branch)
        merged = self._try(*IDENTITY, "merge", "-q", "--no-ff", "--no-edit", "-m", message, branch)
        if merged.returncode:
            files = self._try("diff", "--name-only", "--diff-filter=U", "-z").stdout.split("\0")
            conflicted = [file for file in files if file] or _overwritten(merged.stderr)
            self._abort_leftover(branch)
            raise Conflict(conflicted, (merged.stdout + merged.stderr).strip())
        self.close(task)
        self._git("branch", "-q", "-D", branch)

    def _abort_leftover(self, branch: str) -> None:
        """Undo a merge of this branch that did not end. A person's own merge is not touched."""
        under_way = self._try("rev-parse", "-q", "--verify", "MERGE_HEAD").stdout.strip()
        if not under_way:
            return
        if under_way != self._git("rev-parse", branch).strip():
            raise Conflict([], _("another merge is under way in the project; end it first"))
        self._git("merge", "--abort")

    def _wait_for_lock(self) -> None:
        """A merge beside another git command would stop half-way, and could not be undone."""
        lock = self.root / self._git("rev-parse", "--git-path", "index.lock").strip()
        until = time.monotonic() + LOCK_S
        while lock.exists():
            if time.monotonic() > until:
                text = _("another git command holds {lock}; if none runs, remove that file")
                raise Conflict([], text.format(lock=lock))
            time.sleep(LOCK_S / 100)

    def _is_within(self, commit: str, other: str) -> bool:
        return not self._try("merge-base", "--is-ancestor", commit, other).returncode

    def _has_branch(self, branch: str) -> bool:
        return not self._try("rev-parse", "-q", "--verify", f"refs/heads/{branch}").returncode

    def _put_aside(self, branch: str) -> None:
        """Rename an unmerged branch; one that is merged has nothing to keep."""
        if self._is_within(branch, "HEAD"):
            self._git("branch", "-q", "-D", branch)
        else:
            self._git("branch", "-m", branch, self._free_branch(branch))

    def _free_branch(self, branch: str) -> str:
        n = 1
        while self._has_branch(f"{branch}-kept-{n}"):
            n += 1
        return f"{branch}-kept-{n}"

    def _try(self, *args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                ["git", *args],
                cwd=cwd or self.root,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=GIT_TIMEOUT_S,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired as error:
            raise AgentError(str(error)) from error
        except OSError as error:
            if error.filename != "git":  # the folder is gone
                raise AgentError(f"git {' '.join(args)}: {error}") from error
            raise UserError(
                "no_git",
                _("--isolate worktree needs git, and it cannot be run: {why}").format(
                    why=error.strerror
                ),
                hint="apt install git",
            ) from error

    def _git(self, *args: str, cwd: Path | None = None) -> str:
        done = self._try(*args, cwd=cwd)
        if done.returncode:
            raise AgentError(f"git {' '.join(args)}: {(done.stderr or done.stdout).strip()}")
        return done.stdout


def _safe(name: str) -> str:
    """A name as part of a branch and of a path: words and hyphens."""
    return re.sub(r"[^\w]+", "-", name).strip("-") or "task"


def _free(path: Path) -> Path:
    n = 1
    while (free := path.with_name(f"{path.name}-kept-{n}")).exists():
        n += 1
    return free


def _overwritten(stderr: str) -> list[str]:
    """The files that git names when local changes stand in the way."""
    return [line.strip() for line in stderr.splitlines() if line.startswith("\t")]
