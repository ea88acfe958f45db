"""`segue resume` in a book: the box, the choices, and a way back from a damaged state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kit.shell import Shell

STATE: dict[str, Any] = {
    "project_id": "Night", "ralph_active": True, "can_resume": True, "total_chapters": 3,
    "current_chapter": 2, "completed_chapters": [1],
}  # fmt: skip


@pytest.fixture
def meta(alone: Path) -> Path:
    """A book whose first chapter is written."""
    (alone / "book.toml").write_text('title = "Night"\nchapters = 3\nwriter = "pen"\n')
    (alone / "chapters").mkdir()
    (alone / "chapters" / "chapter_1.md").write_text("It was night.")
    folder = alone / "meta"
    folder.mkdir()
    (folder / "ralph-state.json").write_text(json.dumps(STATE))
    return folder


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What would be written."""
    found: list[Any] = []

    def go(options: Any, environ: dict[str, str], *, as_json: bool) -> int:
        found.append(options)
        return 4

    monkeypatch.setattr("segue.cli.write_all.go", go)
    return found


def damage(meta: Path, *, backup: bool) -> Path:
    state = meta / "ralph-state.json"
    if backup:
        (meta / "backups").mkdir()
        (meta / "backups" / "ralph-state-20260101-000000.json").write_text(state.read_text())
    state.write_text("{")
    return state


def test_the_box_and_the_four_choices_are_shown(segue: Shell, meta: Path) -> None:
    """Each choice names the chapter that it is about."""
    said = segue("resume")
    assert said.code == 3
    assert said.out.startswith("+--")
    for line in (
        "  1. continue writing - from where it stopped (chapter 2)",
        "  2. restart the current chapter - write only chapter 2 again",
        "  3. show the state only - show full progress and exit",
        "  4. reset the state - clears it (after a backup)",
    ):
        assert line in said.out.splitlines()


def test_it_continues_and_says_what_stopped_it_before(
    segue: Shell, meta: Path, begun: list[Any]
) -> None:
    """Each reason once."""
    breaker = {"triggered": True, "failure_count": 3, "failure_reasons": ["dull", "dull", "long"]}
    state = {**STATE, "circuit_breaker": breaker}
    (meta / "ralph-state.json").write_text(json.dumps(state))
    said = segue("resume", "--continue")
    assert (said.code, len(begun)) == (4, 1)
    assert said.out.endswith("It stopped earlier because of:\n  - dull (×2)\n  - long\n")


def test_a_restart_writes_the_current_chapter_alone(
    segue: Shell, meta: Path, begun: list[Any]
) -> None:
    assert segue("resume", "--restart").code == 4
    ((how, chapter),) = [(str(one.how), one.chapter) for one in begun]
    assert chapter == 2
    assert "chapter" in how.lower()


def test_the_state_is_shown_in_full(segue: Shell, meta: Path, begun: list[Any]) -> None:
    said = segue("resume", "--status")
    assert (said.code, begun) == (0, [])
    assert "Full state" in said.out
    assert "done: 33%" in said.out


def test_a_damaged_state_is_replaced_by_its_backup(
    segue: Shell, meta: Path, begun: list[Any]
) -> None:
    """The damaged file is kept, and both are named; what continues is the backup's state."""
    damage(meta, backup=True)
    said = segue("resume", "--continue")
    assert said.code == 4
    assert (
        "The state was damaged; Segue restored the backup ralph-state-20260101-000000.json."
        in said.out
    )
    assert begun[0].state.completed_chapters == (1,)
    kept = said.out.splitlines()[-1].rpartition(": ")[2]
    assert [path.read_text() for path in meta.rglob(kept)] == ["{"]


def test_without_a_backup_the_chapters_can_be_counted(
    segue: Shell, meta: Path, begun: list[Any]
) -> None:
    """Both ways are named, and nothing is done until one is chosen."""
    state = damage(meta, backup=False)
    said = segue("resume", "--continue")
    assert (said.code, begun) == (3, [])
    assert f"{state}: the state of the book is damaged" in said.out
    assert "Or rebuild the state from the 1 existing chapters: segue resume --rebuild" in said.out
    assert state.read_text() == "{"
    assert segue("resume", "--rebuild").code == 4
    assert begun[0].state.current_chapter == 1


@pytest.mark.parametrize(
    ("backup", "is_wanted", "question", "starts"),
    [
        (True, True, "Use the backup and continue?", 1),
        (True, False, "Use the backup and continue?", 0),
        (False, True, "Count the existing chapters and continue?", 1),
    ],
)
def test_a_person_is_asked_whether_to_take_the_way_back(
    segue: Shell, meta: Path, begun: list[Any], monkeypatch: pytest.MonkeyPatch,
    backup: bool, is_wanted: bool, question: str, starts: int,
) -> None:  # fmt: skip
    damage(meta, backup=backup)
    asked: list[str] = []

    def confirm(text: str, *, default: bool) -> bool:
        asked.append(text)
        return is_wanted

    monkeypatch.setattr("segue.cli.console.confirm", confirm)
    said = segue("resume", is_terminal=True)
    assert (asked, len(begun)) == ([question], starts)
    assert said.code == (4 if starts else 3)


def test_a_complete_book_is_said_to_be_complete(segue: Shell, meta: Path) -> None:
    """A chapter whose text is gone is named below."""
    done = {**STATE, "completed_chapters": [1, 2, 3], "completed_at": "2026-03-01T00:00:00Z"}
    (meta / "ralph-state.json").write_text(json.dumps(done))
    said = segue("resume")
    assert said.code == 0
    assert "chapter 2, 3 has no text; `segue write-all` writes it again" in said.out
