"""The folder that a task's agent works in: made, never left, kept and put back.

An agent can make any link at any moment. So a path is never checked and then used: the code that
reads opens it here, one name after the other, and no link is followed on the way. Snapshots are
in `snapshots.py`, outside of the workspace: the agent's own repositories do not see them.

Everything here may take its time on a large workspace: call it in a thread.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from segue.errors import Bug, UserError
from segue.i18n import _
from segue.store import files
from segue.work.phases import repository
from segue.work.phases.repository import Head
from segue.work.phases.snapshots import Snapshots

WORKSPACES = "workspaces"
SNAPSHOTS = "snapshots"

_TASK = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


@dataclass(frozen=True, slots=True)
class Workspace:
    """A task's folder below the data folder, and its snapshots beside it."""

    data: Path
    task: str

    def __post_init__(self) -> None:
        if not _TASK.fullmatch(self.task):
            raise Bug(f"no id of a task: {self.task!r}")

    @property
    def path(self) -> Path:
        return self.data / WORKSPACES / self.task

    @property
    def snapshots(self) -> Snapshots:
        return Snapshots(self.data / SNAPSHOTS / f"{self.task}.git")

    def make(self) -> Path:
        """An empty folder, or the one that is there; one that had content and is gone: error."""
        if self.snapshots.latest() is not None:
            self.check()
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with suppress(FileExistsError):
                self.path.mkdir(mode=0o700)
        except OSError as error:
            raise files.in_words(error, self.path) from error
        self.check()
        with self._told():
            self.snapshots.finish(self.path)
        return self.path

    def check(self) -> None:
        """Told in words if the folder is gone, or was replaced by something else."""
        try:
            is_folder = stat.S_ISDIR(self.path.lstat().st_mode)
        except FileNotFoundError:
            text = _("the workspace no longer exists: {path}").format(path=self.path)
        except OSError as error:
            raise files.in_words(error, self.path) from error
        else:
            if is_folder:
                return
            text = _("the workspace is no longer a folder: {path}").format(path=self.path)
        has_one = self.snapshots.latest() is not None
        raise UserError(
            "workspace_gone",
            text,
            hint=_("Segue can restore it from its last snapshot")
            if has_one
            else _("it has no snapshot: start the task again"),
        )

    def snapshot(self, label: str) -> str:
        """Keep all that is in the folder now; the commit to restore it by."""
        self.check()
        with self._told():
            return self.snapshots.take(self.path, label)

    def restore(self, commit: str) -> None:
        """The folder as it was; an error if it is gone, or never existed."""
        self.check()
        with self._told():
            self.snapshots.restore(self.path, commit)

    def remake(self, commit: str | None = None) -> str | None:
        """Restore a missing folder from its last snapshot: which one; None: it is empty."""
        commit = commit or self.snapshots.latest()
        with self._told():
            if self.path.is_symlink() or self.path.is_file():
                self.path.unlink()
            if commit is None:
                self.make()
            elif self.path.exists():
                self.restore(commit)
            else:
                self.snapshots.put(self.path, commit)
        return commit

    def fork(
        self,
        commit: str,
        new: str,
        head: Head | None = None,
        tell: Callable[[str], None] = lambda trouble: None,
    ) -> Workspace:
        """Another task's workspace, as this one was; done twice, it changes nothing.

        `head`: where its repository stood, if it was one; the other becomes one with its history.
        If that fails, people are notified, and the files are there without it.
        """
        other = Workspace(self.data, new)

        def prepare(folder: Path) -> None:
            try:
                if head is not None:
                    repository.copy(self.path, folder, head)
            except UserError as error:
                tell(str(error))

        with self._told():
            self.snapshots.copy_to(other.snapshots, commit)
            if not other.path.exists():
                other.snapshots.put(other.path, commit, prepare)
        return other

    def remove(self) -> None:
        """The folder and its snapshots, for good."""
        for folder in (self.path, self.snapshots.folder):
            with suppress(FileNotFoundError), self._told():
                shutil.rmtree(folder)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            self.check()  # deleted meanwhile: said as such
            raise
        except OSError as error:
            raise files.in_words(error, self.path) from error


def inside(workspace: Path, relative: str) -> Path:
    """The path of something in the workspace, there or not; refused if it could lead out of it.

    To read it use `open_inside`: the path may be another thing by then.
    """
    path = workspace
    for part in _parts(relative):
        path /= part
        try:
            if path.is_symlink():
                raise _outside(relative)
        except OSError as error:  # a name that no file can have
            raise _outside(relative) from error
    return path


def open_inside(workspace: Path, relative: str) -> int:
    """A descriptor to read a plain file of the workspace by; no link is followed on the way.

    FileNotFoundError: it is not there.
    """
    *folders, name = _parts(relative)
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(workspace, flags | os.O_DIRECTORY)
    try:
        for folder in folders:
            above, fd = fd, os.open(folder, flags | os.O_DIRECTORY, dir_fd=fd)
            os.close(above)
        # Not blocking: a pipe without a writer would be waited for.
        above, fd = fd, os.open(name, flags | os.O_NONBLOCK, dir_fd=fd)
        os.close(above)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise _outside(relative)
    except OSError as error:
        os.close(fd)
        if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.ENXIO, errno.ENAMETOOLONG}:
            raise _outside(relative) from error
        raise
    except UserError:
        os.close(fd)
        raise
    return fd


def _parts(relative: str) -> list[str]:
    parts = [part for part in relative.split("/") if part not in ("", ".")]
    if not parts or relative.startswith("/") or ".." in parts or "\0" in relative:
        raise _outside(relative)
    return parts


def _outside(relative: str) -> UserError:
    return UserError(
        "outside_workspace",
        _("this is not a file in the workspace: {path}").format(path=relative),
        hint=_("name a plain file by its path from the workspace; links are not followed"),
    )
