"""Segue is killed with -9 at every moment at which it changes something."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from segue.drivers.processes import find_by_environ

CRASHING = Path(__file__).with_name("crashing_segue.py")
TIMEOUT_S = 120
WORKERS = 8

PLAN = """\
- [ ] **T-1**: First
  - run: sleep 0.03; echo T-1 >> done
- [ ] **T-2**: Fails once
  - blocked by: T-1
  - run: test -e tried || { touch tried; exit 1; }; echo T-2 >> done
- [ ] **T-3**: Is verified
  - blocked by: T-1
  - run: echo T-3 >> done; echo "=== STEP 1 DONE ==="
  - verify: `grep -q T-3 done`
  - steps:
    - [ ] only
- [ ] **T-4**: Hits a limit
  - agent: limited
- [ ] **T-5**: Last
  - blocked by: T-2, T-3, T-4
  - run: echo T-5 >> done
"""
CONFIG = """\
[agents.limited]
kind = "script"
scenario = "limited.scenario"
[recovery]
wake_margin_s = 0
"""
SCENARIO = """\
append done T-4 begun
limit session_limit 200ms
append done T-4
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "PLAN.md").write_text(PLAN)
    (tmp_path / "segue.toml").write_text(CONFIG)
    (tmp_path / "limited.scenario").write_text(SCENARIO)
    return tmp_path


def segue(project: Path, die_at: int) -> int:
    done = subprocess.run(
        [sys.executable, str(CRASHING), str(die_at), "run", "PLAN.md", "--jobs", "2"],
        cwd=project,
        env={**os.environ, "MOMENTS": str(project / "moments")},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode in (0, -9), done.stdout + done.stderr
    return done.returncode


def check(project: Path) -> None:
    plan = (project / "PLAN.md").read_text()
    assert plan.count("[x]") == 6, plan
    lines = Counter((project / "done").read_text().splitlines())
    assert lines == {"T-1": 1, "T-2": 1, "T-3": 1, "T-4 begun": 1, "T-4": 1, "T-5": 1}
    assert find_by_environ("SEGUE_PROJECT", str(project)) == []
    assert not list(project.glob(".PLAN.md.segue-*"))


@pytest.mark.parametrize("worker", range(WORKERS))
def test_killed_at_any_moment_it_goes_on_and_does_nothing_twice(worker: int, project: Path) -> None:
    """At whatever change of state Segue is killed, the next start finishes, each task once."""
    fresh = {path.name: path.read_bytes() for path in project.iterdir()}
    assert segue(project, 0) == 0
    moments = int((project / "moments").read_text())
    assert moments > 60
    for die_at in range(1 + worker, moments + 1, WORKERS):
        for leftover in (".segue", "done", "tried"):
            subprocess.run(["rm", "-rf", project / leftover], check=True)
        for name, data in fresh.items():
            (project / name).write_bytes(data)
        first = segue(project, die_at)
        if first == -9:
            assert segue(project, 0) == 0
        try:
            check(project)
        except AssertionError as error:
            raise AssertionError(f"killed at moment {die_at} of {moments}") from error


def test_killed_again_and_again_it_still_gets_there(project: Path) -> None:
    """Every start is killed a little later than the one before; the work is done once."""
    for die_at in range(1, 200, 4):
        if segue(project, die_at) == 0:
            break
    check(project)
