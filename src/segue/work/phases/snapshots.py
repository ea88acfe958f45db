"""Snapshots of a folder, by git, in a repository of its own that the folder knows nothing of.

Theory of operation: every file but those in `.git` is given to git by name, so that neither
ignore files nor repositories inside of the folder hide anything. A snapshot is a commit without
a parent: each can go without the others. Git's index is only a cache here; each command has
a copy of its own, which takes the place of the old one at its end. So a git that was killed
leaves no lock behind. A restoration that was cut off is found by its note, and done again first.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from segue.drivers.git import environment, settings
from segue.errors import UserError
from segue.i18n import _
from segue.store import files
from segue.work.phases.tree import Tree, clear, names_in

GIT_TIMEOUT_S = 1800
LABEL_CHARS_MAX = 200
MODE = 0o700
SETTINGS = {
    "core.bare": "false",
    "core.sharedRepository": "0600",  # its user's alone, whatever the umask
    "core.fileMode": "true",
    "core.symlinks": "true",
    "core.autocrlf": "false",
    "core.protectNTFS": "false",
    "core.protectHFS": "false",
    "core.compression": "1",
    "core.bigFileThreshold": "8m",  # larger ones are streamed, not read into memory
    "core.fsync": "none",  # once for all of them, at the end: `_sync`
}
PATCH = (
    "--literal-pathspecs", "diff-tree", "-r", "-p", "--no-renames", "--no-ext-diff",
    "--no-textconv", "--no-color",
)  # fmt: skip
PATCH_FILES_MAX = 500
PATCH_LINES_MAX = 20_000
PATCH_BYTES_MAX = 4_000_000
ADD = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
# Before all that the folder itself says: bytes are kept as they are.
ATTRIBUTES = b"* -text -eol -ident -filter -working-tree-encoding\n"

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_at_work: set[subprocess.Popen[bytes]] = set()  # of every thread


def break_off() -> None:
    """Kill every git that is at work now: its caller gets an error."""
    for process in list(_at_work):
        process.kill()


@dataclass(frozen=True, slots=True)
class Changed:
    """A file, and how many lines were added and removed; None where it is not text."""

    path: str
    additions: int | None
    deletions: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """`is_partial`: the patch has not all of the files."""

    base: str
    head: str
    changes: list[Changed]
    patch: bytes
    is_partial: bool


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The snapshots of one workspace; `folder` is a git directory."""

    folder: Path

    def latest(self) -> str | None:
        """What the workspace was last known to be, or was to become."""
        return self._note("restoring") or self._note("latest")

    def take(self, tree: Path, label: str) -> str:
        """All files below a folder, as a commit."""
        self._make()
        self.finish(tree)
        for _try in range(2):  # a file that changes while it is read: once more
            found = names_in(tree)
            with self._index(tree) as git:
                try:
                    written = _written(git, found)
                except UserError:
                    if _try:
                        raise
                    continue
                commit = git("commit-tree", written, "-F", "-", stdin=_message(label, found))
            break
        name = commit.decode().strip()
        self._keep(name)
        return name

    def compare(self, tree: Path, base: str | None) -> Comparison:
        """A folder as it is now with a snapshot of it; None: with nothing at all."""
        self._make()
        self.finish(tree)
        if base is not None:
            self.check(base)
        with self._index(tree) as git:
            head = _written(git, names_in(tree))
            start = base or git("hash-object", "-t", "tree", "--stdin").decode().strip()
            counted = git("diff-tree", "-r", "-z", "--numstat", "--no-renames", start, head)
            changes = [_change(line) for line in counted.split(b"\0") if line]
            paths = list(_patched(tree, changes))
            patch = git(*PATCH, start, head, "--", *paths) if paths else b""
        return Comparison(start, head, changes, patch, len(paths) < len(changes))

    def restore(self, tree: Path, commit: str) -> None:
        """The folder as it was; what is in `.git` stays as it is."""
        self.check(commit)
        files.replace(self.folder / "restoring", commit.encode())
        self.finish(tree)

    def finish(self, tree: Path) -> None:
        """Do what a restoration that was begun has still to do; done twice, it is the same."""
        commit = self._note("restoring")
        if commit is None:
            return
        listed = self._git("ls-tree", "-r", "-z", "--name-only", commit).split(b"\0")
        clear(tree, Tree([name for name in listed if name], self._empty_in(commit)))
        self._check_out(tree, commit)
        self._settle(commit)

    def put(
        self, path: Path, commit: str, prepare: Callable[[Path], None] = lambda folder: None
    ) -> None:
        """A new folder with the content of a snapshot, and whatever `prepare` adds: there whole,
        or not at all."""
        self.check(commit)
        path.parent.mkdir(mode=MODE, parents=True, exist_ok=True)
        for leftover in path.parent.glob(f".{path.name}.segue-*"):
            shutil.rmtree(leftover)
        temporary = path.with_name(f".{path.name}.segue-{os.getpid()}")
        temporary.mkdir(mode=MODE)
        with suppress(FileNotFoundError):
            (self.folder / "index").unlink()  # it is of the folder that was
        self._check_out(temporary, commit)
        prepare(temporary)
        temporary.rename(path)
        files.sync_folder(path.parent)
        self._settle(commit)

    def copy_to(self, other: Snapshots, commit: str) -> None:
        """Another repository that has this snapshot; the two share what never changes."""
        self.check(commit)
        if other.folder.exists():
            return
        with other._new() as made:
            shutil.copytree(
                self.folder / "objects",
                made.folder / "objects",
                dirs_exist_ok=True,
                copy_function=os.link,
                ignore=shutil.ignore_patterns("tmp_*"),
            )
            made._keep(commit)

    def forget_all_but(self, commits: set[str]) -> None:
        """Snapshots that no checkpoint needs any more go, with what only they had; what a death
        left of them goes at the next time."""
        if not self.folder.exists():
            return
        kept = commits | {self._note("restoring"), self._note("latest")}
        refs = self._git("for-each-ref", "--format=%(refname)").decode().split()
        gone = [ref for ref in refs if ref.rpartition("/")[2] not in kept]
        if gone:
            orders = "".join(f"delete {ref}\n" for ref in gone)
            _Git(self.folder)("update-ref", "--stdin", stdin=orders.encode())
            self._sweep()

    def _sweep(self) -> None:
        """Take away what no snapshot has, and the index neither: nothing is packed that was not,
        for that would take long and is needed for large files alone, which git packs itself."""
        self._git("prune", "--expire=now")
        if not any((self.folder / "objects" / "pack").glob("*.pack")):
            return
        needed = self._git(
            "rev-list", "--objects", "--no-object-names", "--all", "--indexed-objects"
        ).split()
        there = self._git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
        if set(there) - set(needed):
            self._git("repack", "-a", "-d", "-q", "--window=0")
            self._git("prune-packed", "-q")

    # Inside

    def _settle(self, commit: str) -> None:
        files.replace(self.folder / "latest", commit.encode())
        (self.folder / "restoring").unlink(missing_ok=True)

    def _check_out(self, tree: Path, commit: str) -> None:
        with self._index(tree) as git:
            # What is in the folder does not matter: it is written over.
            how = ("-m", "-i") if (self.folder / "index").exists() else ("--reset",)
            git("read-tree", *how, commit)
            git("checkout-index", "-a", "-f", "-u", "-q")
        for name in self._empty_in(commit):
            (tree / os.fsdecode(name)).mkdir(parents=True, exist_ok=True)

    def _empty_in(self, commit: str) -> list[bytes]:
        body = self._git("cat-file", "commit", commit).partition(b"\n\n")[2]
        told = json.loads(body.rpartition(b"\n\n")[2] or b"{}")
        return [os.fsencode(name) for name in told.get("empty", [])]

    def check(self, commit: str) -> None:
        if _COMMIT.fullmatch(commit) and self.folder.exists():
            with suppress(UserError):
                self._git("cat-file", "-e", f"{commit}^{{tree}}")
                return
        raise UserError(
            "no_snapshot",
            _("no such snapshot: {commit}").format(commit=commit),
            file=str(self.folder),
            hint=_("choose another checkpoint"),
        )

    def _note(self, name: str) -> str | None:
        with suppress(FileNotFoundError, NotADirectoryError):
            return (self.folder / name).read_text().strip() or None
        return None

    def _keep(self, commit: str) -> None:
        """By a name, so that it stays; then it is the last one."""
        self._git("update-ref", f"refs/snapshots/{commit}", commit)
        _sync(self.folder)
        files.replace(self.folder / "latest", commit.encode())

    def _make(self) -> None:
        if not self.folder.exists():
            with self._new():
                pass

    @contextmanager
    def _new(self) -> Iterator[Snapshots]:
        """A repository that appears whole under its name at the end of the block."""
        try:
            self.folder.parent.mkdir(mode=MODE, parents=True, exist_ok=True)
            for leftover in self.folder.parent.glob(f".{self.folder.name}.segue-*"):
                shutil.rmtree(leftover)
            made = Snapshots(self.folder.with_name(f".{self.folder.name}.segue-{os.getpid()}"))
            made.folder.mkdir(mode=MODE)
            made._git("init", "-q", "--bare", "--template=", str(made.folder))
            (made.folder / "info").mkdir(mode=MODE, exist_ok=True)
            files.replace(made.folder / "info" / "attributes", ATTRIBUTES, mode=0o600)
            yield made
            made.folder.rename(self.folder)
            files.sync_folder(self.folder.parent)
        except OSError as error:
            raise files.in_words(error, self.folder) from error

    @contextmanager
    def _index(self, tree: Path) -> Iterator[_Git]:
        """Git at work on a folder, with an index that takes its place when all went well."""
        kept = self.folder / "index"
        for leftover in self.folder.glob("index-*"):
            leftover.unlink(missing_ok=True)
        own = self.folder / f"index-{os.getpid()}-{token_hex(4)}"
        with suppress(FileNotFoundError):
            shutil.copy2(kept, own)
        try:
            yield _Git(self.folder, tree, own)
            with suppress(FileNotFoundError):  # git makes none for nothing
                own.replace(kept)
        finally:
            own.unlink(missing_ok=True)

    def _git(self, *args: str) -> bytes:
        return _Git(self.folder)(*args)


@dataclass(frozen=True, slots=True)
class _Git:
    """Git on our repository alone: no settings, hooks or filters of anybody's."""

    folder: Path
    tree: Path | None = None
    index: Path | None = None

    def __call__(self, *args: str, stdin: bytes = b"") -> bytes:
        own = (f"{name}={value}" for name, value in SETTINGS.items())
        try:
            code, out, err = self._run(["git", *settings(*own), *args], stdin)
        except FileNotFoundError as error:
            if error.filename != "git":
                raise
            raise UserError(
                "git_missing",
                _("snapshots of workspaces need git, which is not installed"),
                hint=_("install it: {command}").format(command="apt install git"),
            ) from error
        except subprocess.TimeoutExpired as error:
            raise self._failed(args, str(error)) from error
        if code:
            raise self._failed(args, (err or out).decode("utf-8", "replace"))
        return out

    def _run(self, argv: list[str], stdin: bytes) -> tuple[int, bytes, bytes]:
        with subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.tree or self.folder.parent,
            env=self._environment(),
        ) as process:
            _at_work.add(process)
            try:
                out, err = process.communicate(stdin, timeout=GIT_TIMEOUT_S)
            except BaseException:
                process.kill()
                raise
            finally:
                _at_work.discard(process)
            return process.returncode, out, err

    def _environment(self) -> dict[str, str]:
        env = {**environment(), "GIT_DIR": str(self.folder.absolute())}
        if self.tree is not None:
            env["GIT_WORK_TREE"] = str(self.tree.absolute())
        if self.index is not None:
            env["GIT_INDEX_FILE"] = str(self.index.absolute())
        return env

    def _failed(self, args: tuple[str, ...], why: str) -> UserError:
        told = why.strip().splitlines()[-1:] or ["?"]
        return UserError(
            "snapshot_failed",
            _("could not save or restore the workspace: git {command}: {why}").format(
                command=args[0], why=told[0]
            ),
            file=str(self.folder),
            hint=_("free some space and start again: nothing that was recorded is lost"),
        )


def _written(git: _Git, found: Tree) -> str:
    """The files of a folder as a tree of git's."""
    gone = set(git("ls-files", "-z").split(b"\0")[:-1]) - set(found.files)
    git("update-index", "-z", "--force-remove", "--stdin", stdin=_list(gone))
    git(*ADD, stdin=_list(found.files))
    return git("write-tree").decode().strip()


def _change(line: bytes) -> Changed:
    added, removed, path = os.fsdecode(line).split("\t", 2)
    return Changed(path, *(int(n) if n.isdigit() else None for n in (added, removed)))


def _patched(tree: Path, changes: Iterable[Changed]) -> Iterator[str]:
    """The files that a patch shows: text, as many as a person may read."""
    files = lines = size = 0
    for change in changes:
        if change.additions is None or change.deletions is None:
            continue
        files += 1
        lines += change.additions + change.deletions
        with suppress(OSError):  # deleted: its lines count
            size += (tree / change.path).lstat().st_size
        if files > PATCH_FILES_MAX or lines > PATCH_LINES_MAX or size > PATCH_BYTES_MAX:
            return
        yield change.path


def _sync(folder: Path) -> None:
    """All that git wrote is on the disk: thousands of files in one go."""
    call = getattr(ctypes.CDLL(None), "syncfs", None)
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if call is None or call(fd):
            os.sync()
    finally:
        os.close(fd)


def _list(names: Iterable[bytes]) -> bytes:
    return b"".join(name + b"\0" for name in sorted(names))


def _message(label: str, found: Tree) -> bytes:
    """The label, and what git cannot keep: folders without files."""
    first = " ".join(label.split())[:LABEL_CHARS_MAX] or "snapshot"
    more = json.dumps({"empty": [os.fsdecode(name) for name in found.empty]})
    return f"{first}\n\n{more}".encode("utf-8", "replace")
