"""Segue is killed with -9 at every moment at which it changes something."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from kit.crash_checks import check_account, check_at_the_end
from kit.crashing import crashing
from kit.memory import forget

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
MARKS = """\
# Marks of every sort

- [ ] **T-1**: Done, with its steps
  - run: echo T-1 >> done; echo "=== STEP 2 DONE ==="
  - steps:
    - [ ] one
    - [ ] two
- [ ] **T-2**: Fails for good
  - retries: 1
  - run: exit 7
- [ ] **T-3**: Cannot run any more
  - blocked by: T-2
  - run: echo T-3 >> done
- [ ] **T-4**: Done
  - blocked by: T-1
  - run: echo T-4 >> done
- [ ] **T-5**: Fails once
  - blocked by: T-1
  - run: test "$SEGUE_ATTEMPT" = 2 || exit 3
- [ ] **T-6**: Last
  - blocked by: T-4, T-5
  - run: sleep 0.4; echo T-6 >> done
"""
MARKS_AFTER = """\
# Marks of every sort

- [x] **T-1**: Done, with its steps
  - run: echo T-1 >> done; echo "=== STEP 2 DONE ==="
  - steps:
    - [x] one
    - [x] two
- [!] **T-2**: Fails for good
  - retries: 1
  - run: exit 7
  <!-- previous error: exit code 7 -->
  <!-- retries: 1/1 -->
- [-] **T-3**: Cannot run any more
  - blocked by: T-2
  - run: echo T-3 >> done
- [x] **T-4**: Done
  - blocked by: T-1
  - run: echo T-4 >> done
- [x] **T-5**: Fails once
  - blocked by: T-1
  - run: test "$SEGUE_ATTEMPT" = 2 || exit 3
  <!-- previous error: exit code 3 -->
  <!-- retries: 1/2 -->
- [x] **T-6**: Last
  - blocked by: T-4, T-5
  - run: sleep 0.4; echo T-6 >> done
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


def segue(project: Path, die_at: int, ends: tuple[int, ...] = (0,)) -> int:
    return crashing("plan", project, die_at, "run", "PLAN.md", "--jobs", "2", ends=ends)


def check(project: Path) -> None:
    plan = (project / "PLAN.md").read_text()
    assert plan.count("[x]") == 6, plan
    lines = Counter((project / "done").read_text().splitlines())
    assert lines == {"T-1": 1, "T-2": 1, "T-3": 1, "T-4 begun": 1, "T-4": 1, "T-5": 1}
    check_at_the_end(project, tasks=5)
    assert not list(project.glob(".PLAN.md.segue-*"))


@pytest.mark.parametrize("worker", range(WORKERS))
def test_killed_at_any_moment_it_goes_on_and_does_nothing_twice(worker: int, project: Path) -> None:
    """At whatever change of state Segue is killed, the next start finishes, each task once."""
    fresh = {path.name: path.read_bytes() for path in project.iterdir()}
    assert segue(project, 0) == 0
    moments = int((project / "moments").read_text())
    assert moments > 60
    for die_at in range(1 + worker, moments + 1, WORKERS):
        forget(project, "done", "tried")
        for name, data in fresh.items():
            (project / name).write_bytes(data)
        first = segue(project, die_at)
        try:
            if first == -9:
                check_account(project)
                assert segue(project, 0) == 0
            check(project)
        except AssertionError as error:
            raise AssertionError(f"killed at moment {die_at} of {moments}") from error


@pytest.mark.parametrize("worker", range(WORKERS))
def test_killed_at_any_moment_it_makes_all_marks_good(worker: int, project: Path) -> None:
    """At whatever change of state Segue is killed, with whatever marks still unwritten, and while a
    person changes the plan: the next start shows every mark, sub-step and comment, and their
    words."""
    failed = (1, 3)  # something failed; at the next start: it waits for a word about that
    plan = project / "PLAN.md"
    plan.write_text(MARKS)
    assert segue(project, 0, failed) == 1
    assert plan.read_text() == MARKS_AFTER
    moments = int((project / "moments").read_text())
    assert moments > 60
    for die_at in range(1 + worker, moments + 1, WORKERS):
        forget(project, "done")
        plan.write_text(MARKS)
        killed = segue(project, die_at, failed) == -9
        plan.write_text("A person's word.\n\n" + plan.read_text())
        if killed:
            segue(project, 0, failed)
        told = f"killed at moment {die_at} of {moments}"
        assert plan.read_text() == "A person's word.\n\n" + MARKS_AFTER, told
        lines = Counter((project / "done").read_text().splitlines())
        assert lines == {"T-1": 1, "T-4": 1, "T-6": 1}, told


def test_killed_again_and_again_it_still_gets_there(project: Path) -> None:
    """Every start is killed a little later than the one before; the work is done once."""
    for die_at in range(1, 200, 4):
        if segue(project, die_at) == 0:
            break
    check(project)
