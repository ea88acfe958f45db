"""Commands that find nothing to run: a program still reads one last line, as of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from segue.cli.main import main

BOOK = 'title = "Night"\nchapters = 2\n'
DONE = {
    "project_id": "Night",
    "total_chapters": 2,
    "completed_chapters": [1, 2],
    "quality_scores": {"1": 90, "2": 85},
    "completed_at": "2026-03-01T00:00:00Z",
}
FEATURE = """\
phase: IMPLEMENT
strategy: direct
feature: "chat"
checkpoints:
  cp-1: { status: passed, iteration: 1 }
  cp-2: { status: in_progress, iteration: 2 }
"""
COMPLETE = FEATURE.replace("IMPLEMENT", "DONE").replace("in_progress", "passed")
REPORT = "Checkpoints: cp-1 passed, cp-2 in_progress (iter 2/3)"
LISTS = ("completed", "failed", "skipped", "parked", "waiting")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """English, in an empty folder."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SEGUE_LANG", "en")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def segue(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as caught:
        main(list(args))
    told = capsys.readouterr()
    assert isinstance(caught.value.code, int)
    return caught.value.code, told.out, told.err


def ended(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, Any]:
    """The one line that a program reads; what a person reads is beside it."""
    code, out, err = segue(capsys, *args, "--json")
    [line] = out.splitlines()
    last: dict[str, Any] = json.loads(line)
    assert (last["event"], last["exit"]) == ("finished", code)
    assert last["why"] in err
    assert last["usage"].keys() == {"input_tokens", "output_tokens", "cost_usd"}
    assert all(isinstance(last[name], list) for name in LISTS)
    return last


def book(state: str | None) -> None:
    Path("book.toml").write_text(BOOK)
    if state is not None:
        Path("meta").mkdir()
        Path("meta/ralph-state.json").write_text(state)


def feature(text: str = FEATURE) -> Path:
    Path(".develop-workflow").mkdir()
    path = Path(".develop-workflow/state.yaml").resolve()
    path.write_text(text)
    return path


@pytest.mark.parametrize("args", [(), ("--resume",)])
def test_a_complete_book(capsys: pytest.CaptureFixture[str], args: tuple[str, ...]) -> None:
    """What is written is listed, as at the end of the run that wrote it."""
    book(json.dumps(DONE))
    Path("chapters").mkdir()
    for number in (1, 2):
        Path(f"chapters/chapter_{number}.md").write_text("It was night.")
    last = ended(capsys, "write-all", *args)
    assert (last["exit"], last["completed"], last["waiting"]) == (0, [1, 2], [])
    assert last["scores"] == {"1": 90, "2": 85}


def test_a_damaged_book(capsys: pytest.CaptureFixture[str]) -> None:
    """It waits for a person."""
    book("{")
    Path("chapters").mkdir()
    Path("chapters/chapter_1.md").write_text("# One\n")
    last = ended(capsys, "write-all")
    assert (last["exit"], last["waiting"]) == (3, [str(Path.cwd())])
    assert "damaged" in last["why"]


def test_a_book_that_nobody_has_begun(capsys: pytest.CaptureFixture[str]) -> None:
    """Only to be gone on with: there is nothing."""
    book(None)
    last = ended(capsys, "write-all", "--resume")
    assert (last["exit"], last["completed"]) == (0, [])


@pytest.mark.parametrize("args", [(), ("other",), ("--repair",)])
def test_an_unfinished_feature(capsys: pytest.CaptureFixture[str], args: tuple[str, ...]) -> None:
    """A person must say whether it goes on."""
    path = feature()
    last = ended(capsys, "develop", *args)
    assert (last["exit"], last["feature"], last["phase"]) == (3, "chat", "IMPLEMENT")
    assert (last["completed"], last["waiting"]) == (["cp-1"], [str(path)])
    assert path.read_text() == FEATURE


def test_a_sound_state_of_a_complete_feature(capsys: pytest.CaptureFixture[str]) -> None:
    """There is nothing to repair, and nothing to go on with."""
    feature(COMPLETE)
    assert ended(capsys, "develop", "--repair")["exit"] == 0


def test_where_a_repaired_feature_stands_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    """By the question that follows."""
    feature()
    code, out, _err = segue(capsys, "develop", "--repair")
    assert (code, out.count(REPORT)) == (3, 1)


@pytest.mark.parametrize("args", [("--resume",), ("--approve",)])
def test_a_complete_feature_is_said_to_be_complete(
    capsys: pytest.CaptureFixture[str], args: tuple[str, ...]
) -> None:
    """There is nothing left to continue, and nothing begins."""
    path = feature(COMPLETE)
    code, out, err = segue(capsys, "develop", *args)
    assert code == 0
    assert "complete" in out
    assert "begins" not in out + err
    assert path.exists()


def test_a_complete_feature_and_no_other_begins_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without a name for the next one there is nothing to begin."""
    path = feature(COMPLETE)
    code, out, err = segue(capsys, "develop")
    assert (code, out) == (2, "")
    assert "the last feature is complete" in err
    assert "begins" not in err
    assert path.exists()
