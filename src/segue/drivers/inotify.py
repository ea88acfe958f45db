"""Which files of a folder change: by inotify, or by looking again and again where that fails.

Folders are watched, not files: one watch serves the logs of all runs, and a file that is replaced
by renaming, as editors do, is still seen. Callbacks get the name of the file; the empty name
(`ANYTHING`) means that anything may have changed: look at everything.

inotify cannot be had when the user's limit of watches or instances is reached, and tells nothing
of other machines' writes on a network file system. Such a folder is looked at every 200 ms
instead, and so is one that was removed, until it is back.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

ANYTHING = ""
POLL_S = 0.2
SETTLED_S = 2.0  # file systems' clocks are coarse: a younger file may change and look the same
READ_BYTES = 65536

IN_MODIFY, IN_ATTRIB, IN_CLOSE_WRITE = 0x2, 0x4, 0x8
IN_MOVED_FROM, IN_MOVED_TO, IN_CREATE, IN_DELETE = 0x40, 0x80, 0x100, 0x200
IN_DELETE_SELF, IN_MOVE_SELF = 0x400, 0x800
IN_UNMOUNT, IN_Q_OVERFLOW, IN_IGNORED = 0x2000, 0x4000, 0x8000
IN_ONLYDIR = 0x01000000
GONE = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED
CHANGES = (
    IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE
) | GONE & ~(IN_UNMOUNT | IN_IGNORED)  # those two come unasked
HEADER = struct.Struct("iIII")

REMOTE = ("nfs", "cifs", "smb", "9p", "fuse", "ceph", "afs", "gfs", "lustre", "virtiofs", "vboxsf")

Seen = dict[str, tuple[int, int, int, bool]]  # name → inode, size, mtime, settled


class Inotify:
    """The kernel's inotify, as far as it is needed here."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self._checked(self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))

    @staticmethod
    def _checked(result: int) -> int:
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return result

    def add(self, folder: Path) -> int:
        path = os.fsencode(folder)
        return self._checked(self._libc.inotify_add_watch(self.fd, path, CHANGES | IN_ONLYDIR))

    def remove(self, watch: int) -> None:
        self._libc.inotify_rm_watch(self.fd, watch)  # it may be gone with its folder: fine

    def read(self) -> list[tuple[int, int, str]]:
        """What happened: watch, kinds, name. Each once."""
        try:
            data = os.read(self.fd, READ_BYTES)
        except BlockingIOError:
            return []
        events: dict[tuple[int, int, bytes], None] = {}
        offset = 0
        while offset < len(data):
            watch, mask, _, size = HEADER.unpack_from(data, offset)
            offset += HEADER.size
            name = data[offset : offset + size].rstrip(b"\0")
            offset += size
            # Of a file that changed it matters that it did, not how.
            events[watch, mask & (GONE | IN_Q_OVERFLOW), name] = None
        return [(watch, mask, os.fsdecode(name)) for watch, mask, name in events]

    def close(self) -> None:
        os.close(self.fd)


class FolderWatch:
    """Calls back with the name of each file that changes in the folders it was given.

    `poll`: do without inotify. Call it in the loop's thread.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop | None = None, *, poll: bool = False
    ) -> None:
        self._loop = loop or asyncio.get_running_loop()
        self._callbacks: dict[Path, list[Callable[[str], None]]] = {}
        self._folders: dict[int, set[Path]] = {}  # two names of one folder share a watch
        self._looked: dict[Path, Seen] = {}  # the polled ones
        self._timer: asyncio.TimerHandle | None = None
        self._inotify: Inotify | None = None
        if not poll:
            with suppress(OSError):  # no instance to be had: everything is polled
                self._inotify = Inotify()
                self._loop.add_reader(self._inotify.fd, self._on_events)

    def watch(self, folder: Path, callback: Callable[[str], None]) -> None:
        """Call back from now on; the folder need not exist yet."""
        callbacks = self._callbacks.setdefault(folder, [])
        callbacks.append(callback)
        if len(callbacks) == 1 and not self._begin_inotify(folder):
            self._begin_polling(folder)

    def unwatch(self, folder: Path, callback: Callable[[str], None]) -> None:
        callbacks = self._callbacks[folder]
        callbacks.remove(callback)
        if callbacks:
            return
        del self._callbacks[folder]
        self._looked.pop(folder, None)
        for watch, folders in list(self._folders.items()):
            folders.discard(folder)
            if not folders and self._inotify:
                self._inotify.remove(watch)
                del self._folders[watch]

    def close(self) -> None:
        """No callback comes after this."""
        self._callbacks.clear()
        self._folders.clear()
        self._looked.clear()
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self._inotify:
            self._loop.remove_reader(self._inotify.fd)
            self._inotify.close()
            self._inotify = None

    def is_polled(self, folder: Path) -> bool:
        return folder in self._looked

    def _begin_inotify(self, folder: Path) -> bool:
        if self._inotify is None or is_remote(folder):
            return False
        try:
            watch = self._inotify.add(folder)
        except OSError:  # no folder (yet), or no watch to be had (now)
            return False
        self._folders.setdefault(watch, set()).add(folder)
        return True

    def _begin_polling(self, folder: Path) -> None:
        self._looked[folder] = look(folder)
        if self._timer is None:
            self._timer = self._loop.call_later(POLL_S, self._on_timer)

    def _on_events(self) -> None:
        assert self._inotify
        for watch, mask, name in self._inotify.read():
            if mask & IN_Q_OVERFLOW:
                for folder in self._callbacks:
                    self._tell(folder, ANYTHING)
            elif mask & GONE:
                folders = self._folders.pop(watch, set())
                if folders and not mask & IN_IGNORED:
                    self._inotify.remove(watch)
                for folder in folders:
                    self._begin_polling(folder)
                    self._tell(folder, ANYTHING)
            else:
                for folder in self._folders.get(watch, ()):
                    self._tell(folder, name)

    def _on_timer(self) -> None:
        self._timer = None
        for folder, before in list(self._looked.items()):
            is_watched = self._begin_inotify(folder)  # before the look: nothing falls between
            after = self._looked[folder] = look(folder)
            for name in before.keys() | after.keys():
                if before.get(name) != after.get(name):
                    self._tell(folder, name)
            if is_watched:
                del self._looked[folder]
        if self._looked:
            self._timer = self._loop.call_later(POLL_S, self._on_timer)

    def _tell(self, folder: Path, name: str) -> None:
        for callback in self._callbacks.get(folder, ()):
            # Each in a turn of its own: one that fails does not keep the others from knowing.
            self._loop.call_soon(self._call, folder, callback, name)

    def _call(self, folder: Path, callback: Callable[[str], None], name: str) -> None:
        if callback in self._callbacks.get(folder, ()):
            callback(name)


def look(folder: Path) -> Seen:
    """The folder's files as far as a change shows; nothing where there is no folder."""
    seen: Seen = {}
    settled_ns = time.time_ns() - int(SETTLED_S * 1e9)
    with (
        suppress(FileNotFoundError, NotADirectoryError, PermissionError),
        os.scandir(folder) as all_,
    ):
        for entry in all_:
            with suppress(FileNotFoundError):
                stat = entry.stat(follow_symlinks=False)
                is_settled = stat.st_mtime_ns < settled_ns
                seen[entry.name] = (stat.st_ino, stat.st_size, stat.st_mtime_ns, is_settled)
    return seen


def is_remote(folder: Path, mounts: Path = Path("/proc/self/mountinfo")) -> bool:
    """Whether other machines may write to it without this one's kernel knowing."""
    try:
        device = folder.stat().st_dev
    except OSError:
        return False
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in mounts.read_text(errors="replace").splitlines():
        fields = line.split()
        if fields[2] == wanted:
            return fields[fields.index("-") + 1].startswith(REMOTE)
    return False
