"""Logs and deliverables: whole, in parts, as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.front import FakeCommands, Front
from segue.server.downloads import PIECE_BYTES

TEXT = bytes(range(256)) * 4  # as an agent printed it


@pytest.fixture
def path(front: Front, commands: FakeCommands) -> str:
    commands.text = TEXT
    return f"/api/tasks/{front.task()['id']}/log"


def test_a_log_comes_as_it_is(front: Front, path: str) -> None:
    """All bytes, as plain text that no browser takes for a page; its length is told."""
    answer = front.api.get(path)
    assert (answer.status_code, answer.content) == (200, TEXT)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-log-size"] == answer.headers["x-next-offset"] == "1024"


def test_a_long_log_is_read_in_pieces(front: Front, commands: FakeCommands, path: str) -> None:
    """What it is read into does not grow with it."""
    commands.text = b"0123456789" * (PIECE_BYTES // 4)
    asked: list[int] = []
    whole = commands.log

    def log(id: str, *, offset: int = 0, limit: int = 0) -> tuple[bytes, int]:
        asked.append(limit)
        return whole(id, offset=offset, limit=limit)

    commands.log = log  # type: ignore[method-assign]
    assert front.api.get(path).content == commands.text
    assert max(asked) == PIECE_BYTES
    assert len(asked) == 4


@pytest.mark.parametrize(
    ("query", "expected", "following"),
    [
        ("offset=1000", TEXT[1000:], "1024"),
        ("offset=10&limit=5", TEXT[10:15], "15"),
        ("limit=3", TEXT[:3], "3"),
        ("offset=5000", b"", "1024"),
    ],
)
def test_a_log_is_read_on_from_an_offset(
    front: Front, path: str, query: str, expected: bytes, following: str
) -> None:
    """`X-Next-Offset` is where to go on; at the end it is the length."""
    answer = front.api.get(f"{path}?{query}")
    assert (answer.status_code, answer.content) == (200, expected)
    assert answer.headers["x-next-offset"] == following


@pytest.mark.parametrize(
    ("asked", "expected", "told"),
    [
        ("bytes=0-0", TEXT[:1], "bytes 0-0/1024"),
        ("bytes=10-19", TEXT[10:20], "bytes 10-19/1024"),
        ("bytes=1000-", TEXT[1000:], "bytes 1000-1023/1024"),
        ("bytes=1000-9999", TEXT[1000:], "bytes 1000-1023/1024"),
        ("bytes=-4", TEXT[-4:], "bytes 1020-1023/1024"),
        ("bytes=-9999", TEXT, "bytes 0-1023/1024"),
    ],
)
def test_a_range_of_a_log(front: Front, path: str, asked: str, expected: bytes, told: str) -> None:
    """206 with the bytes, and which they are."""
    answer = front.api.get(path, headers={"Range": asked})
    assert (answer.status_code, answer.content) == (206, expected)
    assert answer.headers["content-range"] == told


@pytest.mark.parametrize("asked", ["bytes=5-4", "bytes=-", "lines=1-2", "bytes=1-2,4-5", "x" * 99])
def test_a_range_that_is_not_well_made_is_none(front: Front, path: str, asked: str) -> None:
    """The whole log comes, as HTTP wants it."""
    answer = front.api.get(path, headers={"Range": asked})
    assert (answer.status_code, answer.content) == (200, TEXT)


@pytest.mark.parametrize("asked", ["bytes=1024-", "bytes=5000-6000", "bytes=-0"])
def test_a_range_with_nothing_in_it(front: Front, path: str, asked: str) -> None:
    """416, and how long the log is."""
    answer = front.api.get(path, headers={"Range": asked})
    assert answer.status_code == 416
    assert answer.headers["content-range"] == "bytes */1024"


def test_deliverables_come_as_a_zip(front: Front, commands: FakeCommands, tmp_path: Path) -> None:
    """From a file or in pieces, under the task's name."""
    id = front.task()["id"]
    (tmp_path / "x.zip").write_bytes(b"PK-file")
    for found, expected in ((tmp_path / "x.zip", b"PK-file"), ([b"PK-", b"pieces"], b"PK-pieces")):
        commands.zip = found
        answer = front.api.get(f"/api/tasks/{id}/deliverables.zip")
        assert (answer.status_code, answer.content) == (200, expected)
        assert answer.headers["content-type"] == "application/zip"
        assert answer.headers["content-disposition"] == f'attachment; filename="{id}.zip"'
