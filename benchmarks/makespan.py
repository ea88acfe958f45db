"""Scheduling: how close a run comes to the shortest time that its plan allows.

Random plans of 40 tasks (seeded; each waits for up to three of the twelve before it) whose
commands sleep 50 to 300 ms, on four slots. No schedule is shorter than the critical path, nor
than the sum of all tasks divided by the slots. The bound is 1.05 × the larger of the two, plus
20 ms for each task on the critical path: what starting and recording a task may cost. Measured
from the first `task_started` to the last `task_completed` as they arrive from `segue run --json`.
The figure is the worst seed's share of its bound. The seeds are the first seven, none left out:
durations are not known beforehand, so a seed's bound may be out of reach for the order in which
Segue takes ready tasks (the longest chain of dependants first, then the place in the file). "No
cost" is what that order would need if starting a task cost nothing; where it comes close to the
bound, the order leaves no room for the cost of starting.
"""

from __future__ import annotations

import heapq
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

    @property
    def no_cost_s(self) -> float:
        """How long Segue's order takes if nothing but the tasks takes time."""
        open_blockers = [len(blockers) for blockers in self.blockers]
        heights = [1] * len(self.blockers)
        for task in reversed(range(len(self.blockers))):
            for blocker in self.blockers[task]:
                heights[blocker] = max(heights[blocker], heights[task] + 1)
        ready = [(-heights[task], task) for task, count in enumerate(open_blockers) if not count]
        heapq.heapify(ready)
        running: list[tuple[float, int]] = []
        now_s = 0.0
        while ready or running:
            while ready and len(running) < SLOTS:
                _height, task = heapq.heappop(ready)
                heapq.heappush(running, (now_s + self.durations_s[task], task))
            now_s, ended = heapq.heappop(running)
            for task, blockers in enumerate(self.blockers):
                if ended in blockers:
                    open_blockers[task] -= 1
                    if not open_blockers[task]:
                        heapq.heappush(ready, (-heights[task], task))
        return now_s

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


def makespan_s(work: Work, folder: Path) -> float:
    """Run it; the time between the first start and the last end, by our own clock."""
    project = Path(mkdtemp(dir=folder))
    (project / "segue.toml").write_text('agent = "shell"\n')
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
        took_s = makespan_s(work, folder)
        path_s, on_path = work.critical_path
        shares.append(took_s / work.bound_s)
        details.append(
            f"seed {seed}: {took_s:.2f} s, bound {work.bound_s:.2f} s"
            f" (critical path {path_s:.2f} s in {on_path} tasks,"
            f" sum ÷ slots {sum(work.durations_s) / SLOTS:.2f} s), no cost {work.no_cost_s:.2f} s"
        )
    name = "makespan ÷ bound, worst seed"
    return [Figure(name, max(shares), 1.0, at_least=False, details=tuple(details))]
