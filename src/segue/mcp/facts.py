"""Which run this server was started in, if any.

Some programs start their servers with an environment of few names. Then the run is known
from the programs above us: an agent at work must never get the tools of a person, with
which it could answer its own questions. `SEGUE_RUN` with no value says: in none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from segue.drivers.processes import read_stat

RUN = "SEGUE_RUN"
ANCESTORS_MAX = 64


def of_the_run(environ: Mapping[str, str]) -> dict[str, str] | None:
    """The variables of the run that we belong to; None where we belong to a person."""
    if RUN in environ:
        return dict(environ) if environ[RUN] else None
    for above in ancestors(os.getpid()):
        if above.get(RUN):
            own = {name: value for name, value in above.items() if name.startswith("SEGUE_")}
            return {**own, **environ}
    return None


def ancestors(pid: int) -> Iterator[dict[str, str]]:
    """The environment of each process above this one, the nearest first."""
    for _generation in range(ANCESTORS_MAX):
        stat = read_stat(pid)
        if stat is None or stat.parent <= 1:
            return
        pid = stat.parent
        yield _environment(pid)


def _environment(pid: int) -> dict[str, str]:
    try:
        data = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # another user's, or gone
        return {}
    pairs = (item.partition(b"=") for item in data.split(b"\0"))
    return {os.fsdecode(name): os.fsdecode(value) for name, _is, value in pairs if name}
