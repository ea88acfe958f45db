"""Long plans: whether a task of a plan of 100,000 costs more than one of a plan of 100.

`segue run` on plans of 100, 1,000, 10,000 and 100,000 tasks with `run: true`, two at a time. Tasks
per second from the first `task_started` to the 1,000th `task_completed` (or the last one), as they
arrive from `segue run --json`; then the run is stopped. Reading the plan is not part of it: `parse`
measures that. Best of the rounds of each size, in turn. The figure is the fastest size's rate
divided by the slowest one's.
"""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from tempfile import mkdtemp

from measure import SEGUE, Figure, Unmeasured, environment, in_turn, listed
from tasks import JOBS, plan_text

SIZES = (100, 1_000, 10_000, 100_000)
COUNTED = 1_000
ROUNDS = 2
TARGET = 1.5
STOPPED = 130


def rate(folder: Path, size: int) -> float:
    """Tasks per second at the beginning of one run, in a new project."""
    project = Path(mkdtemp(dir=folder))
    (project / "segue.toml").write_text('agent = "shell"\n')
    (project / "PLAN.md").write_text(plan_text(size))
    counted = min(size, COUNTED)
    argv: list[str | Path] = [SEGUE, "run", "PLAN.md", "--jobs", str(JOBS), "--json"]
    began_s = ended_s = 0.0
    done = 0
    with subprocess.Popen(
        argv, cwd=project, env=environment(project), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        for line in process.stdout:
            event = json.loads(line)["event"]
            if event == "task_started" and not began_s:
                began_s = time.perf_counter()
            done += event == "task_completed"
            if done == counted and not ended_s:
                ended_s = time.perf_counter()
                process.send_signal(signal.SIGTERM)
    if done < counted or process.returncode not in (0, STOPPED):
        raise Unmeasured(f"segue run ended with exit code {process.returncode} after {done} tasks")
    return counted / (ended_s - began_s)


def measure(folder: Path) -> list[Figure]:
    rates = in_turn(ROUNDS, *(lambda size=size: rate(folder, size) for size in SIZES))
    details = tuple(
        f"{size:,} tasks, tasks/s: {listed(found)}"
        for size, found in zip(SIZES, rates, strict=True)
    )
    best = [max(found) for found in rates]
    name = "tasks/s of the fastest size ÷ slowest"
    return [Figure(name, max(best) / min(best), TARGET, at_least=False, details=details)]
