"""What Segue knows is not where an agent works: not in the project, and not reachable from the
sandbox. What is planted in the project is never read."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from kit.attack import WITHIN, WITHOUT, Stranger, both_ways, needs_sandbox
from kit.box import Box
from segue.store.sqlite import Store

FORGES = """
for place in "$SEGUE_PROJECT/.segue" "{state}" "$(cat "$SEGUE_PROJECT/.segue/state")"; do
  find "$place" -name segue.db -o -name token -o -name project.json -o -name '*.json' \\
    >> found 2>/dev/null
  find "$place" -type f -name '*.db' -exec sh -c 'echo x > "$1"' sh {{}} \\; 2>/dev/null
  mkdir -p "$place" 2>/dev/null && echo forged > "$place/segue.db" 2>/dev/null
done
true"""


@needs_sandbox
def test_an_agent_in_the_sandbox_reaches_nothing_of_it(stranger: Stranger) -> None:
    """Neither by its place, nor by what the project says of it: the next start knows all."""
    found = stranger.tries(FORGES.format(state=stranger.box.state), WITHIN)
    assert "segue.db" not in found and "project.json" not in found
    assert stranger.result.code == 0, stranger.result.said
    with closing(sqlite3.connect(stranger.box.database)) as db:
        assert db.execute("SELECT state FROM tasks").fetchall() == [("completed",)]
    assert stranger.box.segue("audit").code == 0


@both_ways
def test_the_project_holds_neither_database_nor_token_nor_evidence(
    stranger: Stranger, sandbox: str
) -> None:
    """An agent that looks where it works finds logs of runs at most."""
    script = """
find "$SEGUE_PROJECT" \\( -name 'segue.db*' -o -name token -o -name '*.key' -o -name evidence \\) \\
  > found"""
    assert stranger.tries(script, sandbox, verify="true") == ""
    assert stranger.result.code == 0, stranger.result.said
    assert list(stranger.box.evidence.iterdir())


@both_ways
def test_a_database_that_an_agent_puts_into_the_project_is_not_read(
    stranger: Stranger, sandbox: str
) -> None:
    """It may say that all is done; and a pointer may lead to records that say so."""
    box = stranger.box
    other = box.tmp / "other"
    other.mkdir()
    (other / "PLAN.md").write_text("- [ ] T-1: a\n  - run: true\n")
    assert box.segue("run", "PLAN.md", cwd=other).code == 0
    (theirs,) = (path for path in box.state.parent.glob("other-*"))
    script = f"""
mkdir -p "$SEGUE_PROJECT/.segue" 2>/dev/null
echo planted > "$SEGUE_PROJECT/.segue/segue.db"
echo {theirs} > "$SEGUE_PROJECT/.segue/state"
false"""
    stranger.tries(script, sandbox, plan="- [ ] **T-1**: Do it.\n  - retries: 0\n")
    assert stranger.result.code == 1, stranger.result.said
    before = (theirs / "segue.db").read_bytes()
    status = box.segue("status", "--json").json
    (plan,) = status["plans"]
    assert plan["counts"].get("failed") == 1
    assert stranger.run("--on-failed", "skip").code == 1
    assert (theirs / "segue.db").read_bytes() == before


def test_an_agent_that_deletes_what_is_in_the_project_makes_nobody_forget(box: Box) -> None:
    """`git clean -fdx` after a question: the gate is still there, and waits for a person."""
    box.config('agent = "a"\n[agents.a]\nkind = "command"\ncommand = ["./ask.sh"]\n')
    script = box.root / "ask.sh"
    script.write_text(
        '#!/bin/sh\ncat > /dev/null\n[ -n "$SEGUE_RESUME" ] && exit 0\n'
        'echo "[USER_QUESTION $SEGUE_NONCE]"\necho "question: May I?"\n'
        'echo "[/USER_QUESTION]"\n'
    )
    script.chmod(0o755)
    box.plan("- [ ] T-1: asks\n- [ ] T-2: cleans\n  - agent: shell\n  - run: rm -rf .segue\n")
    done = box.run("--jobs", "1")
    assert done.code == 3, done.said
    (gate,) = done.of("gate_opened")
    assert [one["id"] for one in box.segue("inbox", "--json").json["items"]] == [gate["gate"]]
    assert box.segue("answer", gate["gate"], "yes").code == 0
    assert box.run().code == 0


def test_a_clone_brings_no_memory(box: Box) -> None:
    """A database, records and a pointer that came with the repository: refused, and unread."""
    box.repository()
    box.plan("- [ ] T-1: a\n  - run: true\n")
    memory = box.root / ".segue"
    memory.mkdir()
    Store.open(memory / "segue.db").close()
    (memory / "state").write_text(f"{box.root}/.segue\n")
    (memory / "project.json").write_text(json.dumps({"path": str(box.root), "inode": 1, "born": 1}))
    box.git("add", "-f", "-A")
    box.git("commit", "-qm", "planted")
    before = (memory / "segue.db").stat().st_mtime_ns
    done = box.run("--trust")
    assert (done.code, done.json["error"]["code"]) == (2, "planted_memory")
    assert box.segue("status").code == 0
    assert (memory / "segue.db").stat().st_mtime_ns == before
    assert not list(memory.glob("segue.db-*")), "nobody has opened it"


def test_a_linked_memory_is_refused(box: Box) -> None:
    """`.segue` itself leads elsewhere: to another project's, or to its state."""
    other = Path(box.tmp / "other")
    (other / ".segue").mkdir(parents=True)
    box.plan("- [ ] T-1: a\n  - run: true\n")
    (box.root / ".segue").symlink_to(other / ".segue")
    done = box.run()
    assert (done.code, done.json["error"]["code"]) == (2, "planted_memory")
    assert list((other / ".segue").iterdir()) == []


def test_agents_are_not_told_where_it_is(stranger: Stranger) -> None:
    """Where the user chose the place, its name is no agent's business."""
    chosen = stranger.box.tmp / "chosen"
    stranger.box.extra_env["XDG_STATE_HOME"] = str(chosen)
    found = stranger.tries("env > found", WITHOUT)
    assert str(chosen) not in found
    assert list(chosen.glob("segue/project-*/segue.db"))
