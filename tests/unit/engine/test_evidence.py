"""Evidence of a check: two files and a row that fits them."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest

from segue.engine import evidence
from segue.engine.evidence import Check
from segue.engine.executors import Ended
from segue.engine.run_files import RunFiles

NOW = datetime(2025, 3, 1, 12, tzinfo=UTC)
COMMIT = "a" * 40


@pytest.fixture
def kept(tmp_path: Path) -> RunFiles:
    return RunFiles(tmp_path, tmp_path, tmp_path)


def check(folder: Path) -> Check:
    return Check("T-1", "T-1-1-ab", 1, "make 검사", folder)


def test_the_row_holds_what_was_run_and_what_came_of_it(kept: RunFiles, tmp_path: Path) -> None:
    """Command, its hash, exit code, commit, time, and the hashes of both files."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(f"{COMMIT}\n")
    kept.check_log("T-1-1-ab").write_bytes(b"all green\n")
    row = evidence.keep(kept, check(tmp_path), Ended("T-1-1-ab", 0), NOW)
    assert (row.entity, row.id, row.to) == ("evidence", "T-1-1-ab", "passed")
    record = kept.check_record("T-1-1-ab").read_bytes()
    assert row.data is not None
    assert row.data == {
        "task": "T-1",
        "run": "T-1-1-ab",
        "attempt": 1,
        "command": "make 검사",
        "command_sha256": sha256("make 검사".encode()).hexdigest(),
        "exit_code": 0,
        "signal": None,
        "commit": COMMIT,
        "at": NOW.isoformat(),
        "output": "T-1-1-ab.log",
        "output_bytes": 10,
        "output_sha256": sha256(b"all green\n").hexdigest(),
        "record": "T-1-1-ab.json",
        "record_sha256": sha256(record).hexdigest(),
    }
    told = json.loads(record)
    assert told == {name: row.data[name] for name in told}


@pytest.mark.parametrize(
    "ended", [Ended("j", 1), Ended("j", 0, timed_out=True), Ended("j", None, signal=9)]
)
def test_a_check_that_did_not_pass_says_so(kept: RunFiles, tmp_path: Path, ended: Ended) -> None:
    """A failed, a killed and a late check are no success."""
    assert evidence.keep(kept, check(tmp_path), ended, NOW).to == "failed"


@pytest.mark.parametrize("kind", ["missing", "link", "fifo"])
def test_what_is_no_file_has_no_hash(tmp_path: Path, kind: str) -> None:
    """A link or a pipe in the place of the output is not read, and holds nothing up."""
    path = tmp_path / "x.log"
    if kind == "link":
        (tmp_path / "other").write_text("secret")
        path.symlink_to(tmp_path / "other")
    elif kind == "fifo":
        os.mkfifo(path)
    assert evidence.fingerprint(path)["output_sha256"] in (None, sha256(b"").hexdigest())


def test_a_huge_output_is_hashed_up_to_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies beyond counts by its size."""
    monkeypatch.setattr(evidence, "HASHED_BYTES_MAX", 4)
    (tmp_path / "x.log").write_bytes(b"abcdefgh")
    found = evidence.fingerprint(tmp_path / "x.log")
    assert found == {"output_bytes": 8, "output_sha256": sha256(b"abcd").hexdigest()}
