"""A skipped task of a list can be done after all."""

from __future__ import annotations

from pathlib import Path

from segue.work.unskip import unskip

PLAN = (
    "- [x] T-1: a\n"
    "- [-] T-2: b\n  <!-- previous error: no -->\n  <!-- retries: 3/2 (limit exceeded) -->\n"
    "- [-] T-3: c (deps: T-2)\n"
)


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
