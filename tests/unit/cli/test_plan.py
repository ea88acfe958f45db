"""`segue plan`: what it says of lines that are not fields."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from segue.cli import plan

TEXT = "- [ ] T-001: a\n  - note: keep it small\n  - verify: true\n"


def test_a_plan_lists_what_is_not_a_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`word:` bullets that are no fields are listed, in words and as JSON."""
    path = tmp_path / "PLAN.md"
    path.write_text(TEXT)
    assert plan.command.main([str(path)], standalone_mode=False) == 0
    assert "2: note:" in capsys.readouterr().out
    assert plan.command.main([str(path), "--json"], standalone_mode=False) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["notes"] == [{"line": 2, "word": "note", "text": "keep it small"}]


def test_a_plan_without_such_lines_says_nothing_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing to note is an empty list, and no words."""
    path = tmp_path / "PLAN.md"
    path.write_text("- [ ] T-001: a\n")
    plan.command.main([str(path)], standalone_mode=False)
    assert "fields" not in capsys.readouterr().out
    plan.command.main([str(path), "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["notes"] == []
