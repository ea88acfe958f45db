"""The sandbox: how much later an agent starts in it.

`/bin/true` as an agent in a git repository: the command line is made, the program started and
waited for, in the sandbox and without it, medians of thirty-one, in turn. Whether bubblewrap works
is found out before, once for a whole run of Segue. The details have the same with an allow list: a
proxy and a second Python start with the agent.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from statistics import median
from tempfile import mkdtemp

from measure import Figure, Unmeasured, environment, in_turn, run, wall_s

from segue.drivers.sandbox import Network, bubblewrap
from segue.engine.agent import Access
from segue.engine.confine import confine
from segue.engine.run_files import RunFiles

ROUNDS = 31
TARGET_MS = 30.0
AGENT = ("/bin/true",)


def measure(folder: Path) -> list[Figure]:
    if not bubblewrap().works:
        raise Unmeasured(f"bubblewrap does not work here: {bubblewrap().why_not}")
    made = Path(mkdtemp(dir=folder))
    home, project = made / "home", made / "project"
    for path in (home, project):
        path.mkdir()
    run(["git", "init", "-q"], project)

    def start(network: Network | None) -> float:
        return wall_s(lambda: _start(project, home, network))

    bare, full, some = in_turn(
        ROUNDS, lambda: start(None), lambda: start("full"), lambda: start(("localhost",))
    )
    details = tuple(
        f"{what}, ms: median {median(took) * 1e3:.1f}, from {min(took) * 1e3:.1f}"
        f" to {max(took) * 1e3:.1f}"
        for what, took in (("without", bare), ("within", full), ("with an allow list", some))
    )
    more_ms = (median(full) - median(bare)) * 1e3
    name = "start of a sandboxed agent − without"
    return [Figure(name, more_ms, TARGET_MS, False, unit="ms", details=details)]


def _start(project: Path, home: Path, network: Network | None) -> None:
    memory = project / ".segue"
    memory.mkdir(exist_ok=True)
    files = RunFiles(memory / "logs", memory / "evidence", memory / "runs")
    env = environment(home)
    access = None if network is None else Access(network=network)
    made = confine(
        AGENT, env, access, folder=project, files=files, run="bench", environ=env, channel={}
    )
    subprocess.run(made.argv, env=dict(made.env), cwd=project, check=True)
