"""Hooks: how long an agent waits for an answer.

Claude Code runs `segue hook EVENT` and waits: the place of a run after a compaction, the feature of
a person's own agent (its state file is read), a parked plan (tables and marks are read), a stop
with steps left, a compaction that is noted.
Each with the payload that Claude Code sends, minus `python -c pass` with the same interpreter:
medians of fifteen, in turn. The slowest counts.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import mkdtemp

from measure import SEGUE, Figure, Unmeasured, environment, in_turn, run, wall_s
from tasks import plan_text

ROUNDS = 15
TASKS = 10
TARGET_MS = 150.0
PLACE = "# Where you are\n\n- [x] 1. stones\n- [ ] 2. lamp\n"
STATE = (
    "phase: IMPLEMENT\nfeature: harbour lights\n"
    "checkpoints:\n  cp-1: { status: in_progress, iteration: 1 }\n"
)


def measure(folder: Path) -> list[Figure]:
    project = Path(mkdtemp(dir=folder))
    (project / "segue.toml").write_text("")
    runs = project / ".segue" / "runs"
    runs.mkdir(parents=True)
    (runs / "T-1.place").write_text(PLACE)
    state = project / ".develop-workflow" / "state.yaml"
    state.parent.mkdir()
    state.write_text(STATE)
    own = {"CLAUDE_PROJECT_DIR": str(project)}
    other = {"CLAUDE_PROJECT_DIR": str(_with_plan(folder))}
    at_work = {"SEGUE_RUN": "T-1", "SEGUE_PROJECT": str(project)}
    at_work["SEGUE_PLACE"] = str(runs / "T-1.place")
    cases = {
        "a run's place": ("SessionStart", {"source": "compact"}, at_work, "stones"),
        "a feature": ("SessionStart", {"source": "compact"}, own, "harbour"),
        "a plan": ("SessionStart", {"source": "compact"}, other, "PLAN.md: "),
        "a stop": ("Stop", {"stop_hook_active": False}, at_work, None),
        "a compaction": ("PreCompact", {"trigger": "auto"}, at_work, ""),
    }
    bare, *hooks = in_turn(
        ROUNDS,
        lambda: wall_s(lambda: run([sys.executable, "-c", "pass"], project)),
        *(lambda case=case: wall_s(lambda: _fire(project, *case)) for case in cases.values()),
    )
    more_ms = [(median(took) - median(bare)) * 1e3 for took in hooks]
    details = tuple(
        f"{what}, ms: median {median(took) * 1e3:.0f}, from {min(took) * 1e3:.0f}"
        f" to {max(took) * 1e3:.0f}"
        for what, took in zip((*cases, "python -c pass"), (*hooks, bare), strict=True)
    )
    name = "segue hook − python, the slowest"
    return [Figure(name, max(more_ms), TARGET_MS, False, unit="ms", details=details)]


def _with_plan(folder: Path) -> Path:
    """A project whose plan of ten tasks is parked at a limit."""
    project = Path(mkdtemp(dir=folder))
    (project / "segue.toml").write_text(
        'agent = "actor"\n[agents.actor]\nkind = "script"\nscenario = "play.scenario"\n'
    )
    (project / "play.scenario").write_text("limit session_limit 5h\n")
    (project / "PLAN.md").write_text(plan_text(TASKS))
    argv = [SEGUE, "run", "PLAN.md", "--no-wait"]
    env = environment(project)
    subprocess.run(argv, cwd=project, env=env, capture_output=True, check=False)
    return project


def _fire(
    project: Path, event: str, told: dict[str, object], environ: dict[str, str], wanted: str | None
) -> None:
    """As Claude Code does it; an answer that is not the expected one is no figure."""
    payload = {"session_id": "talk", "hook_event_name": event, **told}
    done = subprocess.run(
        [SEGUE, "hook", event],
        input=json.dumps(payload).encode(),
        cwd=project,
        env=environment(project, environ),
        capture_output=True,
        check=False,
    )
    said = done.stdout.decode()
    is_right = wanted is None or (wanted in said if wanted else not said)
    if done.returncode or not is_right:
        raise Unmeasured(f"segue hook {event} answered {said!r}")
