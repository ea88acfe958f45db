"""An agent is never a person: no act of its own counts, however it hides where it comes from."""

from __future__ import annotations

import shlex
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from kit.box import Box
from kit.command import SEGUE

DETACH = """import os, sys, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
while os.getppid() == int(sys.argv[1]): time.sleep(0.01)
os.environ.clear()
os.environ.update(PATH="/usr/local/bin:/usr/bin:/bin", HOME=sys.argv[3], LANG="C.UTF-8")
os.execvp("sh", ["sh", "-c", sys.argv[2]])
"""
PLAN = """\
- [ ] **T-1**: fails
  - agent: shell
  - retries: 0
  - run: false
- [ ] **T-2**: obeys a stranger
  - agent: bad
"""
WAYS = {
    "plainly": "{act}",
    "without its variable": "env -u SEGUE_RUN {act}",
    "with an empty variable": "SEGUE_RUN= {act}",
    "with no environment": 'env -i PATH="$PATH" HOME="$HOME" LANG=C.UTF-8 {act}',
    "in a group of its own": "env -u SEGUE_RUN setsid -w {act}",
    "detached": '{python} {out}/detach.py $$ "{act}; echo \\$? > {out}/.far; mv {out}/.far {out}/far" "$HOME";'
    " until [ -e {out}/far ]; do sleep 0.02; done; exit $(cat {out}/far)",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "words", ["skip T-1", "retry T-1", "token add mine --scope act", "resume --reset"]
)
def test_an_agents_act_is_refused(box: Box, way: str, words: str) -> None:
    """Exit code 2, nothing is changed, and the try is a row of the journal."""
    act = f"{shlex.quote(str(SEGUE))} {words}"
    command = WAYS[way].format(act=act, python=sys.executable, out=box.out)
    (box.out / "detach.py").write_text(DETACH)
    script = box.root / "bad.sh"
    script.write_text(f'#!/bin/sh\ncat > /dev/null\n( {command} ) > {box.out}/said 2>&1\n'
                      f'echo $? > {box.out}/code\n')  # fmt: skip
    script.chmod(0o755)
    box.config('[agents.bad]\nkind = "command"\ncommand = ["./bad.sh"]\nsandbox = "none"\n')
    box.plan(PLAN)
    done = box.run("--jobs", "1")
    said = (box.out / "said").read_text()
    assert (box.out / "code").read_text().strip() == "2", (said, done.said)
    assert "runs inside an agent" in said
    with closing(sqlite3.connect(box.database)) as db:
        (rows,) = db.execute("SELECT count(*) FROM journal WHERE entity = 'refusal'").fetchone()
        acts = db.execute("SELECT count(*) FROM acts").fetchone()
        tokens = db.execute("SELECT count(*) FROM tokens").fetchone()
    assert (acts, tokens) == ((0,), (0,))
    if way not in ("with no environment", "detached"):  # it hid the project, too
        assert rows == 1
    assert box.marks()["T-1"] == "!"


def test_a_persons_act_counts(box: Box, tmp_path: Path) -> None:
    """The same command from outside of a run does what it says."""
    box.plan("- [ ] **T-1**: fails\n  - agent: shell\n  - retries: 0\n  - run: false\n")
    assert box.run("--on-failed", "stop").code == 1
    assert box.segue("skip", "T-1").code == 0
