"""`segue message`: something is said to the agent of a task."""

from __future__ import annotations

import pytest

from kit.bench import Bench
from kit.questions import asked
from kit.shell import Shell
from segue.dialects.events import Finished


def test_a_message_waits_for_the_next_start(bench: Bench, segue: Shell) -> None:
    """It hides nothing of what waits for a person."""
    asked(bench)
    said = segue("message", "T-1", "use SQLite")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("message to the agent of T-1 sent — the work is not running")
    assert "T-1" in [item["task"] for item in segue("inbox", "--json").json["items"]]


@pytest.mark.usefixtures("owned")
def test_a_running_plan_takes_it_in_by_itself(bench: Bench, segue: Shell) -> None:
    asked(bench)
    said = segue("message", "T-1", "use SQLite", "--json").json
    assert (said["task"], said["waiting"], said["by_run"]) == ("T-1", False, True)


def test_nothing_is_said_to_what_is_over_or_unknown(bench: Bench, segue: Shell) -> None:
    bench.begin("- [ ] T-1: Build\n")
    bench.starts()
    bench.says(Finished(False))
    bench.ends(0)
    assert segue.refused("message", "T-1", "x")["code"] == "not_allowed"
    assert segue.refused("message", "T-9", "x")["code"] == "unknown_name"
    assert segue.refused("message", "T-1", " ")["code"] == "empty"


def test_it_stands_in_the_log(bench: Bench, segue: Shell) -> None:
    asked(bench)
    segue("message", "T-1", "use SQLite")
    items = segue("logs", "T-1", "--json").json["items"]
    assert ("message", "use SQLite") in [(item["kind"], item["text"]) for item in items]
