"""An interrupted book: what is found, what a damaged state leaves, what a reset does."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kit.book_bench import BookBench
from segue.core.book import BookState
from segue.engine.clock import SystemClock
from segue.engine.ledger import Ledger
from segue.engine.locks import lock_path
from segue.errors import UserError
from segue.plans.book_state import render, render_reset
from segue.store.sqlite import Store
from segue.work.book import resuming
from segue.work.book.folder import BookFolder
from segue.work.project import Project

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOLD = """
import sys
from pathlib import Path
from segue.store.lock import Lock
lock = Lock(Path(sys.argv[1]))
print(lock.take(since="2026-03-01", command="segue write-all"), flush=True)
sys.stdin.read()
"""
STATE = BookState("night", 3, ralph_active=True, can_resume=True, current_chapter=2)


def put(folder: BookFolder, data: bytes) -> None:
    folder.meta.mkdir(exist_ok=True)
    folder.state_file.write_bytes(data)


def chapters(folder: BookFolder, *numbers: int) -> None:
    folder.chapters.mkdir(exist_ok=True)
    for number in numbers:
        folder.chapter(number).write_text("text")


@pytest.mark.parametrize(
    ("state", "is_resumable"),
    [
        (STATE, True),
        (replace(STATE, ralph_active=False), True),
        (replace(STATE, can_resume=False), True),
        (replace(STATE, ralph_active=False, can_resume=False), False),
        (replace(STATE, completed_at="2026-03-01T00:00:00Z"), False),
    ],
)
def test_a_state_can_be_resumed_as_the_original_decides(
    folder: BookFolder, state: BookState, is_resumable: bool
) -> None:
    """Active or resumable, and not completed."""
    put(folder, render(state))
    seen = resuming.look(folder.root)
    assert seen.is_resumable is is_resumable
    assert (seen.state, seen.damage) == (state, None)


def test_nothing_there_is_nothing_to_resume(folder: BookFolder) -> None:
    """No state, and no damage either."""
    seen = resuming.look(folder.root)
    assert (seen.state, seen.damage, seen.is_resumable) == (None, None, False)


def test_damage_is_found_with_what_is_left(folder: BookFolder) -> None:
    """The newest backup that can be read, and the chapters that are there."""
    folder.save(render(STATE), NOW)
    folder.save(render(replace(STATE, iteration=2)), NOW + timedelta(seconds=1))
    chapters(folder, 1, 2)
    put(folder, b"{")
    seen = resuming.look(folder.root)
    assert seen.damage is not None
    assert seen.backup == folder.backups_newest_first()[0]
    assert (seen.chapters, seen.is_resumable) == (2, False)


def test_a_newer_state_is_left_alone(folder: BookFolder) -> None:
    """In words, with the version."""
    put(folder, b'{"schema_version": "3.1"}')
    with pytest.raises(UserError, match=r"3\.1") as caught:
        resuming.look(folder.root)
    assert caught.value.problem.code == "newer_state"


def test_a_restored_backup_leaves_the_damaged_file(folder: BookFolder) -> None:
    """Under a name that says so."""
    folder.save(render(STATE), NOW)
    put(folder, b"{ broken")
    backup, state, kept = resuming.restore(folder, NOW)
    assert (backup, state) == (folder.backups_newest_first()[0], STATE)
    assert kept.read_bytes() == b"{ broken"
    assert kept.name.startswith("ralph-state.corrupt-")


def test_without_a_backup_the_rebuild_is_named(folder: BookFolder) -> None:
    """And nothing is touched."""
    put(folder, b"{ broken")
    with pytest.raises(UserError) as caught:
        resuming.restore(folder, NOW)
    assert "--rebuild" in (caught.value.problem.hint or "")
    assert [path.name for path in folder.meta.iterdir()] == ["ralph-state.json"]


def test_a_rebuild_counts_the_chapters(folder: BookFolder) -> None:
    """The last one was perhaps half written: it is judged; files beyond the book do not count."""
    (folder.root / "book.toml").write_text("chapters = 5")
    chapters(folder, 1, 2, 4, 9)
    state = resuming.rebuild(folder, NOW)
    assert (state.completed_chapters, state.current_chapter) == ((1, 2), 4)
    assert (state.is_written, state.ralph_active, state.iteration) == (True, True, 0)
    assert state.quality_scores == {}


def test_a_rebuild_without_chapters_begins_anew(folder: BookFolder) -> None:
    """With the first draft."""
    (folder.root / "book.toml").write_text("chapters = 5")
    state = resuming.rebuild(folder, NOW)
    assert (state.completed_chapters, state.current_chapter, state.is_written) == ((), 1, False)


# The reset


def test_a_reset_backs_up_and_writes_five_fields(bench: BookBench) -> None:
    """Everything else is in the backup."""
    bench.write()
    bench.chapter(90)
    folder = bench.folder_of_book
    before = folder.state_file.read_bytes()
    bench.close()
    backup = resuming.reset(folder)
    assert backup is not None
    assert backup.read_bytes() == before
    told = json.loads(folder.state_file.read_bytes())
    assert sorted(told) == ["can_resume", "mode", "ralph_active", "reset_at", "reset_reason"]
    assert not resuming.look(folder.root).is_resumable
    assert (bench.root / "chapters" / "chapter_1.md").exists()


def test_a_reset_ends_what_waits(bench: BookBench) -> None:
    """No question stays open."""
    bench.write()
    bench.trips()
    assert len(bench.run.ledger.gates) == 1
    bench.finish()
    bench.close()
    resuming.reset(bench.folder_of_book)
    store = Store.open(Project.containing(bench.root).database)
    try:
        assert Ledger(store, SystemClock(), bench.root, "book").gates == {}
    finally:
        store.close()


def test_a_damaged_state_can_be_reset(folder: BookFolder) -> None:
    """It is in the backup as it was."""
    put(folder, b"{ broken")
    backup = resuming.reset(folder)
    assert backup is not None
    assert backup.read_bytes() == b"{ broken"
    assert folder.load() is not None


def test_a_reset_twice_is_a_reset(folder: BookFolder) -> None:
    """Each with its backup."""
    put(folder, render(STATE))
    first = resuming.reset(folder)
    second = resuming.reset(folder)
    assert first != second
    assert len(folder.backups_newest_first()) == 2


def test_a_book_that_is_being_written_is_not_reset(folder: BookFolder) -> None:
    """Its writer is named."""
    put(folder, render(STATE))
    project = Project.containing(folder.root)
    project.prepare()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock_path(project, folder.root))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"None\n"
        with pytest.raises(UserError, match=str(holder.pid)):
            resuming.reset(folder)
        holder.communicate(b"\n")
    assert folder.state_file.read_bytes() == render(STATE)
    assert not folder.backups.exists()


def test_what_a_reset_wrote_is_not_begun(folder: BookFolder) -> None:
    """So that the next book begins anew."""
    put(folder, render_reset("2026-03-01T12:00:00Z"))
    assert not resuming.look(folder.root).is_resumable
