"""Folders that are watched, by inotify and by polling alike."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from kit.waiting import until_async
from segue.drivers import inotify
from segue.drivers.inotify import ANYTHING, FolderWatch, Inotify, is_remote, look

both_ways = pytest.mark.parametrize("poll", [False, True], ids=["inotify", "poll"])


def play(scene: Callable[[FolderWatch], Awaitable[None]], *, poll: bool = False) -> None:
    async def main() -> None:
        watch = FolderWatch(poll=poll)
        try:
            await scene(watch)
        finally:
            watch.close()

    asyncio.run(main())


@both_ways
def test_every_kind_of_change_is_told(tmp_path: Path, poll: bool) -> None:
    """A file that is made, grows, is replaced by another or removed is told by name."""

    async def scene(watch: FolderWatch) -> None:
        names: list[str] = []
        watch.watch(tmp_path, names.append)
        assert watch.is_polled(tmp_path) == poll
        file, other = tmp_path / "plan.md", elsewhere / "other"

        async def told(change: Callable[[], object]) -> None:
            (tmp_path / "mark").write_text(f"{len(names)}")  # all that went before is told first
            await until_async(lambda: "mark" in names)
            names.clear()
            change()
            await until_async(lambda: "plan.md" in names)

        await told(lambda: file.write_text("a"))
        with file.open("ab", buffering=0) as handle:
            await told(lambda: handle.write(b"b"))
        other.write_text("cc")
        await told(lambda: other.rename(file))
        await told(file.unlink)

    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    elsewhere.mkdir()
    play(scene, poll=poll)


@both_ways
def test_callbacks_of_one_folder_are_apart(tmp_path: Path, poll: bool) -> None:
    """Each callback is told until it is taken away; one that fails does not harm the others."""

    async def scene(watch: FolderWatch) -> None:
        first: list[str] = []
        second: list[str] = []
        failures: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, what: failures.append(what))

        def fail(name: str) -> None:
            raise ValueError(name)

        for callback in (fail, first.append, second.append):
            watch.watch(tmp_path, callback)
        (tmp_path / "a").touch()
        await until_async(lambda: "a" in first and "a" in second)
        assert failures
        watch.unwatch(tmp_path, first.append)
        (tmp_path / "b").touch()
        await until_async(lambda: "b" in second)
        assert "b" not in first

    play(scene, poll=poll)


def test_a_callback_that_was_taken_away_is_not_told(tmp_path: Path) -> None:
    """Not even of a change that was already on its way."""

    async def scene(watch: FolderWatch) -> None:
        second: list[str] = []
        third: list[str] = []

        def first(name: str) -> None:
            if not third:
                watch.unwatch(tmp_path, second.append)
                third.append(name)

        watch.watch(tmp_path, first)
        watch.watch(tmp_path, second.append)
        watch.watch(tmp_path, third.append)
        (tmp_path / "a").touch()
        await until_async(lambda: len(third) > 1)
        assert second == []

    play(scene)


@both_ways
def test_a_folder_may_come_late_and_come_back(tmp_path: Path, poll: bool) -> None:
    """A folder that does not exist yet, or was removed, is watched as soon as it is there."""

    async def scene(watch: FolderWatch) -> None:
        names: list[str] = []
        folder = tmp_path / "later"
        watch.watch(folder, names.append)
        for _ in range(2):
            names.clear()
            folder.mkdir()
            file = folder / "a"
            file.touch()
            await until_async(lambda: "a" in names)
            await until_async(lambda: watch.is_polled(folder) == poll)
            names.clear()
            file.unlink()
            folder.rmdir()
            await until_async(lambda: names)
        assert watch.is_polled(folder)

    play(scene, poll=poll)


def test_one_folder_by_two_names(tmp_path: Path) -> None:
    """A folder that is watched by two names tells both, and keeps one when the other goes."""

    async def scene(watch: FolderWatch) -> None:
        real: list[str] = []
        linked: list[str] = []
        watch.watch(folder, real.append)
        watch.watch(link, linked.append)
        (folder / "a").touch()
        await until_async(lambda: "a" in real and "a" in linked)
        watch.unwatch(folder, real.append)
        (folder / "b").touch()
        await until_async(lambda: "b" in linked)
        assert "b" not in real

    folder, link = tmp_path / "folder", tmp_path / "link"
    folder.mkdir()
    link.symlink_to(folder)
    play(scene)


def test_an_overflow_means_look_at_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the kernel lost events, every callback is told that anything may have changed."""

    async def scene(watch: FolderWatch) -> None:
        names: list[str] = []
        watch.watch(tmp_path, names.append)
        monkeypatch.setattr(Inotify, "read", lambda _: [(-1, inotify.IN_Q_OVERFLOW, "")])
        (tmp_path / "a").touch()
        await until_async(lambda: ANYTHING in names)

    play(scene)


@pytest.mark.parametrize("what", ["__init__", "add"])
def test_polling_where_inotify_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """When the limit of instances or of watches is reached, polling takes over by itself."""

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    async def scene(watch: FolderWatch) -> None:
        names: list[str] = []
        watch.watch(tmp_path, names.append)
        assert watch.is_polled(tmp_path)
        (tmp_path / "a").touch()
        await until_async(lambda: "a" in names)
        monkeypatch.undo()
        await until_async(lambda: watch.is_polled(tmp_path) == (what == "__init__"))

    monkeypatch.setattr(Inotify, what, refuse)
    play(scene)


def test_a_network_file_system_is_polled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder on a file system that other machines write to is polled."""

    async def scene(watch: FolderWatch) -> None:
        watch.watch(tmp_path, lambda _: None)
        assert watch.is_polled(tmp_path)

    monkeypatch.setattr(inotify, "is_remote", lambda _: True)
    play(scene)


@pytest.mark.parametrize(
    ("kind", "expected"), [("ext4", False), ("nfs4", True), ("9p", True), ("fuse.sshfs", True)]
)
def test_is_remote(tmp_path: Path, kind: str, expected: bool) -> None:
    """The kind of a folder's file system is found among the mounts by its device."""
    device = tmp_path.stat().st_dev
    numbers = f"{device >> 8 & 0xFFF}:{device & 0xFF | device >> 12 & 0xFFF00}"
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "21 1 0:99999 / /other rw shared:1 - nfs server:/ rw\n"
        f"22 1 {numbers} / / rw,relatime shared:1 master:2 - {kind} source rw\n"
    )
    assert is_remote(tmp_path, mounts) is expected
    assert not is_remote(tmp_path / "nowhere", mounts)


def test_a_change_within_the_clocks_grain_is_seen(tmp_path: Path) -> None:
    """A file that may have changed since, though it looks the same, is told once more."""
    file = tmp_path / "a"
    file.touch()
    fresh = look(tmp_path)
    stat = file.stat()
    settled_ns = stat.st_mtime_ns - int(10e9)
    os.utime(file, ns=(settled_ns, settled_ns))
    settled = look(tmp_path)
    assert (fresh["a"][3], settled["a"][3]) == (False, True)
    assert time.time_ns() - settled_ns > inotify.SETTLED_S * 1e9


def test_nothing_is_told_after_the_end(tmp_path: Path) -> None:
    """No callback comes after close, not even for what has happened before."""

    async def main() -> None:
        names: list[str] = []
        watch = FolderWatch()
        watch.watch(tmp_path, names.append)
        (tmp_path / "a").touch()
        watch.close()
        for _ in range(10):
            await asyncio.sleep(0)
        assert names == []

    asyncio.run(main())
