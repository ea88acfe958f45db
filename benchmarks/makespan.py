"""Scheduling: how close a run comes to the shortest time that its plan allows.

Random plans of 40 tasks (seeded; each waits for up to three of the twelve before it) whose
commands sleep 50 to 300 ms, on four slots. No schedule is shorter than the critical path, nor
than the sum of all tasks divided by the slots. The bound is 1.05 × the larger of the two, plus
20 ms for each task on the critical path: what starting and recording a task may cost. Measured
from the first `task_started` to the last `task_completed` as they arrive from `segue run --json`.
The figure is the worst seed's share of its bound; the seeds are the first seven, none left out.

Each plan is run twice. At the first run nobody knows how long its tasks last: ready tasks go by
the longest chain of dependants, counted in tasks, and no order made without knowing the durations
keeps the bound for every plan. Then all marks are emptied and it is run again: now the durations
are known from the first run, the chains are measured in seconds, and that run is the figure. The
first one is told beside it.
"""

from __future__ import annotations

import json
import random
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from measure import SEGUE, Figure, Unmeasured, environment

TASKS = 40
SLOTS = 4
SEEDS = range(1, 8)  # the first ones, none left out
REACH = 12  # a blocker is at most so many tasks earlier
COST_S = 0.020


@dataclass(frozen=True, slots=True)
class Work:
    """Tasks by number: how long each takes, and which ones it waits for."""

    durations_s: list[float]
    blockers: list[list[int]]

    @property
    def critical_path(self) -> tuple[float, int]:
        """The longest chain: its seconds and its tasks."""
        ends: list[tuple[float, int]] = []
        for duration_s, blockers in zip(self.durations_s, self.blockers, strict=True):
            start_s, tasks = max((ends[b] for b in blockers), default=(0.0, 0))
            ends.append((start_s + duration_s, tasks + 1))
        return max(ends)

    @property
    def bound_s(self) -> float:
        path_s, tasks = self.critical_path
        return 1.05 * max(path_s, sum(self.durations_s) / SLOTS) + COST_S * tasks

    def plan_text(self) -> str:
        lines = ["# Sleep\n\n"]
        for task, duration_s in enumerate(self.durations_s):
            lines.append(f"- [ ] **T-{task:02}**: sleep\n  - run: sleep {duration_s:.3f}\n")
            if self.blockers[task]:
                names = ", ".join(f"T-{blocker:02}" for blocker in self.blockers[task])
                lines.append(f"  - blocked by: {names}\n")
        return "".join(lines)


def random_work(seed: int) -> Work:
    chance = random.Random(seed)
    work = Work([], [])
    for task in range(TASKS):
        near = range(max(0, task - REACH), task)
        count = min(len(near), chance.choice((0, 1, 1, 2, 2, 3)))
        work.blockers.append(sorted(chance.sample(near, count)))
        work.durations_s.append(chance.randint(50, 300) / 1_000)
    return work


def project_of(work: Work, folder: Path) -> Path:
    project = Path(mkdtemp(dir=folder))
    (project / "segue.toml").write_text('agent = "shell"\n')
    return project


def makespan_s(work: Work, project: Path) -> float:
    """Run it; the time between the first start and the last end, by our own clock."""
    (project / "PLAN.md").write_text(work.plan_text())
    argv: list[str | Path] = [SEGUE, "run", "PLAN.md", "--jobs", str(SLOTS), "--json"]
    seen: dict[str, list[float]] = {}
    errors = project / "errors.txt"
    with (
        errors.open("w") as stderr,
        subprocess.Popen(
            argv,
            cwd=project,
            env=environment(project),
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        ) as process,
    ):
        assert process.stdout
        for line in process.stdout:
            seen.setdefault(json.loads(line)["event"], []).append(time.perf_counter())
    if process.returncode != 0 or len(seen.get("task_completed", [])) != TASKS:
        said = errors.read_text().strip()
        raise Unmeasured(f"segue run ended with exit code {process.returncode}: {said}")
    return seen["task_completed"][-1] - seen["task_started"][0]


def measure(folder: Path) -> list[Figure]:
    shares: list[float] = []
    details: list[str] = []
    for seed in SEEDS:
        work = random_work(seed)
        project = project_of(work, folder)
        unknown_s = makespan_s(work, project)
        took_s = makespan_s(work, project)
        path_s, on_path = work.critical_path
        shares.append(took_s / work.bound_s)
        details.append(
            f"seed {seed}: {took_s:.2f} s, bound {work.bound_s:.2f} s"
            f" (critical path {path_s:.2f} s in {on_path} tasks,"
            f" sum ÷ slots {sum(work.durations_s) / SLOTS:.2f} s);"
            f" durations unknown: {unknown_s:.2f} s"
        )
    name = "makespan ÷ bound, worst seed"
    return [Figure(name, max(shares), 1.0, at_least=False, details=tuple(details))]
