"""What is in a workspace, and how it is cleared: no link is followed, no repository entered."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

NOT_LOOKED_INTO = b".git"  # in any case: git itself takes none of them


@dataclass(frozen=True, slots=True)
class Tree:
    """The names of files and links, and of folders without any, from the top."""

    files: list[bytes]
    empty: list[bytes]


def names_in(top: Path) -> Tree:
    """All plain files and links below a folder that can be read."""
    found, empty = [], []
    for folder, entries in _folders(os.fsencode(top)):
        prefix = folder + b"/" if folder else b""
        if folder and not entries:
            empty.append(folder)
        for entry in entries:
            name = prefix + entry.name
            if entry.is_symlink():
                if entry.name.lower() != b".gitmodules":  # as a link git does not take it
                    found.append(name)
            elif entry.is_file(follow_symlinks=False) and os.access(entry.path, os.R_OK):
                found.append(name)
    return Tree(found, empty)


def clear(top: Path, kept: Tree) -> None:
    """Take away what is not to be there, and what stands in the way of what is."""
    root = os.fsencode(top)
    files = set(kept.files)
    folders = {above for name in (*files, *kept.empty) for above in _above(name)} | set(kept.empty)
    for folder, entries in reversed(list(_folders(root))):  # the deepest first
        for entry in entries:
            name = folder + b"/" + entry.name if folder else entry.name
            if not entry.is_dir(follow_symlinks=False) and name not in files:
                os.unlink(entry.path)  # noqa: PTH108 - names are bytes here
        if folder and folder not in folders:
            path = root + b"/" + folder
            with suppress(OSError):  # it has a repository in it
                os.rmdir(path)  # noqa: PTH106 - names are bytes here
            if folder in files and os.path.isdir(path):  # noqa: PTH112 - names are bytes here
                os.rename(path, _free(path))  # noqa: PTH104 - names are bytes here


def _folders(root: bytes) -> Iterator[tuple[bytes, list[os.DirEntry[bytes]]]]:
    """Every folder from the top, before those in it, with its entries."""
    waiting = [b""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(root + b"/" + folder if folder else root) as scanned:
                every = sorted(scanned, key=lambda entry: entry.name)
        except (PermissionError, FileNotFoundError):
            if not folder:
                raise
            continue
        entries = [entry for entry in every if entry.name.lower() != NOT_LOOKED_INTO]
        yield folder, entries
        prefix = folder + b"/" if folder else b""
        waiting += [prefix + entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]


def _above(name: bytes) -> Iterator[bytes]:
    while b"/" in name:
        name = name.rpartition(b"/")[0]
        yield name


def _free(path: bytes) -> bytes:
    n = 1
    while os.path.lexists(free := path + b"-kept-%d" % n):
        n += 1
    return free
