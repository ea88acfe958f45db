"""Processes follow the rows of their tasks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from segue.errors import UserError
from segue.work.phases import task_failure
from segue.work.phases.processes import Processes

FULL = UserError("disk_full", "no space is left")


def supervisor(error: Exception | None = None, **more: Any) -> Any:
    looked: list[str] = []

    def task(id: str) -> None:
        looked.append(id)
        if error is not None:
            raise error

    made = SimpleNamespace(
        is_stopping=False,
        is_away=False,
        quarantined=set(),
        trouble=None,
        records=SimpleNamespace(task=task, agent=lambda id: None),
        kick=lambda: looked.append("kick"),
        looked=looked,
    )
    for name, value in more.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    "state", [{"is_stopping": True}, {"is_away": True}, {"quarantined": {"t-1"}}]
)
def test_nothing_is_begun_that_could_not_be_kept(state: dict[str, Any]) -> None:
    """At the end, while the disk is full, and for a task that could not even be failed."""
    made = supervisor(**state)
    Processes(made).reconcile("t-1")
    assert made.looked == []


def test_a_task_that_is_gone_needs_no_process() -> None:
    """Its rows were deleted meanwhile."""
    made = supervisor()
    Processes(made).reconcile("t-1")
    assert (made.looked, made.trouble) == (["t-1"], None)


def test_an_error_fails_its_own_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever committed the rows has nothing to do with it."""
    failed: list[str] = []
    monkeypatch.setattr(task_failure, "about", lambda _s, id, _error: failed.append(id))
    made = supervisor(ValueError("a mistake"))
    Processes(made).reconcile("t-1")
    assert (failed, made.trouble) == (["t-1"], None)


def test_what_may_pass_by_itself_is_left_to_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop waits until something can be kept again."""

    def about(_supervisor: Any, _id: str, error: Exception) -> None:
        raise error

    monkeypatch.setattr(task_failure, "about", about)
    made = supervisor(FULL)
    Processes(made).reconcile("t-1")
    assert made.trouble is FULL
    assert made.looked == ["t-1", "kick"]
