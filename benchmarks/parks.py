"""Waiting: what ten thousand parked tasks cost.

A plan of 10,000 tasks, each parked at a limit that is over in an hour; their rows are made by the
ledger itself, without starting 10,000 agents first. Then `segue run` is started, as after a death
or a reboot: the time until it has taken up every park and computes no more, the memory that it
holds then, and the processor time of it and all that it has started over ten seconds of waiting.
Best of five starts: others on the machine can only slow it down. Beside it: the same plan with
nothing to do, every task done, which also has to be read.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import mkdtemp

from measure import SEGUE, Figure, Unmeasured, environment, listed, run, wall_s
from processes import LOOK_S, STILL_S, computed_s, idle_share, resident_mb

from segue.core.machines import PlanState, RunState, Trigger
from segue.core.plan import TaskState
from segue.engine.clock import SystemClock
from segue.engine.ledger import Ledger
from segue.plans.tasklist import Document
from segue.store.sqlite import Store
from segue.work.project import Project

PARKS = 10_000
ROUNDS = 5
IDLE_S = 10.0
STARTED_S_MAX = 60.0
SETTINGS = 'agent = "mine"\n[agents.mine]\nkind = "command"\ncommand = ["true"]\n'


def measure(folder: Path) -> list[Figure]:
    project = parked_project(Path(mkdtemp(dir=folder)), PARKS)
    done = Path(mkdtemp(dir=folder))
    (done / "segue.toml").write_text(SETTINGS)
    (done / "PLAN.md").write_text(plan_text("x", PARKS))
    restarts_s, sizes_mb, idle = [], [], 0.0
    for number in range(ROUNDS):
        with waiting(project) as (pid, took_s):
            restarts_s.append(took_s)
            sizes_mb.append(resident_mb(pid))
            if number == ROUNDS - 1:
                idle = idle_share(pid, IDLE_S)
    nothing_s = [wall_s(lambda: run([SEGUE, "run", "PLAN.md"], done)) for _round in range(ROUNDS)]
    details = (
        f"until it waits, s: {listed(restarts_s, '{:.2f}')}",
        f"the same plan with nothing to do, s: {listed(nothing_s, '{:.2f}')}",
    )
    return [
        Figure("restart, 10,000 parks", min(restarts_s), 1.0, False, "s", details),
        Figure("memory of it", max(sizes_mb), 120.0, False, "MB"),
        Figure("processor time while it waits", idle * 100, 1.0, False, "%"),
    ]


def plan_text(mark: str, count: int) -> str:
    return "# Parked\n\n" + "".join(f"- [{mark}] **T-{n:05}**: wait\n" for n in range(count))


def parked_project(root: Path, count: int) -> Path:
    """A project in which every task of a plan is parked, as its supervisor's death left it."""
    (root / "segue.toml").write_text(SETTINGS)
    path = root / "PLAN.md"
    path.write_text(plan_text("~", count))
    project = Project(root)
    project.prepare()
    clock = SystemClock()
    store = Store.open(project.database)
    try:
        ledger = Ledger(store, clock, path, "tasklist")
        ledger.move_plan(PlanState.RUNNING, Trigger.START)
        resets_at = clock.now() + timedelta(hours=1)
        runs = []
        for task in Document.parse(path.read_bytes(), file="PLAN.md").tasks:
            ledger.add_task(task)
            runs.append(ledger.add_run(task.id, attempt=1, agent="mine", account="mine"))
        ledger.commit()
        for found in runs:
            ledger.run_started(found, 1, 1)
            ledger.move_run(found, RunState.PARKED, Trigger.PARK)
            ledger.move_task(found.task, TaskState.IN_PROGRESS, Trigger.PARK)
            ledger.add_park(found, "session_limit", resets_at, resets_at + timedelta(seconds=5))
        ledger.commit()
    finally:
        store.close()
    return root


@contextmanager
def waiting(project: Path) -> Iterator[tuple[int, float]]:
    """`segue run` that waits: its process, and how long it took until it did."""
    began = time.perf_counter()
    argv: list[str | Path] = [SEGUE, "run", "PLAN.md", "--json"]
    with subprocess.Popen(
        argv,
        cwd=project,
        env=environment(project),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        said = Said(process)
        try:
            yield process.pid, _still_after_s(process, said, began)
        finally:
            process.terminate()
            process.wait(60)
            said.join()


class Said(threading.Thread):
    """Reads what it prints, so that it never waits for us."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        super().__init__(daemon=True)
        self._process = process
        self.has_parks = False
        self.other = ""
        self.start()

    def run(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            if '"park_kept"' in line:
                self.has_parks = True
            else:
                self.other = line


def _still_after_s(process: subprocess.Popen[str], said: Said, began: float) -> float:
    """When it computed for the last time before it was still."""
    last_s, computed = time.perf_counter(), -1.0
    while time.perf_counter() - last_s < STILL_S or not said.has_parks:
        now_s = time.perf_counter()
        if process.poll() is not None or now_s - began > STARTED_S_MAX:
            raise Unmeasured(f"it never came to wait: {said.other.strip()}")
        found = computed_s(process.pid)
        if found != computed:
            last_s, computed = now_s, found
        time.sleep(LOOK_S)
    return last_s - began
