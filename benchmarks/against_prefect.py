"""Throughput against a workflow engine: Prefect 3 on the same machine.

The tasks per second of `segue run` (the figure of `tasks`: processes, durable state, start-up
included) against a Prefect flow of 200 Python tasks that return at once. Prefect gets the better
side of everything: no process is started for its tasks, its imports and the start of its server
(on loopback, SQLite) are not counted, its logs are off, and the faster of calling the tasks one
by one and submitting them to two threads counts, best of two rounds each, until the flow returns.
Its server has not written all task runs down by then, as Segue has: the rate until it has is listed
too, and does not count. The next round begins after that. Prefect is installed into an environment
of its own under `.cache/`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import mkdtemp

from measure import CACHE, PROGRAM_S_MAX, Figure, listed, run
from tasks import rates

# Prefect 3.8 asks for any FastAPI below 1.0, and uses an argument that 0.140 no longer has.
PACKAGES = ("prefect==3.8.8", "fastapi<0.140")
ENVIRONMENT = CACHE / "bench-prefect"
FLOW = Path(__file__).with_name("prefect_flow.py")
TASKS = 200
TARGET = 5.0


def install() -> Path:
    """Prefect's Python, installed where it is not yet."""
    python = ENVIRONMENT / "bin" / "python"
    ready = ENVIRONMENT / ".ready"
    wanted = "\n".join(PACKAGES)
    if not ready.exists() or ready.read_text() != wanted:
        CACHE.mkdir(exist_ok=True)
        run([sys.executable, "-m", "venv", ENVIRONMENT], CACHE)
        options = ("--quiet", "--disable-pip-version-check")
        run([python, "-m", "pip", "install", *options, *PACKAGES], CACHE)
        ready.write_text(wanted)
    return python


def measure(folder: Path) -> list[Figure]:
    segue, _make = rates(folder)
    python = install()
    home = Path(mkdtemp(dir=folder))
    quiet = {
        "PREFECT_HOME": str(home / "prefect"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_LOGGING_LEVEL": "CRITICAL",
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": f"{PROGRAM_S_MAX:.0f}",
    }
    # -P: the modules beside the flow are none of its business.
    said = run([python, "-P", FLOW, str(TASKS)], home, quiet)
    found: dict[str, list[float]] = json.loads(said.splitlines()[-1])
    best = max(max(rounds) for rounds in found.values())
    details = (
        f"segue run, tasks/s: {listed(segue)}",
        *(f"Prefect, {how}, tasks/s: {listed(rounds)}" for how, rounds in found.items()),
        f"installed: {', '.join(PACKAGES)}",
    )
    ratio = max(segue) / best
    return [Figure("tasks/s ÷ Prefect 3", ratio, TARGET, at_least=True, details=details)]
