"""How a book stands, for `segue status` and `segue resume`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kit.book_bench import BookBench
from segue.core.book import BookState
from segue.core.machines import PlanState
from segue.dialects.events import LimitHit
from segue.engine.standing import Known, Standing
from segue.plans.book_state import render, render_reset
from segue.store.lock import Holder
from segue.work.book import resuming
from segue.work.book.folder import BookFolder
from segue.work.book.standing import facts, standing
from segue.work.project import Project

STATE = BookState("night", 4, ralph_active=True, can_resume=True, current_chapter=2, iteration=2)


@pytest.fixture
def known(folder: BookFolder) -> Iterator[Known]:
    (folder.root / "book.toml").write_text("chapters = 4")
    found = Known.of(Project.containing(folder.root))
    yield found
    found.close()


def put(folder: BookFolder, state: BookState | bytes) -> None:
    folder.meta.mkdir(exist_ok=True)
    folder.state_file.write_bytes(state if isinstance(state, bytes) else render(state))


def stands(bench: BookBench) -> tuple[Standing, dict[str, object]]:
    """As it stands after the run has gone."""
    bench.close()
    known = Known.of(Project.containing(bench.root))
    try:
        found = standing(bench.root, known)
    finally:
        known.close()
    return found, facts(resuming.look(bench.root), found)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, PlanState.INTERRUPTED),
        ({"ralph_active": False, "pause_reason": "interrupted"}, PlanState.INTERRUPTED),
        ({"ralph_active": False, "pause_reason": "circuit_breaker: x"}, PlanState.WAITING),
        ({"ralph_active": False, "pause_reason": "max_iterations"}, PlanState.WAITING),
        ({"ralph_active": False, "pause_reason": "judge_failed: x"}, PlanState.WAITING),
        ({"ralph_active": False, "can_resume": False}, PlanState.PENDING),
        ({"completed_at": "2026-03-01T00:00:00Z"}, PlanState.FINISHED),
        ({"completed_chapters": (1, 2, 3), "failed_chapters": (4,)}, PlanState.FAILED),
    ],
)
def test_a_book_stands_as_its_state_says(
    folder: BookFolder, known: Known, changes: dict[str, Any], expected: PlanState
) -> None:
    """From the file alone."""
    put(folder, replace(STATE, **changes))
    found = standing(folder.root, known)
    assert (found.kind, found.state, found.problem) == ("book", expected, None)
    json.dumps(found.to_json())


def test_the_chapters_are_counted(folder: BookFolder, known: Known) -> None:
    """Each once: the one in progress is not pending."""
    put(folder, replace(STATE, completed_chapters=(1,), failed_chapters=(3,)))
    found = standing(folder.root, known)
    assert found.counts == {
        "pending": 1,
        "in_progress": 1,
        "completed": 1,
        "failed": 1,
        "skipped": 0,
    }
    assert found.in_progress == ["chapter 2"]
    assert found.running == [], "nobody is at work on it"
    assert [one["task"] for one in found.failed] == ["chapter 3"]


def test_a_book_that_was_not_begun_waits(folder: BookFolder, known: Known) -> None:
    """With the chapters that book.toml names; nothing to resume."""
    found = standing(folder.root, known)
    assert (found.state, found.counts["pending"]) == (PlanState.PENDING, 4)
    told = facts(resuming.look(folder.root), found)
    assert told["resumable"] is False
    put(folder, render_reset("x"))
    assert standing(folder.root, known).counts["pending"] == 4


def test_a_damaged_state_is_a_problem_with_a_way_out(folder: BookFolder, known: Known) -> None:
    """Resumable where there is a backup."""
    put(folder, b"{")
    found = standing(folder.root, known)
    assert found.state is PlanState.INTERRUPTED
    assert found.problem
    assert facts(resuming.look(folder.root), found)["resumable"] is False
    put(folder, STATE)
    folder.back_up(datetime(2026, 3, 1, tzinfo=UTC))
    put(folder, b"{")
    told = facts(resuming.look(folder.root), found)
    assert told["resumable"] is True
    assert folder.backups_newest_first()[0].name in told["next"]


def test_a_newer_state_is_a_problem_and_not_a_fault(folder: BookFolder, known: Known) -> None:
    """Its version is told."""
    put(folder, b'{"schema_version": 7}')
    assert "7" in (standing(folder.root, known).problem or "")


def test_an_error_in_book_toml_is_told_before_anything_was_begun(
    folder: BookFolder, known: Known
) -> None:
    """With its line."""
    (folder.root / "book.toml").write_text("chapters = 4\nacts = 0")
    found = standing(folder.root, known)
    assert "book.toml:2" in (found.problem or "")


def test_a_tripped_breaker_waits_with_its_question(bench: BookBench) -> None:
    """What is next is told; nothing is lost."""
    bench.write()
    bench.trips()
    bench.finish()
    found, told = stands(bench)
    assert found.state is PlanState.WAITING
    assert len(found.gates) == 1
    assert told["resumable"] is True
    assert told["lost"] == "nothing"
    assert "chapter 1" in str(told["next"])


def test_a_parked_book_is_parked(bench: BookBench) -> None:
    """Until its instant."""
    bench.write(wait=False)
    bench.starts()
    bench.says(LimitHit("session_limit", bench.clock.now() + timedelta(hours=1), text="limit"))
    bench.ends(1)
    bench.finish()
    found, told = stands(bench)
    assert found.state is PlanState.PARKED
    assert len(found.parks) == 1
    assert told["resumable"] is True
    assert "limit" in str(told["next"])


def test_what_would_be_redone_and_what_was_lost_is_told(folder: BookFolder, known: Known) -> None:
    """Half a chapter; completed ones without a file; Segue's own memory."""
    folder.chapters.mkdir()
    folder.chapter(2).write_text("half")
    put(folder, replace(STATE, completed_chapters=(1,)))
    found = standing(folder.root, known)
    told = facts(resuming.look(folder.root), found)
    assert "chapter 2" in told["redone"]
    assert "chapters 1" in told["lost"]
    folder.chapter(1).write_text("whole")
    assert "Segue's records" in facts(resuming.look(folder.root), found)["lost"]


def test_failed_chapters_are_what_is_next_when_nothing_else_is(
    folder: BookFolder, known: Known
) -> None:
    """By their numbers."""
    put(folder, replace(STATE, completed_chapters=(1, 2), failed_chapters=(3, 4)))
    told = facts(resuming.look(folder.root), standing(folder.root, known))
    assert "3, 4" in told["next"]


@pytest.mark.parametrize(
    "changes",
    [{"completed_at": "2026-03-01T00:00:00Z"}, {"ralph_active": False, "can_resume": False}],
)
def test_what_cannot_be_resumed_says_why(
    folder: BookFolder, known: Known, changes: dict[str, Any]
) -> None:
    """And what could be begun."""
    put(folder, replace(STATE, **changes))
    told = facts(resuming.look(folder.root), standing(folder.root, known))
    assert told["resumable"] is False
    assert told["why"]
    assert "write-all" in told["next"]


def test_a_book_that_waits_at_a_limit_is_parked_while_its_owner_lives(
    bench: BookBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No agent works: not running, whoever waits; the step that is parked is not listed as such."""
    bench.write()
    monkeypatch.setattr(Known, "holder", lambda self, path: Holder(1, "", ""))
    assert stands_now(bench).running == ["ch1.write.1"]
    assert stands_now(bench).state is PlanState.RUNNING
    bench.starts()
    bench.says(LimitHit("session_limit", bench.clock.now() + timedelta(hours=1), text="limit"))
    bench.ends(1)
    found = stands_now(bench)
    assert (found.state, found.running) == (PlanState.PARKED, [])
    assert [park["task"] for park in found.parks] == ["ch1.write.1"]


def test_a_question_of_the_breaker_is_waited_for_while_its_owner_lives(
    bench: BookBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiting, not running: nothing is written meanwhile."""
    bench.write()
    monkeypatch.setattr(Known, "holder", lambda self, path: Holder(1, "", ""))
    bench.trips()
    assert stands_now(bench).state is PlanState.WAITING


def stands_now(bench: BookBench) -> Standing:
    """As it stands while the run lives."""
    known = Known.of(Project.containing(bench.root))
    try:
        return standing(bench.root, known)
    finally:
        known.close()
