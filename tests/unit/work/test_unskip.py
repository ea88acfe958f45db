"""What was skipped can be done after all, in a task list, a feature and a book."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from segue.cli import unskip as cli
from segue.core.develop import Phase, Progress, Status
from segue.errors import UserError
from segue.plans import book_state, develop_state
from segue.work.unskip import unskip

PLAN = (
    "- [x] T-1: a\n"
    "- [-] T-2: b\n  <!-- previous error: no -->\n  <!-- retries: 3/2 (limit exceeded) -->\n"
    "- [-] T-3: c (deps: T-2)\n"
)
STATE = """\
feature: Login
phase: MERGE
strategy: direct
started_at: 2026-01-01T00:00:00Z
updated_at: 2026-01-01T00:00:00Z
checkpoints:
  cp-1: {status: passed, iteration: 1}
  cp-2: {status: escalated, iteration: 3}
"""


def test_a_task_is_open_again(tmp_path: Path) -> None:
    """Its mark becomes [ ] and its count is gone; no other byte changes, nothing else is made."""
    path = tmp_path / "PLAN.md"
    path.write_text(PLAN)
    done = unskip("T-2", tmp_path, is_plan=False)
    assert (done.task, done.path, done.holds) == ("T-2", path, ())
    assert path.read_text() == PLAN.replace("[-] T-2", "[ ] T-2").replace(
        "  <!-- retries: 3/2 (limit exceeded) -->\n", ""
    )
    assert [item.name for item in tmp_path.iterdir()] == ["PLAN.md"]


def test_what_it_waits_for_is_named(tmp_path: Path) -> None:
    """A task behind another skipped one would be skipped again: that is said."""
    (tmp_path / "PLAN.md").write_text(PLAN)
    assert unskip("T-3", tmp_path / "PLAN.md", is_plan=True).holds == ("T-2",)


@pytest.mark.parametrize(("name", "code"), [("T-1", "not_skipped"), ("T-9", "unknown_name")])
def test_other_tasks_are_refused_in_words(tmp_path: Path, name: str, code: str) -> None:
    """What is not skipped, and what is not there, is an error; nothing is written."""
    path = tmp_path / "PLAN.md"
    path.write_text(PLAN)
    with pytest.raises(UserError) as error:
        unskip(name, tmp_path, is_plan=False)
    assert error.value.problem.code == code
    assert path.read_text() == PLAN


def test_one_of_several_plans_is_to_be_named(tmp_path: Path) -> None:
    """The same id in two plans is ambiguous unless it is skipped in one of them only."""
    for name in ("A.md", "B.md"):
        (tmp_path / name).write_text(PLAN + "- [ ] T-4: d\n")
    with pytest.raises(UserError) as error:
        unskip("T-2", tmp_path, is_plan=False)
    assert error.value.problem.code == "ambiguous"
    unskip("T-2", tmp_path / "A.md", is_plan=True)
    assert unskip("T-2", tmp_path, is_plan=False).path == tmp_path / "B.md"


def test_a_checkpoint_is_pending_again(tmp_path: Path) -> None:
    """The feature goes back to the phase in which checkpoints are made; what passed stays."""
    file = tmp_path / ".develop-workflow" / "state.yaml"
    file.parent.mkdir()
    file.write_text(STATE)
    unskip("cp-2", tmp_path, is_plan=False)
    feature = develop_state.parse(file.read_bytes())
    assert feature.phase is Phase.IMPLEMENT
    assert feature.checkpoints == {"cp-1": Progress(Status.PASSED, 1), "cp-2": Progress()}


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


def test_the_command_says_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In words the next command, as JSON what was changed."""
    (tmp_path / "PLAN.md").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    assert cli.command.main(["T-2"], standalone_mode=False, obj={"environ": {}}) == 0
    assert "segue run PLAN.md" in capsys.readouterr().out
    assert (
        cli.command.main(
            ["T-3", "--plan", "PLAN.md", "--json"], standalone_mode=False, obj={"environ": {}}
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["task"] == "T-3"
