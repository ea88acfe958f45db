"""Throughput: 1,000 independent tasks that do nothing, two at a time.

`segue run` on a plan of 1,000 tasks with `run: true` against GNU `make -j2` with 1,000 targets
whose recipe is `true`. Tasks per second of the whole command, start-up included; best of three
rounds each, in turn. Make remembers nothing: it starts the program and looks at its exit code.
Segue records each task, run and mark durably before and after, keeps the output, and would go
on with the plan after a power cut. The ratio says what that costs.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from measure import SEGUE, Figure, Unmeasured, in_turn, listed, run, wall_s

TASKS = 1_000
JOBS = 2
ROUNDS = 3
TARGET = 0.2


def plan_text(tasks: int) -> str:
    lines = [f"- [ ] **T-{n:04}**: nothing\n  - run: true\n" for n in range(1, tasks + 1)]
    return "# Nothing, many times\n\n" + "".join(lines)


def makefile_text(tasks: int) -> str:
    names = [f"t{n}" for n in range(1, tasks + 1)]
    recipes = "".join(f"{name}:\n\t@true\n" for name in names)
    return f".PHONY: all {' '.join(names)}\nall: {' '.join(names)}\n{recipes}"


def segue_rate(folder: Path) -> float:
    """Tasks per second of one `segue run`, in a new project."""
    project = Path(mkdtemp(dir=folder))
    (project / "segue.toml").write_text('agent = "shell"\n')
    (project / "PLAN.md").write_text(plan_text(TASKS))
    said: list[str] = []
    argv: list[str | Path] = [SEGUE, "run", "PLAN.md", "--jobs", str(JOBS), "--json"]
    took_s = wall_s(lambda: said.append(run(argv, project)))
    done = len(json.loads(said[0].splitlines()[-1])["completed"])
    if done != TASKS:
        raise Unmeasured(f"segue run completed {done} of {TASKS} tasks")
    return TASKS / took_s


def make_rate(folder: Path) -> float:
    """Tasks per second of one `make`."""
    project = Path(mkdtemp(dir=folder))
    (project / "Makefile").write_text(makefile_text(TASKS))
    return TASKS / wall_s(lambda: run(["make", f"-j{JOBS}"], project))


@cache
def rates(folder: Path) -> tuple[list[float], list[float]]:
    """Segue's and make's rounds; measured once in a run, whoever asks."""
    segue, make = in_turn(ROUNDS, lambda: segue_rate(folder), lambda: make_rate(folder))
    return segue, make


def measure(folder: Path) -> list[Figure]:
    segue, make = rates(folder)
    details = (f"segue run, tasks/s: {listed(segue)}", f"make -j{JOBS}, tasks/s: {listed(make)}")
    ratio = max(segue) / max(make)
    return [Figure("tasks/s ÷ make -j2", ratio, TARGET, at_least=True, details=details)]
