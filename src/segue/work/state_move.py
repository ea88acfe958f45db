"""Bringing the state of a project to where it belongs, at the first start at which nobody uses it.

An earlier version kept it in `.segue/`. Everything is copied first, the database last, and the
rename of its copy decides: whoever dies before it leaves the old place in use, whoever dies after
it the new one, and the next start finishes. Each moment there is one database that counts.

As long as a process works on the old place, everybody uses that. Processes of this version hold
`move.lock` meanwhile, shared; those of an earlier one are known by their own locks.

A project's folder that was moved takes its state folder along, which is then renamed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from segue.store import files, lock, wal
from segue.work import planted_memory, state_folder
from segue.work.state_folder import DATABASE, UNFINISHED

TURN = "move.lock"
EVIDENCE = "evidence"
KEYS = ("token", "secrets.key", "webhook-secret")  # in `server/`
ALONE_S = 0.2  # how long to wait for a process that reads this moment

_shared: dict[Path, int] = {}  # held until this process ends: it uses the old place


def bring(root: Path, memory: Path, state: Path) -> bool:
    """Move what an earlier version left in `.segue/`; whether it is in its new place now."""
    files.make_private_folder(state)
    with _turn(state / TURN) as is_ours:
        if (state / DATABASE).exists():
            if is_ours and (state / UNFINISHED).exists():
                _remove_old(memory, state)
            return True
        if is_ours and _move(root, memory, state):
            return True
    _share(state / TURN)
    return (state / DATABASE).exists()


def follow(root: Path, found: Path) -> Path:
    """Rename the state folder of a project that was moved; where it is now."""
    owner, told = state_folder.owner_of(root), state_folder.read_record(found)
    own = state_folder.folder_of(root)
    if told is None or found == own or found.parent != own.parent:
        return found
    before = state_folder.owner_of(Path(told.path))
    if told.path != owner.path and before.is_same_folder(owner):
        return found  # one folder that is mounted in two places
    with _turn(found / TURN) as is_ours:
        if not is_ours or _is_owned(found / "locks") or own.exists():
            return found
        found.rename(own)
        files.sync_folder(own.parent)
    state_folder.write_record(own, root)
    return own


@contextmanager
def _turn(path: Path) -> Iterator[bool]:
    """Whether we are the only one to move anything here."""
    with open(path, "ab", opener=files.private) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def _share(path: Path) -> None:
    """Keep others from moving the state while this process lives; waits for a move under way."""
    if path in _shared:
        return
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(fd, fcntl.LOCK_SH)
    _shared[path] = fd


def _move(root: Path, memory: Path, state: Path) -> bool:
    if _is_owned(memory / "locks") or wal.is_broken(memory / f"{DATABASE}-wal"):
        return False  # of a damaged log its next owner must hear
    files.replace(state / UNFINISHED, b"", mode=0o600)
    try:
        _take(memory / EVIDENCE, state / EVIDENCE, root)
        for name in KEYS:
            _take(memory / "server" / name, state / "server" / name, root)
        return _take_database(memory, state)
    except _InUseError:
        return False


class _InUseError(Exception):
    """Another process still writes to what would be copied."""


def _is_owned(locks: Path) -> bool:
    return any(lock.holder(path) is not None for path in sorted(locks.glob("*.lock")))


def _take(source: Path, target: Path, root: Path) -> None:
    """Files of the user's own alone: no links, no devices. A second name where that is possible:
    a check may write its output this moment."""
    if planted_memory.fault(source) is not None:
        return
    if source.is_dir():
        files.make_private_folder(target)
        for entry in sorted(source.iterdir()):
            _take(entry, target / entry.name, root)
        files.sync_folder(target)
    elif source.is_file() and not _is_taken(source, target):
        files.make_private_folder(target.parent)
        try:
            target.unlink(missing_ok=True)
            os.link(source, target, follow_symlinks=False)
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP):
                raise
            _copy(source, target, root)
        target.chmod(0o600)
        files.sync_file(target)


def _is_taken(source: Path, target: Path) -> bool:
    return target.exists() and target.samefile(source)


def _copy(source: Path, target: Path, root: Path) -> None:
    """Into another file system."""
    from segue.drivers.living import living_agents  # noqa: PLC0415 - few need it

    if living_agents(str(root)):
        raise _InUseError
    fresh = target.with_name(f".{target.name}.segue-moving")
    shutil.copyfile(source, fresh, follow_symlinks=False)
    shutil.copystat(source, fresh, follow_symlinks=False)
    files.sync_file(fresh)
    fresh.replace(target)


def _take_database(memory: Path, state: Path) -> bool:
    """Copy it while no other process has it open; the rename of the copy is what counts."""
    old, new = memory / DATABASE, state / DATABASE
    fresh = new.with_name(f".{new.name}.segue-moving")
    _remove_database(fresh)
    try:
        with closing(sqlite3.connect(old, timeout=ALONE_S, isolation_level=None)) as db:
            # Only a connection that is alone can leave the write-ahead log.
            db.execute("PRAGMA locking_mode = EXCLUSIVE")
            if db.execute("PRAGMA journal_mode = DELETE").fetchone()[0] != "delete":
                return False
            db.execute("BEGIN EXCLUSIVE")
            db.execute("COMMIT")  # the lock stays until the connection is closed
            os.close(os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            with closing(sqlite3.connect(fresh)) as copy:
                db.backup(copy)
            files.sync_file(fresh)
            fresh.replace(new)
            files.sync_folder(state)
            _remove_old(memory, state)
    except sqlite3.DatabaseError:  # it is in use, or damaged: opening it reports that
        _remove_database(fresh)
        return False
    return True


def _remove_database(path: Path) -> None:
    """With what SQLite puts beside it."""
    for end in ("-wal", "-shm", "-journal", ""):
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)


def _remove_old(memory: Path, state: Path) -> None:
    """What was moved goes from the project, also after a death in between."""
    _remove_database(memory / DATABASE)
    for name in KEYS:
        (memory / "server" / name).unlink(missing_ok=True)
    for name in (EVIDENCE, "locks"):
        if not (memory / name).is_symlink():
            with suppress(FileNotFoundError):
                shutil.rmtree(memory / name)
    files.sync_folder(memory)
    (state / UNFINISHED).unlink(missing_ok=True)
