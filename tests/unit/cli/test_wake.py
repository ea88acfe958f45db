"""`segue wake`: what is parked continues now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from kit.bench import Bench
from kit.questions import asked, parked
from kit.shell import Shell


def wakes_in(segue: Shell) -> list[timedelta]:
    """How long the parks of the plan still wait."""
    parks = segue("status", "--json").json["plans"][0]["parks"]
    return [datetime.fromisoformat(park["wakes_at"]) - datetime.now(UTC) for park in parks]


def test_a_parked_task_is_due_now(bench: Bench, segue: Shell) -> None:
    """The row is changed though nobody runs the plan; who reads it learns what runs it."""
    parked(bench, wait_s=86_400)
    assert [wait > timedelta(hours=23) for wait in wakes_in(segue)] == [True]
    said = segue("wake", "T-1")
    assert said.code == 0
    assert said.out == (
        "T-1 will resume now — the work is not running now; to apply this, run: segue run PLAN.md\n"
    )
    assert [wait <= timedelta(0) for wait in wakes_in(segue)] == [True]


def test_an_account_that_was_never_parked_continues(segue: Shell) -> None:
    """Nothing is written for it."""
    told = segue("wake", "claude", "--json").json
    assert told == {"account": "claude", "until": None, "by_run": False, "waiting": False}


def test_a_task_that_is_not_parked_is_refused(bench: Bench, segue: Shell) -> None:
    asked(bench)
    error = segue.refused("wake", "T-1")
    assert (error["code"], error["message"]) == ("not_parked", "T-1 is not parked")
    assert "segue status" in error["hint"]


def test_an_account_wakes_the_tasks_that_wait_for_it(bench: Bench, segue: Shell) -> None:
    parked(bench, wait_s=86_400)
    assert segue("wake", "claude").out == "claude will resume now\n"
    assert [wait <= timedelta(0) for wait in wakes_in(segue)] == [True]
    (account,) = segue("status", "--json").json["accounts"]
    assert datetime.fromisoformat(account["parked_until"]) <= datetime.now(UTC)
