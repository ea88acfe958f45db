"""Work in the background: what is remembered of it, and which one a person means."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.bench import Bench
from segue.errors import UserError
from segue.store.sqlite import Store
from segue.work import background
from segue.work.act_targets import Work
from segue.work.background import Detached
from segue.work.project import Project

ARGV = ("run", "PLAN.md", "--jobs", "2")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.close()


def works(*names: str) -> list[Work]:
    return [Work(name, "tasklist", Path("/p") / name) for name in names]


def detached(bench: Bench) -> list[Detached]:
    return list(background.works(Project(bench.root)))


def test_the_command_of_an_owner_is_in_its_environment() -> None:
    assert background.command_here({background.VARIABLE: json.dumps({"argv": ARGV})}) == ARGV
    for text in ("", "1", "[]", "no JSON"):
        assert background.command_here({background.VARIABLE: text}) is None
    assert background.command_here({}) is None


def test_an_owner_waits_until_it_is_below_no_segue() -> None:
    """Below this process it stays only as long as it may wait; elsewhere it waits for nothing."""
    begun = time.monotonic()
    here = {background.VARIABLE: json.dumps({"argv": [], "not_below": os.getpid()})}
    background.wait_for_own_place(here, within_s=0.05)
    assert time.monotonic() - begun >= 0.05
    for environ in ({}, {background.VARIABLE: json.dumps({"argv": [], "not_below": 0})}):
        background.wait_for_own_place(environ, within_s=3600)


def test_who_has_ended_does_not_run() -> None:
    assert background.is_running(os.getpid())
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not background.is_running(process.pid), "not reaped yet"
    process.wait()
    assert not background.is_running(process.pid)


def test_a_work_remembers_how_it_was_started(bench: Bench) -> None:
    bench.begin("- [ ] T-1: Build\n")
    bench.run.ledger.note_options(background.options_of(ARGV))
    bench.run.ledger.commit()
    [found] = detached(bench)
    assert (found.argv, found.owner) == (ARGV, None)
    assert found.is_left


def test_one_in_the_foreground_is_none(bench: Bench) -> None:
    bench.begin("- [ ] T-1: Build\n")
    bench.run.ledger.note_options(background.options_of(ARGV))
    bench.run.ledger.note_options(background.options_of(None))
    bench.run.ledger.commit()
    assert detached(bench) == []


def test_one_that_a_person_stopped_is_forgotten(bench: Bench) -> None:
    bench.begin("- [ ] T-1: Build\n")
    bench.run.ledger.note_options(background.options_of(ARGV))
    bench.run.ledger.commit()
    [found] = detached(bench)
    background.forget(Project(bench.root), found.work)
    assert detached(bench) == []


def test_without_a_database_nothing_runs(tmp_path: Path) -> None:
    project = Project(tmp_path)
    assert (list(background.works(project)), background.owned(project)) == ([], [])


def test_one_whose_folder_is_gone_cannot_be_started(tmp_path: Path) -> None:
    [work] = works("a")
    gone = Detached(work, ARGV, tmp_path / "gone", "interrupted", None)
    assert background.start_again(Project(tmp_path), gone, {}) is None


def test_the_only_one_is_meant_without_a_name() -> None:
    project = Project(Path("/p"))
    assert background.chosen(works("a"), None, project, "none").id == "a"
    with pytest.raises(UserError, match="several match: a, b"):
        background.chosen(works("a", "b"), None, project, "none")
    with pytest.raises(UserError, match="none"):
        background.chosen([], None, project, "none")


def test_a_path_names_the_work_or_a_folder_around_it() -> None:
    project = Project(Path("/p"))
    assert background.chosen(works("a", "b"), Path("/p/b"), project, "none").id == "b"
    assert background.chosen(works("a"), Path("/p"), project, "none").id == "a"


def test_the_last_words_of_one_that_ended_at_once_are_on_either_output(tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    assert background.said_last(events) == ""
    background.error_file(events).write_text("wrong\n")
    events.write_text("")
    assert background.said_last(events) == "wrong"


def test_the_table_has_options(bench: Bench) -> None:
    """Older rows have none: they are works of the foreground."""
    bench.begin("- [ ] T-1: Build\n")
    bench.run.ledger.commit()
    store = Store.open_readonly(Project(bench.root).database)
    assert store is not None
    row = store.one("SELECT options FROM works")
    store.close()
    assert row is not None
    assert row["options"] == "{}"
