"""`segue audit`: the chain holds, or the row or file is named."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from kit.box import Box

PLAN = """\
- [ ] **T-1**: checked
  - agent: shell
  - run: echo hi
  - verify: echo all green
"""


@pytest.fixture
def done(box: Box) -> Box:
    box.plan(PLAN)
    assert box.run().code == 0
    return box


def change(box: Box, sql: str) -> None:
    with closing(sqlite3.connect(box.database)) as db, db:
        assert db.execute(sql).rowcount


def test_a_chain_that_holds(done: Box) -> None:
    """Exit code 0; the check, its command and its hash are in it, and who completed the task."""
    told = done.segue("audit", "--json")
    assert told.code == 0
    found = told.json
    assert found["holds"] is True
    (check,) = found["evidence"]
    assert (check["task"], check["command"], check["exit_code"]) == ("T-1", "echo all green", 0)
    (decision,) = [one for one in found["decisions"] if one["decided"] == "completed"]
    assert decision["task"] == "T-1"
    assert decision["actor"] == "segue", "its own check decided, not the claim of the agent"
    assert decision["evidence"] == check["output"]
    shown = done.segue("audit")
    assert shown.code == 0
    assert "echo all green" in shown.out


def test_a_forged_row_is_named(done: Box) -> None:
    """Exit code 1 and the number of the row."""
    change(done, "UPDATE journal SET to_state = 'completed' WHERE seq = 3")
    told = done.segue("audit")
    assert told.code == 1
    assert "row 3" in told.out
    found = done.segue("audit", "--json").json
    assert [one["row"] for one in found["breaks"]] == [3]


def test_forged_evidence_is_named(done: Box) -> None:
    """Exit code 1, the file and the task."""
    (file,) = done.evidence.glob("*.log")
    file.write_text("all forged\n")
    told = done.segue("audit")
    assert told.code == 1
    assert str(file) in told.out
    assert "T-1" in told.out


def test_a_folder_without_memory_holds(box: Box) -> None:
    """Nothing was recorded, nothing is broken, and nothing is made."""
    told = box.segue("audit", "--json")
    assert told.code == 0
    assert told.json["rows"] == 0
    assert not (box.root / ".segue").exists()
