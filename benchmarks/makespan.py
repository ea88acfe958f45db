"""Scheduling: how close a run comes to the shortest time that its plan allows.

Random plans of 40 tasks (seeded; each waits for up to three of the twelve before it) whose
commands sleep 50 to 300 ms, on four slots. No schedule is shorter than the critical path, nor
than the sum of all tasks divided by the slots: the larger of the two is the bound, though not every
plan has a schedule that reaches it. Measured from the first `task_started` to the last
`task_completed` as they arrive from `segue run --json`, with all that starting and recording tasks
costs. The figure is the worst seed's time divided by its bound; the seeds are the first twelve,
none left out.

Each plan is run several times. At the first run nobody knows how long its tasks last: ready tasks
go by the longest chain of dependants, counted in tasks. Then all marks are emptied and it is run
again: now the durations are known from the run before, the chains are measured in seconds, and the
better of two such runs is the figure. The first one is told beside it.
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
SEEDS = range(1, 13)  # the first ones, none left out
ROUNDS = 2
TARGET = 1.05
REACH = 12  # a blocker is at most so many tasks earlier


@dataclass(frozen=True, slots=True)
class Work:
    """Tasks by number: how long each takes, and which ones it waits for."""

    durations_s: list[float]
    blockers: list[list[int]]

    @property
    def critical_path_s(self) -> float:
        """The longest chain."""
        ends_s: list[float] = []
        for duration_s, blockers in zip(self.durations_s, self.blockers, strict=True):
            ends_s.append(duration_s + max((ends_s[b] for b in blockers), default=0.0))
        return max(ends_s)

    @property
    def bound_s(self) -> float:
        return max(self.critical_path_s, sum(self.durations_s) / SLOTS)

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
        took_s = min(makespan_s(work, project) for _round in range(ROUNDS))
        shares.append(took_s / work.bound_s)
        details.append(
            f"seed {seed}: {took_s:.2f} s, {took_s / work.bound_s:.3f} × the bound of"
            f" {work.bound_s:.2f} s (critical path {work.critical_path_s:.2f} s,"
            f" sum ÷ slots {sum(work.durations_s) / SLOTS:.2f} s);"
            f" durations unknown: {unknown_s:.2f} s"
        )
    name = "makespan ÷ bound, worst of 12 seeds"
    return [Figure(name, max(shares), TARGET, at_least=False, details=tuple(details))]
