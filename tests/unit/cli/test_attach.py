"""`segue attach`: what it shows of the events of a work in the background."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kit.bench import Bench
from kit.shell import Shell
from segue.cli.attach import show_all
from segue.work import background
from segue.work.project import Project

AT = "2026-03-01T12:00:00Z"
DONE: dict[str, Any] = {"event": "finished", "completed": ["T-1"], "failed": [], "exit": 0}


def told(bench: Bench, *events: dict[str, Any], rest: str = "") -> None:
    """A work that ran in the background and said this."""
    bench.begin("- [ ] T-1: Build\n")
    bench.run.ledger.note_options(background.options_of(("run", "PLAN.md")))
    bench.run.ledger.commit()
    project = Project(bench.root)
    project.prepare()
    path = background.events_file(project, bench.root / "PLAN.md")
    lines = [json.dumps({"at": AT, **event}) + "\n" for event in events]
    path.write_text("".join(lines) + rest)


def test_events_are_told_in_words_and_its_exit_code_is_ours(bench: Bench, segue: Shell) -> None:
    told(bench, {"event": "task_completed", "task": "T-1", "seconds": 1}, DONE)
    shown = segue("attach")
    assert shown.code == 0
    assert shown.out.splitlines() == [
        "12:00:00 ✔ T-1 completed in 1s",
        "12:00:00 ✔ All done.",
        "  ✔ T-1",
    ]


def test_programs_get_the_events_themselves(bench: Bench, segue: Shell) -> None:
    told(bench, {**DONE, "exit": 1})
    shown = segue("attach", "PLAN.md", "--json")
    assert (shown.code, shown.events[0]["event"]) == (1, "finished")


def test_one_that_was_killed_is_an_error(bench: Bench, segue: Shell) -> None:
    told(bench, {"event": "task_completed", "task": "T-1", "seconds": 1}, rest='{"event": "fin')
    shown = segue("attach")
    assert shown.code == 1
    assert "segue resume" in shown.out


def test_without_any_it_says_so(segue: Shell) -> None:
    error = segue.refused("attach")
    assert (error["code"], "segue status" in error["hint"]) == ("no_work", True)


def test_lines_that_are_no_events_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = tmp_path / "events.jsonl"
    events.write_text('no JSON\n[]\n{"event": "x"}\n')
    assert show_all(events, as_json=False) == 1
    assert capsys.readouterr().out == ""
