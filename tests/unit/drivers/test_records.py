"""The claim of a run, which becomes its end record."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from segue.drivers import records


def read(path: Path) -> Any:
    """What the record says; behind it there is room for the last output."""
    return json.loads(path.read_bytes()[: records.RECORD_BYTES])


def test_a_claim_is_taken_once(tmp_path: Path) -> None:
    """The second who wants it is refused, and the first one's stays."""
    path = tmp_path / "run.claim"
    os.close(records.claim(str(path), {"pid": 1}))
    with pytest.raises(FileExistsError):
        records.claim(str(path), {"pid": 2})
    assert read(path) == {"pid": 1}
    assert path.stat().st_mode & 0o777 == 0o600


def test_its_block_is_there_from_the_beginning(tmp_path: Path) -> None:
    """At the end the disk may be full: the record and the last output need no
    more room than the claim."""
    claim, end = tmp_path / "claim", tmp_path / "end"
    fd = records.claim(str(claim), {"pid": 1})
    room = records.RECORD_BYTES + records.TAIL_BYTES_MAX
    assert claim.stat().st_size == room
    assert records.keep_tail(fd, b"last words\n") == len(b"last words\n")
    records.leave(fd, str(claim), str(end), {"code": 0})
    assert end.stat().st_size == room
    assert end.read_bytes()[records.RECORD_BYTES :].startswith(b"last words\n")


def test_a_claim_that_cannot_be_written_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk: nobody finds half of one."""

    def full(_fd: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr("segue.drivers.records.os.write", full)
    with pytest.raises(OSError, match="no space"):
        records.claim(str(tmp_path / "claim"), {"pid": 1})
    assert list(tmp_path.iterdir()) == []


def test_a_spare_file_becomes_the_claim(tmp_path: Path) -> None:
    """It is renamed; without it a new one is made."""
    spare, path = tmp_path / "spare", tmp_path / "claim"
    spare.write_bytes(b"old".ljust(records.RECORD_BYTES))
    number = spare.stat().st_ino
    os.close(records.claim(str(path), {"pid": 1}, str(spare)))
    assert (read(path), path.stat().st_ino, spare.exists()) == ({"pid": 1}, number, False)
    os.close(records.claim(str(tmp_path / "other"), {"pid": 2}, str(spare)))
    assert read(tmp_path / "other") == {"pid": 2}


def test_a_spare_file_takes_no_claim_from_another(tmp_path: Path) -> None:
    """It stays where the claim is taken already."""
    spare, path = tmp_path / "spare", tmp_path / "claim"
    spare.write_bytes(b"")
    os.close(records.claim(str(path), {"pid": 1}))
    with pytest.raises(FileExistsError):
        records.claim(str(path), {"pid": 2}, str(spare))
    assert read(path) == {"pid": 1}
    assert spare.exists()


def test_a_revoked_run_is_nobody_s(tmp_path: Path) -> None:
    """It can be claimed no more, and is told from a claim."""
    path, claimed = tmp_path / "run", tmp_path / "other"
    records.revoke(str(path))
    os.close(records.claim(str(claimed), {"pid": 1}))
    assert records.is_revoked(str(path)) and not records.is_revoked(str(claimed))
    with pytest.raises(FileExistsError):
        records.claim(str(path), {"pid": 1})


def test_a_note_replaces_what_the_claim_says(tmp_path: Path) -> None:
    """The whole of it, also where it is shorter."""
    path = tmp_path / "claim"
    fd = records.claim(str(path), {"pid": 1, "name": "x" * 100})
    records.note(fd, {"pid": 2})
    os.close(fd)
    assert read(path) == {"pid": 2}


def test_the_claim_becomes_the_end_record(tmp_path: Path) -> None:
    """Under its other name, with the longer content gone."""
    claim, end = tmp_path / "claim", tmp_path / "end"
    fd = records.claim(str(claim), {"pid": 1, "name": "x" * 100})
    records.leave(fd, str(claim), str(end), {"code": 0})
    assert (read(end), claim.exists()) == ({"code": 0}, False)


def test_an_end_is_recorded_though_the_claim_was_removed(tmp_path: Path) -> None:
    """`git clean -fdx` took the folder: how the run ended is known all the same."""
    folder = tmp_path / "runs"
    folder.mkdir()
    claim, end = folder / "claim", folder / "end"
    fd = records.claim(str(claim), {"pid": 1})
    claim.unlink()
    folder.rmdir()
    records.leave(fd, str(claim), str(end), {"code": 0})
    assert read(end) == {"code": 0}


def test_errors_as_records_have_them() -> None:
    """With the path, where there is one; a value that makes no sense is an invalid argument."""
    missing = FileNotFoundError(errno.ENOENT, "No such file", b"/a/b")
    assert records.describe(missing) == {"errno": 2, "strerror": "No such file", "path": "/a/b"}
    assert records.describe(ValueError("x")) == {
        "errno": errno.EINVAL, "strerror": "ValueError: x", "path": None,
    }  # fmt: skip
    assert records.describe(KeyError("x"))["errno"] is None
