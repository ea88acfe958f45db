"""The log of runs: which events are lines of it, and where they are kept."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from segue.engine import run_log
from segue.engine.clock import SystemClock

WARNING = "[WARN] could not read the reset time; waiting 3600 s"


def kept(folder: Path, *events: tuple[str, dict[str, Any]]) -> list[str]:
    """What is emitted all the same, after the events went through the log."""
    told: list[str] = []
    emit = run_log.logged(folder, SystemClock(), lambda event, **_facts: told.append(event))
    for event, facts in events:
        emit(event, **facts)
    return told


def test_warnings_are_kept_with_their_time(tmp_path: Path) -> None:
    """A warning and what a clamp says are lines; other notices and events are none."""
    told = kept(
        tmp_path,
        ("notice", {"text": WARNING}),
        ("notice", {"text": "max_retries = 99 is outside 1 to 10", "is_log": True}),
        ("notice", {"text": "the plan was moved"}),
        ("task_said", {"text": "[WARN] of an agent"}),
    )
    assert told == ["notice", "notice", "notice", "task_said"]
    first, second = (tmp_path / run_log.FILE).read_text(encoding="utf-8").splitlines()
    assert re.fullmatch(rf"\[\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d\] {re.escape(WARNING)}", first)
    assert second.endswith("] max_retries = 99 is outside 1 to 10")


def test_a_long_log_is_put_aside_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file of what was before is kept."""
    monkeypatch.setattr(run_log, "BYTES_MAX", 10)
    kept(tmp_path, *[("notice", {"text": f"[WARN] {n}"}) for n in range(3)])
    assert (tmp_path / run_log.FILE).read_text().endswith("] [WARN] 2\n")
    assert (tmp_path / "run.old.log").read_text().endswith("] [WARN] 1\n")


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    """The event is told all the same."""
    assert kept(tmp_path / "gone", ("notice", {"text": WARNING})) == ["notice"]
