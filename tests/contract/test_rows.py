"""One table for each thing: a task, its runs and its park say the same for every kind of work."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from contract.scenes import HOUR_S, limit, turn, work
from contract.subjects import Subject
from contract.subjects.records import DONE

pytestmark = pytest.mark.moments
PARKS = (
    "SELECT p.id, p.state, p.kind, p.account, p.wakes_at, t.key, t.state AS task, r.id AS run,"
    " r.state AS run_state, a.state AS account_state FROM parks p JOIN tasks t ON t.id = p.task"
    " JOIN runs r ON r.id = p.run AND r.task = t.id JOIN works w ON w.id = p.work AND w.id = t.work"
    " JOIN accounts a ON a.id = p.account"
)
JOURNAL = "SELECT at, cause, to_state FROM journal WHERE entity = ? AND entity_id = ? ORDER BY seq"


def rows(subject: Subject, sql: str, *values: object) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(subject.box.database)) as db:
        db.row_factory = sqlite3.Row
        return [dict(row) for row in db.execute(sql, values)]


def test_a_limit_is_a_park_of_its_task_and_run(subject: Subject) -> None:
    """All in one transaction, and called as `status` calls it."""
    subject.plays(turn(limit(HOUR_S)))
    subject.begin()
    subject.park_of(0)
    (park,) = rows(subject, PARKS)
    states = [park[name] for name in ("state", "task", "run_state", "account_state")]
    assert states == ["waiting", "in_progress", "parked", "parked"]
    (shown,) = [park["task"] for plan in subject.status() for park in plan["parks"]]
    assert park["key"] == shown
    (of_park,) = rows(subject, JOURNAL, "park", park["id"])
    of_run = rows(subject, JOURNAL, "run", park["run"])[-1]
    of_account = rows(subject, JOURNAL, "account", park["account"])[-1]
    assert (of_run["cause"], of_run["to_state"]) == ("park", "parked")
    assert of_park["at"] == of_run["at"] == of_account["at"]


def test_a_park_wakes_once_and_the_next_run_resumes_the_one_before(subject: Subject) -> None:
    """Written down before it begins, not before the time of the park."""
    subject.plays(turn(limit(3)), turn(work(1)))
    subject.begin()
    subject.wait(0, DONE)
    (park,) = rows(subject, PARKS)
    assert park["state"] == "woken"
    _added, woken = rows(subject, JOURNAL, "park", park["id"])
    assert woken["at"] >= park["wakes_at"]
    (second,) = rows(subject, "SELECT id, attempt FROM runs WHERE resumes = ?", park["run"])
    first = rows(subject, JOURNAL, "run", second["id"])[0]
    assert (first["to_state"], first["at"] >= woken["at"]) == ("intended", True)
