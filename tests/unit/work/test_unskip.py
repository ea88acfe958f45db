"""What was skipped is found by its name, in whatever plan it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from segue.cli import unskip as cli
from segue.errors import UserError
from segue.work.unskip import unskip

PLAN = (
    "- [x] T-1: a\n"
    "- [-] T-2: b\n  <!-- previous error: no -->\n  <!-- retries: 3/2 (limit exceeded) -->\n"
    "- [-] T-3: c (deps: T-2)\n"
)


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
