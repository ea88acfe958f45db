"""A "done" nobody can forge: what an agent changes in Segue's records is found and named."""

from __future__ import annotations

import shlex
import sys

import pytest

from kit.box import Box

FORGE = {
    "a row": "import sqlite3; db = sqlite3.connect({database!r}, timeout=60);"
    " db.execute(\"UPDATE journal SET to_state = 'completed' WHERE to_state = 'failed'\");"
    " db.commit()",
    "no row": "import sqlite3; db = sqlite3.connect({database!r}, timeout=60);"
    " db.execute(\"DELETE FROM journal WHERE to_state = 'failed'\"); db.commit()",
    "evidence": "import pathlib; [p.write_text('all green') for p in"
    " pathlib.Path({evidence!r}).glob('T-1*.log')]",
    "no evidence": "import pathlib; [p.unlink() for p in pathlib.Path({evidence!r}).glob('T-1*')]",
}


@pytest.mark.parametrize("what", FORGE)
def test_what_an_agent_forges_is_named(box: Box, what: str) -> None:
    """Without the sandbox an agent of the same user can write there; the audit names it."""
    code = FORGE[what].format(database=str(box.database), evidence=str(box.evidence))
    box.config('agent = "shell"\n[agents.shell]\nkind = "shell"\nsandbox = "none"\n')
    box.plan(
        "- [ ] **T-1**: fails\n  - retries: 0\n  - run: true\n  - verify: echo red; false\n"
        f"- [ ] **T-2**: forges\n  - run: {shlex.join([sys.executable, '-c', code])}\n"
    )
    box.run("--jobs", "1", "--on-failed", "skip")
    told = box.segue("audit")
    assert told.code == 1, told.said
    wanted = str(box.evidence) if "evidence" in what else "row"
    assert wanted in told.out
    if "evidence" in what:
        assert "T-1" in told.out


def test_an_honest_night_holds(box: Box) -> None:
    """The same plan without a forger."""
    box.plan(
        "- [ ] **T-1**: fails\n  - agent: shell\n  - retries: 0\n  - run: true\n"
        "  - verify: echo red; false\n- [ ] **T-2**: works\n  - agent: shell\n  - run: true\n"
    )
    box.run("--jobs", "1", "--on-failed", "skip")
    assert box.segue("audit").code == 0
