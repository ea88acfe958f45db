"""Git on repositories that agents write to: none of their settings is ever run.

Theory of operation: a repository's own configuration can name programs (hooks, monitors, filters,
merge drivers, helpers of remotes), and an agent can write it. So everything that touches content
runs in a *shadow*: a git directory of Segue's own, made for a few commands, with settings of
Segue's own, that only borrows the objects, an index and a folder of files from the repository. It
cannot see the repository's configuration, whenever that changes. Names (refs) are looked up and
moved in the repository itself, by commands that can run nothing but hooks, and those are off.
Git directories are always named to git, never searched by it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from segue.errors import AgentError, UserError
from segue.i18n import _

TIMEOUT_S = 120
REFS_TIMEOUT_S = 20
SMALL_BYTES_MAX = 4096  # `.git`, HEAD, a ref
CONFIG_BYTES_MAX = 1 << 20
PACKED_REFS_BYTES_MAX = 64 << 20
EXCLUDE_BYTES_MAX = 1 << 20
PASSED_ON = ("HOME", "XDG_CONFIG_HOME", "TMPDIR", "TZ")
SETTINGS = (
    f"core.hooksPath={os.devnull}",
    f"core.attributesFile={os.devnull}",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "submodule.recurse=false",
    "worktree.useRelativePaths=false",
    "safe.directory=*",  # nothing of the repository is run, whoever owns it
)
# What a shadow takes over of a repository: how bytes become files, and never a program.
KEPT_SETTINGS = re.compile(
    r"core\.(?:filemode|ignorecase|precomposeunicode|symlinks|autocrlf|eol)|extensions\.objectformat"
)
KEPT_VALUE = re.compile(r"true|false|input|lf|crlf|native|sha1|sha256")

HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


_HELD: ContextVar[Mapping[Path, int]] = ContextVar("_HELD", default={})  # noqa: B039 - never changed
LOOK_S = 0.02


class GitError(AgentError):
    """A git command that did not work, in git's own words."""


@contextmanager
def alone(lock: Path, wait_s: float) -> Iterator[None]:
    """Hold a lock together with every git command that is run within: a command that outlives a
    killed Segue keeps it, and the next start waits for that command."""
    held = _HELD.get()
    if lock in held:
        yield
        return
    try:
        lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise GitError(f"{lock}: {error.strerror or error}") from error
    before = None
    try:
        _lock(fd, lock, wait_s)
        before = _HELD.set({**held, lock: fd})
        yield
    finally:
        if before is not None:
            _HELD.reset(before)
        os.close(fd)


def _lock(fd: int, path: Path, wait_s: float) -> None:
    until = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > until:
                text = _("a git command of an earlier run is still running and holds {lock}")
                raise GitError(text.format(lock=path)) from error
            time.sleep(LOOK_S)
        else:
            return


def environment() -> dict[str, str]:
    """What git gets of Segue's environment: where programs are, and little else."""
    env = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    path = os.environ.get("PATH", os.defpath).split(os.pathsep)
    env |= {
        # A relative entry would be looked for in a folder of the agent's.
        "PATH": os.pathsep.join(entry for entry in path if Path(entry).is_absolute()),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_EDITOR": "false",
        "GIT_ASKPASS": "false",
        "SSH_ASKPASS": "false",
        "GIT_PAGER": "cat",
    }
    for who in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{who}_NAME": "Segue", f"GIT_{who}_EMAIL": "segue@localhost"}
    return env


def settings(*more: str) -> list[str]:
    """The options that come before every command."""
    return [word for setting in (*SETTINGS, *more) for word in ("-c", setting)]


@dataclass(frozen=True, slots=True)
class Git:
    """Git with one git directory; `env` says which, and what else it works on."""

    cwd: Path
    env: dict[str, str]
    options: tuple[str, ...] = ()
    timeout_s: float = TIMEOUT_S

    def attempt(
        self, *args: str, stdin: bytes | IO[bytes] = b"", into: IO[bytes] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command, whatever comes of it. Names in its output may be any bytes; large
        input and output are files."""
        given: dict[str, Any] = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
        try:
            done = subprocess.run(
                ["git", *settings(*self.options), *args],
                cwd=self.cwd,
                env=self.env,
                stdout=into or subprocess.PIPE,
                stderr=subprocess.PIPE,
                timeout=self.timeout_s,
                check=False,
                pass_fds=tuple(_HELD.get().values()),
                **given,
            )
        except subprocess.TimeoutExpired as error:
            raise GitError(str(error)) from error
        except OSError as error:
            raise _cannot_run(error, args) from error
        out, err = os.fsdecode(done.stdout or b""), done.stderr.decode("utf-8", "replace")
        return subprocess.CompletedProcess(args, done.returncode, out, err)

    def __call__(
        self, *args: str, stdin: bytes | IO[bytes] = b"", into: IO[bytes] | None = None
    ) -> str:
        done = self.attempt(*args, stdin=stdin, into=into)
        if done.returncode:
            raise GitError(f"git {' '.join(args)}: {(done.stderr or done.stdout).strip()}")
        return done.stdout

    def holds(self, *args: str) -> bool:
        return self.attempt(*args).returncode == 0

    def names(self, *args: str) -> list[str]:
        """What a command with `-z` prints."""
        return [name for name in self(*args).split("\0") if name]


def _cannot_run(error: OSError, args: Iterable[str]) -> UserError | GitError:
    if error.filename != "git":  # the folder is gone
        return GitError(f"git {' '.join(args)}: {error}")
    text = _("--isolate worktree needs git, but git cannot be run: {why}")
    return UserError("no_git", text.format(why=error.strerror), hint="apt install git")


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository with files, found without git: `.git` is a folder, or a file that names one."""

    top: Path
    git_dir: Path
    common: Path  # the git directory that all worktrees share

    @classmethod
    def containing(cls, folder: Path) -> Repository | None:
        """The one that a folder of a person's is in."""
        for top in (folder, *folder.parents):
            if (top / ".git").exists():
                return cls.at(top, named_by(top / ".git") or top / ".git")
        return None

    @classmethod
    def at(cls, top: Path, git_dir: Path) -> Repository | None:
        shared = read_small(git_dir / "commondir")
        common = (git_dir / shared.strip()).resolve() if shared else git_dir
        if not (common / "objects").is_dir() or read_small(git_dir / "HEAD") is None:
            return None
        return cls(top, git_dir, common)

    @property
    def index(self) -> Path:
        return self.git_dir / "index"

    def refs(self) -> Git:
        """For commands that look up or move names, and touch no content."""
        own = {
            "GIT_DIR": str(self.git_dir),
            "GIT_COMMON_DIR": str(self.common),
            "GIT_WORK_TREE": str(self.top),
        }
        return Git(self.top, {**environment(), **own}, timeout_s=REFS_TIMEOUT_S)

    def resolve(self, name: str) -> str | None:
        """The commit that a name stands for."""
        found = self.refs().attempt("rev-parse", "-q", "--verify", name).stdout.strip()
        return found if HASH.fullmatch(found) else None

    @contextmanager
    def shadow(
        self, *, index: Path | None = None, like: Path | None = None, head: str | None = None
    ) -> Iterator[Git]:
        """Git that knows nothing of the repository's settings. It changes the `index` it is
        given; else it has one of its own, `like` another or empty, gone at the end."""
        with tempfile.TemporaryDirectory(prefix="segue-git-") as made:
            folder = Path(made)
            for name in ("refs", "objects", "info"):
                (folder / name).mkdir()
            (folder / "HEAD").write_text(f"{head}\n" if head else "ref: refs/heads/none\n")
            (folder / "config").write_text(self._settings())
            excluded = read_bounded(self.common / "info" / "exclude", EXCLUDE_BYTES_MAX) or b""
            (folder / "info" / "exclude").write_bytes(excluded)
            if (known := index or like) is not None:
                for shared in known.parent.glob("sharedindex.*"):
                    (folder / shared.name).symlink_to(shared)
            if like is not None and stat.S_ISREG(like.lstat().st_mode):
                shutil.copy2(like, folder / "index")
            own = {
                "GIT_DIR": made,
                "GIT_OBJECT_DIRECTORY": str(self.common / "objects"),
                "GIT_WORK_TREE": str(self.top),
                "GIT_INDEX_FILE": str(index or folder / "index"),
            }
            if (self.common / "shallow").is_file():
                own["GIT_SHALLOW_FILE"] = str(self.common / "shallow")
            yield Git(self.top, {**environment(), **own}, _persons_excludes())

    def _settings(self) -> str:
        kept = {"core.filemode": "true"}
        for key, value in own_settings(self.common):
            if KEPT_SETTINGS.fullmatch(key) and KEPT_VALUE.fullmatch(value.lower()):
                kept[key] = value
        is_extended = any(key.startswith("extensions.") for key in kept)
        lines = [f"[core]\n\trepositoryformatversion = {int(is_extended)}\n\tbare = false"]
        for key, value in kept.items():
            section, _dot, name = key.partition(".")
            lines.append(f"[{section}]\n\t{name} = {value}")
        return "\n".join(lines) + "\n"


def own_settings(common: Path) -> list[tuple[str, str]]:
    """What a repository's own configuration says, and nothing that it includes."""
    data = read_bounded(common / "config", CONFIG_BYTES_MAX)
    if data is None:
        return []
    asked = ("config", "--file", "-", "--no-includes", "-z", "--list")
    shown = Git(Path("/"), environment()).attempt(*asked, stdin=data).stdout
    pairs = (entry.partition("\n") for entry in shown.split("\0") if entry)
    return [(key, value) for key, _newline, value in pairs]


@lru_cache(maxsize=1)
def _persons_excludes() -> tuple[str, ...]:
    """The ignore file that a person named for all repositories: only its lines are used."""
    env = environment()
    del env["GIT_CONFIG_GLOBAL"]
    asked = ("config", "--global", "--path", "--get", "core.excludesFile")
    found = Git(Path("/"), env, timeout_s=REFS_TIMEOUT_S).attempt(*asked).stdout.strip()
    return (f"core.excludesFile={found}",) if found else ()


@lru_cache(maxsize=1)
def identity() -> str:
    """Who the person is, by their own settings: a file of settings that says only this."""
    if shutil.which("git") is None:
        return ""
    env = environment()
    del env["GIT_CONFIG_GLOBAL"]
    lines = []
    for key in ("name", "email"):
        asked = ("config", "--global", "--get", f"user.{key}")
        found = Git(Path("/"), env, timeout_s=REFS_TIMEOUT_S).attempt(*asked).stdout.strip("\n")
        if found:
            quoted = found.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
            lines.append(f'\t{key} = "{quoted}"\n')
    return "[user]\n" + "".join(lines) if lines else ""


# What is looked up without git


def head_of(git_dir: Path) -> tuple[str | None, str | None] | None:
    """The commit and the branch that a git directory stands on; None: it is not one."""
    text = read_small(git_dir / "HEAD")
    if text is None or not (git_dir / "objects").is_dir():
        return None
    text = text.strip()
    if HASH.fullmatch(text):
        return text, None
    branch = text.removeprefix("ref:").strip()
    if not text.startswith("ref:") or not is_ref(branch):
        return None
    return refs_of(git_dir).get(branch), branch


def commit_at(folder: Path) -> str | None:
    """The commit that the repository around a folder stands on; None: there is none."""
    for place in (folder, *folder.parents):
        if os.path.lexists(place / ".git"):
            break
    else:
        return None
    git_dir = place / ".git"
    if not git_dir.is_dir():
        named = named_by(git_dir)
        if named is None:
            return None
        git_dir = named
    head = (read_small(git_dir / "HEAD") or "").strip()
    if HASH.fullmatch(head):
        return head
    branch = head.removeprefix("ref:").strip()
    if not head.startswith("ref:") or not is_ref(branch):
        return None
    common = git_dir / (read_small(git_dir / "commondir") or "").strip()
    commit = (read_small(common / branch) or "").strip()
    return commit if HASH.fullmatch(commit) else _packed(common).get(branch)


def _packed(git_dir: Path) -> dict[str, str]:
    text = read_bounded(git_dir / "packed-refs", PACKED_REFS_BYTES_MAX) or b""
    found: dict[str, str] = {}
    for line in text.decode("utf-8", "replace").splitlines():
        commit, _space, name = line.partition(" ")
        if HASH.fullmatch(commit) and is_ref(name):
            found[name] = commit
    return found


def refs_of(git_dir: Path, refs_max: int = 100_000) -> dict[str, str]:
    """All names and their commits, of files alone: links are not followed."""
    found = _packed(git_dir)
    for folder, _folders, names in os.walk(git_dir / "refs"):
        for name in names:
            path = Path(folder, name)
            ref, commit = str(path.relative_to(git_dir)), (read_small(path) or "").strip()
            if is_ref(ref) and HASH.fullmatch(commit):
                found[ref] = commit
        if len(found) > refs_max:
            break
    return found


def is_ref(name: str) -> bool:
    parts = name.split("/")
    return name.startswith("refs/") and name.isprintable() and "" not in parts and ".." not in parts


def named_by(pointer: Path) -> Path | None:
    """The git directory that a `.git` file names."""
    text = read_small(pointer)
    if text is None or not text.startswith("gitdir: "):
        return None
    return (pointer.parent / text.removeprefix("gitdir: ").strip()).resolve()


def read_small(path: Path) -> str | None:
    data = read_bounded(path, SMALL_BYTES_MAX)
    return None if data is None else os.fsdecode(data)


def read_bounded(path: Path, bytes_max: int) -> bytes | None:
    """The content of a file that is one, and not too large: no link, no pipe, no device."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > bytes_max:
            return None
        with os.fdopen(fd, "rb", closefd=False) as file:
            return file.read(bytes_max)
    finally:
        os.close(fd)


def remove_tree(path: Path) -> None:
    """A folder and all in it; a link is removed, and never followed."""
    try:
        if stat.S_ISDIR(path.lstat().st_mode):
            shutil.rmtree(path)
        else:
            path.unlink()
    except FileNotFoundError:
        pass
    except OSError as error:
        raise GitError(f"{path}: {error.strerror or error}") from error
