"""A chapter that was given up can be written after all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from segue.plans import book_state
from segue.work.unskip import unskip


@pytest.mark.parametrize("name", ["2", "ch2", "chapter 2", "2장", "제2장", "ch2.write.3"])
def test_a_chapter_is_open_again(tmp_path: Path, name: str) -> None:
    """A book that was over has that chapter to write next, and can be resumed."""
    (tmp_path / "book.toml").write_text('title = "T"\nchapters = 3\n')
    file = tmp_path / "meta" / "ralph-state.json"
    file.parent.mkdir()
    told = {
        "project_id": "t", "total_chapters": 3, "ralph_active": False, "can_resume": True,
        "current_chapter": 3, "completed_chapters": [1, 3], "failed_chapters": [2],
    }  # fmt: skip
    file.write_text(json.dumps(told))
    unskip(name, tmp_path, is_plan=False)
    state = book_state.parse(file.read_bytes())
    assert (state.failed_chapters, state.completed_chapters) == ((), (1, 3))
    assert (state.current_chapter, state.can_resume, state.open_chapters) == (2, True, [2])
