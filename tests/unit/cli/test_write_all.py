"""`segue write-all`: what is asked before anything is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from segue.cli.main import main

BEGUN = {
    "project_id": "Night",
    "ralph_active": True,
    "can_resume": True,
    "total_chapters": 5,
    "current_chapter": 5,
    "completed_chapters": [4],
}


@pytest.fixture(autouse=True)
def _book(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """English; a book of three chapters whose state has five."""
    monkeypatch.setenv("SEGUE_LANG", "en")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    Path("book.toml").write_text("chapters = 3\n")
    Path("meta").mkdir()
    Path("meta/ralph-state.json").write_text(json.dumps(BEGUN))
    Path("chapters").mkdir()
    Path("chapters/chapter_4.md").write_text("It was night.")


@pytest.mark.parametrize("words", [["write-all"], ["resume", "--continue"], ["write", "1"]])
def test_a_state_with_more_chapters_than_the_book_is_asked_about(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    """Without a terminal: exit 3 with both answers, for people and for programs; nothing is done."""
    before = Path("meta/ralph-state.json").read_bytes()
    for more in ([], ["--json"]):
        with pytest.raises(SystemExit) as caught:
            main([*words, *more])
        assert caught.value.code == 3
        told = capsys.readouterr().out
        assert "--chapters 3" in told
        assert "--chapters 5" in told
    assert Path("meta/ralph-state.json").read_bytes() == before
    assert not Path(".segue").exists()


def test_a_book_that_was_cut_behind_its_completed_chapters_is_not_called_complete(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its state has two more: whether it is complete is what is asked."""
    Path("meta/ralph-state.json").write_text(json.dumps({**BEGUN, "completed_chapters": [1, 2, 3]}))
    for number in (1, 2, 3):
        Path(f"chapters/chapter_{number}.md").write_text("It was night.")
    with pytest.raises(SystemExit) as caught:
        main(["write-all"])
    assert caught.value.code == 3
    assert "--chapters 5" in capsys.readouterr().out
