"""`segue` alone: what can be done in this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.shell import Shell
from kit.standing import standing
from segue.cli.here import EXAMPLE, SHOWN_MAX
from segue.plans.tasklist import Document

LAST = "\nAll commands: segue --help\n"


def stands(patch: pytest.MonkeyPatch, *found: object) -> None:
    patch.setattr("segue.cli.here.look", lambda path: list(found))


def test_an_empty_folder_is_shown_how_a_plan_looks(segue: Shell) -> None:
    """With the commands for it, in the order in which they are used."""
    said = segue()
    assert (said.code, said.err) == (0, "")
    commands = ["segue plan PLAN.md", "segue run PLAN.md", "segue doctor", "segue --help"]
    assert sorted(commands, key=said.out.index) == commands
    assert all(f"  {line}\n" in said.out for line in EXAMPLE.splitlines())


def test_the_example_is_a_plan_that_can_be_run() -> None:
    tasks = Document.parse(EXAMPLE.encode(), file="PLAN.md").tasks
    assert [(task.id, task.run, task.blocked_by) for task in tasks] == [
        ("T-001", "echo hello", ()),
        ("T-002", "date", ("T-001",)),
    ]


def test_plans_that_nobody_has_begun_are_listed_with_their_command(
    segue: Shell, alone: Path
) -> None:
    """A name with a blank is one word for the shell."""
    (alone / "my plan.md").write_text("- [ ] **T-001**: a\n- [ ] **T-002**: b\n")
    (alone / "night").mkdir()
    (alone / "night" / "book.toml").write_text('title = "Night"\nchapters = 1\n')
    assert segue().out == (
        "Plans in this folder:\n"
        "  segue run 'my plan.md'   (2 tasks to do)\n"
        "  segue write-all night   (1 chapter to write)\n" + LAST
    )


def test_a_book_of_this_folder_needs_no_path(segue: Shell, alone: Path) -> None:
    (alone / "book.toml").write_text('title = "Night"\nchapters = 3\n')
    assert "  segue write-all   (3 chapters to write)\n" in segue().out


def test_what_was_begun_comes_first_as_status_shows_it(segue: Shell, alone: Path) -> None:
    (alone / "old.md").write_text("- [x] **T-001**: a\n- [~] **T-002**: b\n")
    (alone / "new.md").write_text("- [ ] **T-001**: a\n")
    begun, fresh, last = segue().out.split("\n\n")
    assert begun.splitlines()[0] == "⏸ old.md  interrupted  1/2"
    assert begun.splitlines()[-1] == "  to continue: segue run old.md"
    assert fresh == "Plans in this folder:\n  segue run new.md   (1 task to do)"
    assert last == LAST.lstrip("\n")


def test_drafts_of_the_server_are_not_run_as_a_plan(
    segue: Shell, alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Segue's memory is no plan: the server works on them."""
    memory = standing(alone / ".segue", kind="server", pending=2, go_on="segue serve")
    stands(monkeypatch, memory)
    assert segue().out == "Plans in this folder:\n  segue serve   (2 tasks to do)\n" + LAST


def test_of_many_plans_the_rest_is_counted(
    segue: Shell, alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None is left out without a word."""
    plans = [standing(alone / f"{n}.md", pending=1) for n in range(SHOWN_MAX + 2)]
    stands(monkeypatch, *plans)
    lines = segue().out.splitlines()
    assert sum("segue run" in line for line in lines) == SHOWN_MAX
    assert "  … and 2 more" in lines
    stands(monkeypatch, *plans[:SHOWN_MAX])
    assert "more" not in segue().out


def test_a_korean_reader_gets_korean(segue: Shell) -> None:
    said = segue("--lang", "ko")
    assert "segue run PLAN.md" in said.out
    assert "There is no plan" not in said.out
