"""What a report knows, from the tables."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from kit.bench import Bench
from kit.questions import asked
from segue.dialects.events import LimitHit
from segue.work.project import Project
from segue.work.report.facts import Report, gather


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.close()


def report(bench: Bench, ago: timedelta = timedelta(hours=24)) -> Report:
    bench.run.ledger.commit()
    return gather(Project(bench.root), bench.clock.at - ago, bench.clock.at)


def test_what_waits_and_what_failed_is_in_it(bench: Bench) -> None:
    gate = asked(bench)
    [work] = report(bench).works
    assert [(one["id"], one["task"], one["text"]) for one in work.waiting] == [
        (gate, "T-1", "Which database?")
    ]
    assert [(one["task"], one["error"]) for one in work.failed] == [("T-2", "exit code 1")]
    assert {row.name for row in work.rows} == {"T-1", "T-2"}


def test_a_limit_costs_the_time_until_it_is_over(bench: Bench) -> None:
    bench.begin("- [ ] T-1: Build\n")
    bench.starts()
    bench.says(LimitHit("session_limit", wait_s=600.0))
    bench.ends(1)
    bench.run.ledger.commit()
    bench.clock.at += timedelta(minutes=5)
    found = report(bench)
    assert found.by_account == {"claude": {"count": 1, "seconds": 300.0}}
    assert found.lost_s == 300.0
    [limit] = found.works[0].limits
    assert (limit["task"], limit["is_over"]) == ("T-1", False)


def test_what_was_before_is_left_out(bench: Bench) -> None:
    asked(bench)
    bench.run.ledger.commit()
    bench.clock.at += timedelta(hours=30)
    [work] = report(bench).works  # the question still waits
    assert (work.failed, len(work.waiting)) == ([], 1)


def test_a_folder_without_a_database_has_nothing(tmp_path: Path, bench: Bench) -> None:
    empty = gather(Project(tmp_path / "empty"), bench.clock.at, bench.clock.at)
    assert (empty.works, empty.commits) == ([], [])


def test_programs_get_documented_names(bench: Bench) -> None:
    asked(bench)
    told = report(bench).to_json()
    assert {"since", "until", "works", "limits", "usage", "by_agent", "commits"} <= told.keys()
    assert {"kind", "path", "state", "done", "failed", "waiting", "limits", "usage"} <= told[
        "works"
    ][0].keys()
