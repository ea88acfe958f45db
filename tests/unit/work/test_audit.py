"""What an audit finds: breaks, forged evidence, and who decided what."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from segue.engine import acts, evidence
from segue.engine.acts import Verb, Wanted
from segue.engine.evidence import Check
from segue.engine.executors import Ended
from segue.engine.run_files import RunFiles
from segue.store.actors import Actor, acting, agent
from segue.store.changes import Add, Change, Move, Value
from segue.store.sqlite import Store
from segue.work.audit import audit

NOW = datetime(2025, 3, 1, 12, tzinfo=UTC)
KIM = Actor("kim (pts/1)", "terminal")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store.open(tmp_path / "segue.db")) as opened:
        yield opened


@pytest.fixture
def told(store: Store, tmp_path: Path) -> Store:
    """A task that was checked and completed, and a gate that a person settled."""
    files = RunFiles(tmp_path, tmp_path, tmp_path)
    files.check_log("T-1-1-ab").write_text("all green\n")
    check = Check("T-1", "T-1-1-ab", 1, "make test", tmp_path)
    row: dict[str, Value] = {
        "work": "p",
        "task": "p/T-1",
        "attempt": 1,
        "agent": "a",
        "account": "a",
    }
    begun: list[Change] = [
        Add("work", "p", "pending", {"path": "/p/PLAN.md", "kind": "tasklist"}),
        Add("task", "p/T-1", "pending", {"work": "p", "key": "T-1", "title": "do it"}),
        Add("run", "T-1-1-ab", "intended", {**row, "conversation": "c", "nonce": "n"}),
        Add("gate", "g1", "pending", {"work": "p", "task": "p/T-1", "kind": "question"}),
        Move("task", "p/T-1", "pending", "in_progress", "start"),
        evidence.keep(files, check, Ended("T-1-1-ab", 0), NOW),
    ]
    with acting(KIM):
        data = {"task": "T-1", "kind": "question", "answer": "blue"}
        begun.append(Move("gate", "g1", "pending", "answered", "answer", data=data))
    with acting(agent("T-1-1-ab")):
        begun.append(Move("task", "p/T-1", "in_progress", "completed", "complete"))
    assert store.move(*begun, at=NOW)
    return store


def test_it_says_who_decided_what_with_which_evidence(told: Store, tmp_path: Path) -> None:
    """A settled gate and a completed task are decisions; each names its actor and the check."""
    found = audit(told, tmp_path)
    assert found.holds
    assert found.rows == 8
    shown = [
        (one["decided"], one["actor"], one["via"], one["task"], one["work"], one["evidence"])
        for one in found.decisions
    ]
    where = ("T-1", "/p/PLAN.md", "T-1-1-ab.log")
    assert shown == [
        ("answered", "kim (pts/1)", "terminal", *where),
        ("completed", "agent T-1-1-ab", "process", *where),
    ]
    assert found.decisions[0]["answer"] == "blue"
    assert [check["command"] for check in found.checks] == ["make test"]


def test_an_act_names_its_task(told: Store, tmp_path: Path) -> None:
    """What a person wanted of it; a check of the task says nothing about that."""
    id = acts.add(told, Wanted(Verb.SKIP, "p", KIM, "p/T-1"), NOW)
    told.move(acts.refused(acts.outcome(told, id), "it is completed"), at=NOW)
    *_, found = audit(told, tmp_path).decisions
    assert (found["decided"], found["task"], found["evidence"]) == ("skip", "T-1", None)


@pytest.mark.parametrize("name", ["T-1-1-ab.log", "T-1-1-ab.json"])
@pytest.mark.parametrize("how", ["changed", "missing"])
def test_forged_evidence_is_named_with_its_task(
    told: Store, tmp_path: Path, name: str, how: str
) -> None:
    """A file that was changed or removed is found, the output and the record alike."""
    file = tmp_path / name
    file.unlink() if how == "missing" else file.write_text("all red\n")
    (fault,) = audit(told, tmp_path).faults
    assert (fault.file, fault.why, fault.task) == (str(file), how, "T-1")


def test_a_link_is_not_the_file_that_was_recorded(told: Store, tmp_path: Path) -> None:
    """Also one that leads to the same content."""
    file = tmp_path / "T-1-1-ab.log"
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert [fault.why for fault in audit(told, tmp_path).faults] == ["changed"]


def test_the_files_of_an_earlier_check_are_replaced(told: Store, tmp_path: Path) -> None:
    """A run that was checked again has the files of the last check."""
    files = RunFiles(tmp_path, tmp_path, tmp_path)
    files.check_log("T-1-1-ab").write_text("once more\n")
    check = Check("T-1", "T-1-1-ab", 1, "make test", tmp_path)
    assert told.move(evidence.keep(files, check, Ended("T-1-1-ab", 0), NOW), at=NOW)
    assert audit(told, tmp_path).holds


@pytest.mark.parametrize("column", ["data", "at", "actor", "entity_id", "work", "to_state"])
@pytest.mark.parametrize("value", ["'forged'", "x'ff00'", "NULL"])
def test_a_forged_row_is_named_whatever_stands_in_it(
    told: Store, tmp_path: Path, column: str, value: str
) -> None:
    """Nothing in a row keeps the audit from its end."""
    if value == "NULL" and column in ("at", "entity_id", "to_state"):
        pytest.skip("the table does not take it")
    told.close()
    with closing(sqlite3.connect(tmp_path / "segue.db")) as db, db:
        db.execute(f"UPDATE journal SET {column} = {value} WHERE seq = 7")
    with closing(Store.open(tmp_path / "segue.db")) as again:
        assert [one.seq for one in audit(again, tmp_path).breaks] == [7]
