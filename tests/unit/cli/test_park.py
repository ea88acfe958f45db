"""`segue park`: a task or an account stands still until a time that a person names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kit.bench import Bench
from kit.questions import parked
from kit.shell import Shell


def until(text: str) -> timedelta:
    """How far away a time is that a program read."""
    return datetime.fromisoformat(text) - datetime.now(UTC)


def test_an_account_is_parked_for_as_long_as_is_said(segue: Shell) -> None:
    """Before anything has run here: an agent of the settings is charged to it."""
    told = segue("park", "claude", "--for", "1h30m", "--json").json
    assert told["account"] == "claude"
    assert (told["by_run"], told["waiting"]) == (False, False)
    assert timedelta(minutes=89) < until(told["until"]) <= timedelta(minutes=90)


def test_an_account_is_parked_until_the_clock_shows_a_time(segue: Shell) -> None:
    """The next time it shows that, within a day."""
    told = segue("park", "claude", "--until", "08:00", "--json").json
    assert told["until"].endswith("T08:00:00Z")
    assert timedelta(0) < until(told["until"]) <= timedelta(days=1)


def test_a_parked_task_of_a_plan_that_nobody_runs_is_moved_at_once(
    bench: Bench, segue: Shell
) -> None:
    parked(bench)
    said = segue("park", "T-1", "--for", "9h")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("T-1 is parked until ")
    told = segue("status", "--json").json["plans"][0]["parks"]
    assert [timedelta(hours=8) < until(park["wakes_at"]) for park in told] == [True]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "pass --for or --until"),
        (("--for", "2h", "--until", "08:00"), "pass --for or --until"),
        (("--for", "2"), "`2` is not a duration"),
        (("--for", "0s"), "`0s` is not a duration"),
        (("--for", ""), "`` is not a duration"),
        (("--for", "99999d"), "`99999d` is not a duration"),
        (("--until", "25:00"), '"25:00" is not a time of day like 08:00'),
    ],
)
def test_a_time_that_cannot_be_used_is_refused_with_an_example(
    segue: Shell, options: tuple[str, ...], said: str
) -> None:
    error = segue.refused("park", "claude", *options)
    assert (error["code"], error["message"]) == ("usage", said)
    assert error["hint"]


def test_a_name_that_nobody_has_is_refused(segue: Shell) -> None:
    error = segue.refused("park", "T-9", "--for", "2h")
    assert error["code"] == "unknown_name"
    assert "no task or account `T-9`" in error["message"]


@pytest.mark.usefixtures("owned")
def test_the_owner_of_a_running_plan_parks_the_task_itself(bench: Bench, segue: Shell) -> None:
    """Its agent has to end first: until then the act waits, and a person is told so."""
    bench.begin("- [ ] T-1: Build\n")
    bench.starts()
    said = segue("park", "T-1", "--for", "2h")
    assert said.code == 0
    assert said.out.endswith(" — queued; the running Segue has not processed it yet\n")
