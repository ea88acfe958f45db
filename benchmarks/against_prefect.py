"""Throughput against a workflow engine: Prefect 3 on the same machine.

The tasks per second of `segue run` (the figure of `tasks`) against a Prefect flow of as many
Python tasks that return at once, both as whole commands, start-up included: what somebody waits
who types them. Prefect starts no process for its tasks, its server is the one it brings along (on
loopback, SQLite), its logs are off, and the faster of calling the tasks one by one and submitting
them to two threads counts, best of two rounds each. Prefect returns before its server has written
all task runs down, as Segue has: that, and its rate without start-up, are listed too and do not
count. Prefect is installed into an environment of its own under `.cache/`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import mkdtemp

from measure import CACHE, PROGRAM_S_MAX, Figure, listed, run, wall_s
from tasks import TASKS, rates

# Prefect 3.8 asks for any FastAPI below 1.0, and uses an argument that 0.140 no longer has.
PACKAGES = ("prefect==3.8.8", "fastapi<0.140")
ENVIRONMENT = CACHE / "bench-prefect"
FLOW = Path(__file__).with_name("prefect_flow.py")
HOWS = ("called", "submitted")
ROUNDS = 2
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


def flow_rate(python: Path, folder: Path, how: str, *more: str) -> tuple[float, dict[str, float]]:
    """Tasks per second of the whole command, and what it says of itself."""
    home = Path(mkdtemp(dir=folder))
    quiet = {
        "PREFECT_HOME": str(home / "prefect"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_LOGGING_LEVEL": "CRITICAL",
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": f"{PROGRAM_S_MAX:.0f}",
    }
    said: list[str] = []
    # -P: the modules beside the flow are none of its business.
    argv: list[str | Path] = [python, "-P", FLOW, how, str(TASKS), *more]
    took_s = wall_s(lambda: said.append(run(argv, home, quiet)))
    return TASKS / took_s, json.loads(said[0].splitlines()[-1])


def measure(folder: Path) -> list[Figure]:
    segue, _make = rates(folder)
    python = install()
    whole: dict[str, list[float]] = {how: [] for how in HOWS}
    inner: list[float] = []
    for _round in range(ROUNDS):
        for how in HOWS:
            rate, said = flow_rate(python, folder, how)
            whole[how].append(rate)
            inner.append(said["until the flow returns"])
    _rate, said = flow_rate(python, folder, HOWS[0], "recorded")
    details = (
        f"segue run, tasks/s: {listed(segue)}",
        *(f"Prefect, {how}, tasks/s: {listed(found)}" for how, found in whole.items()),
        f"Prefect without start-up, tasks/s: {listed(inner)}",
        f"Prefect without start-up until recorded, tasks/s: {said['until recorded']:.0f}",
        f"installed: {', '.join(PACKAGES)}",
    )
    ratio = max(segue) / max(max(found) for found in whole.values())
    return [Figure("tasks/s ÷ Prefect 3", ratio, TARGET, at_least=True, details=details)]
