"""A feature, a task of the server, a watched pane: Segue is killed with -9 at every moment at which
it changes something or waits for its agent. (Task lists and books: `test_crash_points.py`,
`test_book_crash_points.py`.)"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from kit.crash_checks import check_account, check_at_the_end, check_parks, tables
from kit.forks import forked

WORKERS = 4
SETTINGS = """\
agent = "mine"
[agents.mine]
kind = "command"
command = ["/bin/sh", "-c", '. "$SEGUE_PROJECT/agent.sh"']
[recovery]
wake_margin_s = 0
"""
# Each part is one line of `done`; one of them hits a limit once.
AGENT = """\
cat > /dev/null
cd "$SEGUE_PROJECT"
part="${SEGUE_CHECKPOINT:-$SEGUE_PHASE}"
if [ "$part" = LIMITED ] && ! [ -e limited ]; then
  touch limited
  echo "$part limited" >> done
  echo "Claude AI usage limit reached|$(($(date +%s) + 1))"
  exit 1
fi
echo "$part" >> done
[ -z "$SEGUE_CHECKPOINT" ] || echo made > "$SEGUE_CHECKPOINT.txt"
echo "=== CUSTOM TASK COMPLETE $SEGUE_NONCE ==="
"""
DESIGN = """\
# Design

```yaml checkpoints
- {"id": "cp-1", "description": "a", "validate": "test -e cp-1.txt", "depends": [], "files": ["cp-1.txt"]}
```
"""
STATE = """\
phase: IMPLEMENT
strategy: subagent
feature: "chat"
started_at: "2026-02-16T10:00:00"
updated_at: "2026-02-16T11:30:00"
checkpoints:
  cp-1: { status: pending, iteration: 0 }
"""


def feature(folder: Path) -> None:
    files = {
        "segue.toml": SETTINGS,
        "agent.sh": AGENT.replace("LIMITED", "MERGE"),
        "docs/design/chat.md": DESIGN,
        ".develop-workflow/state.yaml": STATE,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def is_developed(folder: Path) -> None:
    lines = Counter((folder / "done").read_text().splitlines())
    assert lines == {"cp-1": 1, "MERGE limited": 1, "MERGE": 1}
    state = (folder / ".develop-workflow/state.yaml").read_text()
    assert state.count("status: passed") == 1, state
    check_at_the_end(folder, tasks=5, checks=("check",))


def server(folder: Path) -> None:
    (folder / "segue.toml").write_text(SETTINGS)
    (folder / "agent.sh").write_text(AGENT.replace("LIMITED", "0"))


def is_served(folder: Path) -> None:
    lines = Counter((folder / "done").read_text().splitlines())
    assert lines == {"0 limited": 1, "0": 1}
    check_at_the_end(folder, tasks=1)


def pane(folder: Path) -> None:
    """Its screen is all that it needs."""


def is_resumed(folder: Path) -> None:
    """The text was submitted once, and not before the limit's end."""
    sent = json.loads((folder / "pane.json").read_text())
    assert [one["text"] for one in sent] == ["계속", "\r"]
    begun = datetime.fromisoformat("2026-03-01T12:00:00+00:00")
    assert datetime.fromisoformat(sent[0]["at"]) >= begun + timedelta(seconds=60)
    check_parks(folder)
    with tables(folder) as db:
        assert db.execute("SELECT state, sends FROM panes").fetchall() == [("busy", 0)]
        assert db.execute("SELECT state FROM tasks").fetchall() == [("in_progress",)]
        runs = [state for [state] in db.execute("SELECT state FROM runs ORDER BY rowid")]
        assert (runs[0], runs[-1]) == ("parked", "running")
        assert set(runs[1:-1]) <= {"cut_off"}, "tries that its owner did not survive"


@dataclass(frozen=True)
class Kind:
    name: str
    fill: Callable[[Path], None]
    check: Callable[[Path], None]
    moments_min: int


SERVER = Kind("server", server, is_served, 20)
KINDS = [
    Kind("feature", feature, is_developed, 30),
    SERVER,
    Kind("panes", pane, is_resumed, 10),
]


def run(kind: Kind, folder: Path, die_at: int) -> int:
    env = {**os.environ, "MOMENTS": str(folder / "moments"), "HOME": str(folder)}
    done = forked("kit.crashing_kind", [kind.name, str(die_at)], folder, env)
    assert done.returncode in (0, -9), done.stdout + done.stderr
    return done.returncode


def begin(kind: Kind, folder: Path) -> None:
    """A new project."""
    folder.mkdir()
    kind.fill(folder)


def count(kind: Kind, folder: Path) -> int:
    """How many moments the whole work has."""
    begin(kind, folder)
    assert run(kind, folder, 0) == 0
    kind.check(folder)
    moments = int((folder / "moments").read_text())
    assert moments > kind.moments_min
    return moments


@pytest.mark.parametrize("worker", range(WORKERS))
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_killed_at_any_moment_it_continues_and_does_nothing_twice(
    kind: Kind, worker: int, tmp_path: Path
) -> None:
    """Whatever Segue was about to keep, to start or to send: the next start completes it, once."""
    folder = tmp_path / "project"
    moments = count(kind, folder)
    for die_at in range(1 + worker, moments + 1, WORKERS):
        folder = tmp_path / str(die_at)
        begin(kind, folder)
        try:
            if run(kind, folder, die_at) == -9:
                if kind is not SERVER:
                    check_account(folder)
                assert run(kind, folder, 0) == 0
            kind.check(folder)
        except AssertionError as error:
            raise AssertionError(f"killed at moment {die_at} of {moments}") from error


def test_killed_at_any_moment_the_account_of_a_server_is_not_apart(tmp_path: Path) -> None:
    """A limit parks the run and its account in one transaction, and so does its end."""
    folder = tmp_path / "project"
    for die_at in range(1, count(SERVER, folder) + 1):
        # A folder of its own: the agent of the moment before may still write into that one.
        folder = tmp_path / str(die_at)
        begin(SERVER, folder)
        run(SERVER, folder, die_at)
        check_account(folder)
