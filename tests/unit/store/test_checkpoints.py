"""Checkpoints: whole or told to be broken, sealed where they must be, and not too many."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import stat
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from segue.errors import Bug, UserError
from segue.store import checkpoints, files
from segue.store.checkpoints import Broken, contents, environment_of, prune, read, write
from segue.store.secrets import Secrets

SECRET = "sk-live-0123456789"


def content(folder: Path, **more: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "task": "task_0123456789ab",
        "agent": {"state": "waiting_question", "phase": 2},
        "conversation": "c-1",
        "gates": [{"id": "q_1", "kind": "question"}],
        "environment": {"STRIPE_KEY": SECRET},
        "deliverables": [{"path": "docs/계획.md", "size": 3, "sha256": "ab"}],
        "commit": "c" * 40,
        "seal": Secrets(folder, {}).seal,
    }
    return contents(**(facts | more))


def row(id: str, created_at: int, phase: int | None = None, kind: str = "timer") -> dict[str, Any]:
    return {
        "id": id,
        "task": "t",
        "kind": kind,
        "phase": phase,
        "created_at": f"2026-11-16T00:{created_at:02}:00.000000Z",
    }


def test_a_checkpoint_comes_back_as_it_was_written(tmp_path: Path) -> None:
    """Its path is told from the data folder; only its owner can read it."""
    given = content(tmp_path)
    path, checksum = write(tmp_path, given)
    found = read(tmp_path / path, checksum)
    assert found == given
    assert path.startswith("checkpoints/task_0123456789ab/")
    assert stat.S_IMODE((tmp_path / path).stat().st_mode) == 0o600
    assert not isinstance(found, Broken)
    assert environment_of(found, Secrets(tmp_path, {}).open) == {"STRIPE_KEY": SECRET}


def test_the_environment_is_not_in_the_file(tmp_path: Path) -> None:
    """Neither names nor values; one that is not sealed is not written at all."""
    path, _ = write(tmp_path, content(tmp_path))
    data = (tmp_path / path).read_bytes()
    assert b"sk-live" not in data
    assert b"STRIPE" not in data
    with pytest.raises(Bug, match="sealed"):
        write(tmp_path, {**content(tmp_path), "environment": {"STRIPE_KEY": SECRET}})


def test_without_an_environment_no_key_is_needed(tmp_path: Path) -> None:
    """A task that was given nothing has checkpoints without secrets, and no key is made."""
    given = content(tmp_path, environment={})
    assert given["environment"] is None
    assert environment_of(given, Secrets(tmp_path, {}).open) == {}
    assert list(tmp_path.iterdir()) == []


def test_an_environment_under_another_key_is_told(tmp_path: Path) -> None:
    """The rest of the checkpoint can be read all the same."""
    path, checksum = write(tmp_path, content(tmp_path))
    found = read(tmp_path / path, checksum)
    assert not isinstance(found, Broken)
    (tmp_path / "secrets.key").unlink()
    with pytest.raises(UserError, match="is missing"):
        environment_of(found, Secrets(tmp_path, {}).open)


def test_each_checkpoint_has_a_file_of_its_own(tmp_path: Path) -> None:
    """Also if nothing has changed since: one row is dropped without harm to the other."""
    given = content(tmp_path)
    assert write(tmp_path, given)[0] != write(tmp_path, given)[0]


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "longer", "gone", "folder"])
def test_a_broken_checkpoint_is_told(tmp_path: Path, damage: str) -> None:
    """Whatever happened to the file, the answer is a reason and not an exception."""
    name, checksum = write(tmp_path, content(tmp_path))
    path = tmp_path / name
    data = path.read_bytes()
    match damage:
        case "cut":
            path.write_bytes(data[:-1])
        case "changed":
            path.write_bytes(data.replace(b"c-1", b"c-2"))
        case "empty":
            path.write_bytes(b"")
        case "longer":
            path.write_bytes(data + b" ")
        case _:
            path.unlink()
            if damage == "folder":
                path.mkdir()
    found = read(path, checksum)
    assert isinstance(found, Broken)
    assert found.reason


@pytest.mark.parametrize("data", [b"[]", b"null", b'{"format": 2}', b"no json", b"[" * 100_000])
def test_what_another_version_wrote_is_told(tmp_path: Path, data: bytes) -> None:
    """A right checksum does not make a content that can be understood."""
    path = tmp_path / "x.json"
    path.write_bytes(data)
    assert isinstance(read(path, sha256(data).hexdigest()), Broken)


@pytest.mark.parametrize("task", ["", "..", "a/b", "/etc", ".x", "a\n", 3, None])
def test_an_id_that_leads_elsewhere_is_a_bug(tmp_path: Path, task: Any) -> None:
    """Nothing is written outside of the folder of checkpoints."""
    with pytest.raises(Bug):
        write(tmp_path, {"task": task})
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No half of a checkpoint stays behind."""

    def full(path: Path, data: bytes, *, mode: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "replace", full)
    with pytest.raises(UserError) as told:
        write(tmp_path, content(tmp_path))
    assert told.value.problem.code == "disk_full"


def test_a_killed_writer_leaves_no_half_checkpoint(tmp_path: Path) -> None:
    """Killed at its first fsync: there is no file under a checkpoint's name, and it is swept."""
    code = (
        "import os, signal, sys; from pathlib import Path; from segue.store import checkpoints\n"
        "os.fsync = lambda fd: os.kill(os.getpid(), signal.SIGKILL)\n"
        "checkpoints.write(Path(sys.argv[1]), {'task': 't', 'environment': None})"
    )
    ended = os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code, str(tmp_path)])
    assert ended == -signal.SIGKILL
    folder = tmp_path / "checkpoints" / "t"
    assert [path.suffix for path in folder.iterdir() if not path.name.startswith(".")] == []
    assert list(folder.iterdir())
    checkpoints.sweep(tmp_path, "t", [])
    assert list(folder.iterdir()) == []


def test_a_sweep_leaves_what_rows_name(tmp_path: Path) -> None:
    """Only files without a row go; a task without any is no error."""
    given = {"task": "t", "environment": None}
    kept, dropped = write(tmp_path, given)[0], write(tmp_path, given)[0]
    other = write(tmp_path, {**given, "task": "u"})[0]
    checkpoints.sweep(tmp_path, "t", [kept])
    checkpoints.sweep(tmp_path, "none", [])
    exists = [(tmp_path / path).exists() for path in (kept, dropped, other)]
    assert exists == [True, False, True]


def test_the_newest_ten_are_kept() -> None:
    """In whatever order the rows come."""
    rows = [row(f"cp_{n}", n) for n in range(13)]
    assert sorted(prune(rows)) == ["cp_0", "cp_1", "cp_2"]
    assert sorted(prune(reversed(rows))) == ["cp_0", "cp_1", "cp_2"]
    assert prune(rows[:10]) == []
    assert prune([]) == []


def test_one_of_each_phase_is_kept() -> None:
    """The one made when the phase was complete, or else the newest of the phase."""
    rows = [
        row("begun", 0, 1, "timer"),
        row("done", 1, 1, "phase"),
        row("after", 2, 1, "review"),
        row("early", 3, 2, "timer"),
        row("late", 4, 2, "limit"),
        row("none", 5, None, "timer"),
        *(row(f"new{n}", 10 + n, 3) for n in range(10)),
    ]
    assert prune(rows) == ["begun", "after", "early", "none"]


def test_a_phase_that_was_complete_twice_keeps_its_last() -> None:
    """After a rework the newer completion counts."""
    rows = [row("first", 0, 1, "phase"), row("second", 1, 1, "phase")]
    rows += [row(f"new{n}", 10 + n, 2) for n in range(10)]
    assert prune(rows) == ["first"]


def test_of_one_instant_the_later_row_is_newer() -> None:
    """The order of the rows decides where the clock does not."""
    assert prune([row(f"cp_{n}", 0) for n in range(12)]) == ["cp_0", "cp_1"]


def test_each_task_has_its_own_ten() -> None:
    """Rows of several tasks, straight from the database, are told apart."""
    db = sqlite3.connect(":memory:")
    db.row_factory = sqlite3.Row
    db.execute("CREATE TABLE c (id, task, kind, phase, created_at)")
    for n in range(11):
        for task in ("a", "b"):
            db.execute(
                "INSERT INTO c VALUES (?, ?, 'timer', NULL, ?)", (f"{task}{n}", task, f"{n:02}")
            )
    rows = db.execute("SELECT * FROM c").fetchall()
    db.close()
    assert sorted(prune(rows)) == ["a0", "b0"]


def test_names_that_are_no_text_survive(tmp_path: Path) -> None:
    """A deliverable's name may hold bytes that are no UTF-8."""
    name = os.fsdecode(b"docs/\xff.md")
    given = {"format": 1, "task": "t", "environment": None, "deliverables": [{"path": name}]}
    path, checksum = write(tmp_path, given)
    assert read(tmp_path / path, checksum) == given
    assert json.loads(json.dumps(given)) == given
