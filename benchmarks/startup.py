"""Start-up: how long a person waits for an answer.

`segue --version`, and `segue status` in a project whose plan of ten tasks has been run, each
minus `python -c pass` with the same interpreter: medians of fifteen, in turn.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median
from tempfile import mkdtemp

from measure import SEGUE, Figure, in_turn, run, wall_s
from tasks import plan_text

ROUNDS = 15
TASKS = 10


def measure(folder: Path) -> list[Figure]:
    project = Path(mkdtemp(dir=folder))
    (project / "segue.toml").write_text('agent = "shell"\n')
    (project / "PLAN.md").write_text(plan_text(TASKS))
    run([SEGUE, "run", "PLAN.md"], project)
    bare, version, status = in_turn(
        ROUNDS,
        lambda: wall_s(lambda: run([sys.executable, "-c", "pass"], project)),
        lambda: wall_s(lambda: run([SEGUE, "--version"], project)),
        lambda: wall_s(lambda: run([SEGUE, "status"], project)),
    )
    return [
        _figure("segue --version", version, bare, 100.0),
        _figure("segue status", status, bare, 300.0),
    ]


def _figure(name: str, times_s: list[float], bare_s: list[float], target_ms: float) -> Figure:
    details = tuple(
        f"{what}, ms: median {median(took) * 1e3:.0f}, from {min(took) * 1e3:.0f}"
        f" to {max(took) * 1e3:.0f}"
        for what, took in ((name, times_s), ("python -c pass", bare_s))
    )
    more_ms = (median(times_s) - median(bare_s)) * 1e3
    return Figure(f"{name} − python", more_ms, target_ms, False, unit="ms", details=details)
