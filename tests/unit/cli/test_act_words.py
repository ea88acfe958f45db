"""What a person reads after an act: what came of it, and when it takes effect."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from segue import i18n
from segue.cli import act_words


def done(kind: str, path: Path, *, is_waiting: bool = True, by_run: bool = False) -> Any:
    """What came of an act about a task."""
    return SimpleNamespace(
        what="task", name="T-1", kind=kind, path=path,
        is_waiting=is_waiting, by_run=by_run, answer="SQLite",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "name", "command"),
    [
        ("tasklist", "PLAN.md", "segue run PLAN.md"),
        ("tasklist", "my plans/한글.md", "segue run 'my plans/한글.md'"),
        ("book", "night", "segue write-all night"),
        ("book", "", "segue write-all ."),
        ("develop", ".develop-workflow/state.yaml", "segue develop --resume"),
        ("server", ".segue", "segue serve"),
        ("panes", ".segue", "segue watch"),
    ],
)
def test_what_nobody_runs_names_the_command_that_starts_it(
    alone: Path, kind: str, name: str, command: str
) -> None:
    """Relative to this folder, and quoted so that it can be pasted."""
    assert act_words.later(done(kind, alone / name)).endswith(f"to apply this, run: {command}")


def test_a_plan_elsewhere_is_named_in_full(alone: Path) -> None:
    """A relative path would not lead there."""
    assert act_words.later(done("tasklist", Path("/other/PLAN.md"))).endswith("run /other/PLAN.md")


def test_an_act_that_its_owner_has_taken_in_is_reported_without_a_when(
    alone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has happened; one that the owner has not seen yet waits for it."""
    taken = done("tasklist", alone / "PLAN.md", is_waiting=False, by_run=True)
    assert act_words.report(taken, "T-1 is skipped", as_json=False) == 0
    assert capsys.readouterr().out == "T-1 is skipped\n"
    slow = done("tasklist", alone / "PLAN.md", by_run=True)
    act_words.report(slow, "T-1 is skipped", as_json=False)
    assert capsys.readouterr().out == (
        "T-1 is skipped — queued; the running Segue has not processed it yet\n"
    )


def test_a_program_reads_the_same_facts_as_one_object(
    alone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Named by what the act is about, with no text beside it."""
    act_words.report(done("book", alone), "not shown", as_json=True)
    assert json.loads(capsys.readouterr().out) == {
        "task": "T-1",
        "work": {"kind": "book", "path": str(alone)},
        "answer": "SQLite",
        "waiting": True,
        "by_run": False,
    }


def test_when_it_takes_effect_is_said_in_korean(alone: Path) -> None:
    """The command stays as it is typed."""
    i18n.use("ko")
    text = act_words.later(done("server", alone))
    assert "segue serve" in text
    assert "to apply this" not in text
