"""Files that are followed while they grow."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path

import pytest

from kit.waiting import until_async
from segue.drivers.follow import CHUNK_BYTES, END_BYTES, FAR_BEHIND_BYTES, Follower, Turns
from segue.drivers.inotify import FolderWatch

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
def test_bytes_come_as_they_are_written(tmp_path: Path, poll: bool) -> None:
    """A file that does not exist yet is followed from its first byte on."""

    async def scene(watch: FolderWatch) -> None:
        got = bytearray()
        follower = Follower(watch, path, got.extend)
        follower.start()
        with path.open("ab", buffering=0) as file:
            for word in (b"one", b"two"):
                file.write(word)
                await until_async(lambda word=word: got.endswith(word))
        assert (bytes(got), follower.offset) == (b"onetwo", 6)
        follower.stop()

    path = tmp_path / "log"
    play(scene, poll=poll)


def test_from_an_offset(tmp_path: Path) -> None:
    """What was read before is not handed over again."""

    async def scene(watch: FolderWatch) -> None:
        got = bytearray()
        follower = Follower(watch, path, got.extend, 6)
        follower.start()
        await until_async(lambda: got)
        assert (bytes(got), follower.offset) == (b"after", 11)
        follower.stop()

    path = tmp_path / "log"
    path.write_bytes(b"beforeafter")
    play(scene)


def test_offset_within_the_callback(tmp_path: Path) -> None:
    """While bytes are handed over the offset is behind them, so it can be kept with them."""

    async def scene(watch: FolderWatch) -> None:
        offsets: list[int] = []
        follower = Follower(watch, path, lambda _: offsets.append(follower.offset))
        await follower.drain()
        follower.stop()
        assert offsets == [CHUNK_BYTES, CHUNK_BYTES + 5]

    path = tmp_path / "log"
    path.write_bytes(b"x" * (CHUNK_BYTES + 5))
    play(scene)


def test_chunks_leave_the_loop_its_turns(tmp_path: Path) -> None:
    """A big file comes in bounded chunks, and others get their turn between two of them."""

    async def scene(watch: FolderWatch) -> None:
        sizes: list[int] = []
        turns: list[int] = []
        follower = Follower(watch, path, lambda data: sizes.append(len(data)))
        follower.start()
        while sum(sizes) < 10 * CHUNK_BYTES + 1:
            turns.append(len(sizes))
            await asyncio.sleep(0)
        assert max(sizes) == CHUNK_BYTES
        assert max(b - a for a, b in pairwise(turns)) <= 1
        follower.stop()

    path = tmp_path / "log"
    path.write_bytes(b"x" * (10 * CHUNK_BYTES + 1))
    play(scene)


def test_drain(tmp_path: Path) -> None:
    """Everything up to the end of the file comes, and nothing twice."""

    async def scene(watch: FolderWatch) -> None:
        got = bytearray()
        follower = Follower(watch, path, got.extend)
        follower.start()
        await follower.drain()
        assert bytes(got) == content
        for _ in range(10):
            await asyncio.sleep(0)
        assert bytes(got) == content
        follower.stop()
        await Follower(watch, tmp_path / "nothing", got.extend).drain()
        assert bytes(got) == content

    path = tmp_path / "log"
    content = bytes(range(256)) * 1000
    path.write_bytes(content)
    play(scene)


def test_what_is_left_at_the_end_leaves_the_loop_its_turns(tmp_path: Path) -> None:
    """Three runs end with a long backlog each: between two chunks of any of them others come."""

    async def scene(watch: FolderWatch) -> None:
        chunks: list[str] = []
        turns, shared = [0], Turns()

        def following(path: Path) -> Follower:
            return Follower(watch, path, lambda _: chunks.append(path.name), turns=shared)

        followers = [following(path) for path in paths]
        followers[0].start()
        drains = asyncio.gather(*(follower.drain() for follower in followers))
        while not drains.done():
            await asyncio.sleep(0)
            turns.append(len(chunks))
        assert len(chunks) == 3 * 11
        assert max(b - a for a, b in pairwise(turns)) == 1
        assert {chunks.count(path.name) for path in paths} == {11}
        assert len(set(chunks[:5])) == 3, "none waits for another's end"
        for follower in followers:
            follower.stop()

    paths = [tmp_path / name for name in ("a", "b", "c")]
    for path in paths:
        path.write_bytes(b"x" * (10 * CHUNK_BYTES + 1))
    play(scene)


def test_a_drain_ends_where_the_file_ended(tmp_path: Path) -> None:
    """One that grows on, against all rules, is not read for ever."""

    async def scene(watch: FolderWatch) -> None:
        got: list[int] = []

        def take(data: bytes) -> None:
            got.append(len(data))
            with path.open("ab") as file:
                file.write(b"x" * CHUNK_BYTES)

        follower = Follower(watch, path, take)
        await follower.drain()
        follower.stop()
        assert sum(got) == 3 * CHUNK_BYTES

    path = tmp_path / "log"
    path.write_bytes(b"x" * (3 * CHUNK_BYTES))
    play(scene)


def test_nothing_comes_after_stop(tmp_path: Path) -> None:
    """A follower that was stopped, also by its own callback, hands over nothing more."""

    async def scene(watch: FolderWatch) -> None:
        got: list[int] = []

        def take(data: bytes) -> None:
            got.append(len(data))
            follower.stop()

        follower = Follower(watch, path, take)
        follower.start()
        await until_async(lambda: got)
        with path.open("ab") as file:
            file.write(b"more")
        other: list[str] = []
        watch.watch(tmp_path, other.append)
        (tmp_path / "other").touch()
        await until_async(lambda: "other" in other)
        assert got == [CHUNK_BYTES]

    path = tmp_path / "log"
    path.write_bytes(b"x" * (2 * CHUNK_BYTES))
    play(scene)


def test_a_file_that_was_removed_is_read_on(tmp_path: Path) -> None:
    """Its folder is gone, and comes back without it; what is still written to it is heard."""

    async def scene(watch: FolderWatch) -> None:
        got = bytearray()
        follower = Follower(watch, path, got.extend)
        follower.start()
        with path.open("ab", buffering=0) as file:
            file.write(b"one")
            await until_async(lambda: got == b"one")
            path.unlink()
            path.parent.rmdir()
            path.parent.mkdir()
            file.write(b"two")
            await until_async(lambda: got == b"onetwo")
            file.write(b"three")
            await until_async(lambda: got == b"onetwothree")
        follower.stop()

    path = tmp_path / "logs" / "log"
    path.parent.mkdir()
    play(scene)


@pytest.mark.parametrize("is_dull", [True, False])
def test_very_much_is_offered_in_big_pieces(tmp_path: Path, is_dull: bool) -> None:
    """Taken or refused, each byte is handed over once, and the end is read in small chunks."""

    async def scene(watch: FolderWatch) -> None:
        passed, read, offered = bytearray(), bytearray(), 0

        def skim(data: bytes) -> bool:
            nonlocal offered
            offered += len(data)
            if is_dull:
                passed.extend(data)
            return is_dull

        follower = Follower(watch, path, read.extend, skim=skim)
        follower.start()
        await follower.drain()
        assert bytes(passed + read) == content
        assert len(read) >= END_BYTES
        assert len(read) < FAR_BEHIND_BYTES or not is_dull
        assert offered <= len(content), "what was refused is not offered again"
        follower.stop()

    path = tmp_path / "log"
    content = bytes(range(256)) * 20_000
    path.write_bytes(content)
    play(scene)
