"""Whether a process belongs to a run: an agent's, and so never a person's.

What a program's environment says proves nothing: an agent sets `SEGUE_RUN=` and starts it. So
all processes above it are looked at. What an agent starts has its keeper above it, also when it
detached itself: the keeper is the subreaper of all below it, and the nursery and Segue itself are
those of keepers. And what inherited the environment of a run shows it in `/proc`, whatever was
set later.

What no process can tell: a program that another service starts for the agent (cron, systemd).
Only a sandbox keeps an agent from asking for that.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from segue.drivers import processes

RUN = "SEGUE_RUN"
UNKNOWN = "?"  # a run that does not say which
TRIES = 3  # a parent that ends while it is looked at: once more from the beginning
_NURSERY = b"/segue/drivers/nursery.py"


def run_of(environ: Mapping[str, str], pid: int | None = None) -> dict[str, str] | None:
    """The variables (SEGUE_…) of the run that a process belongs to; None: it is a person's.

    Those that the keeper gave count: between it and us, anybody may have set others. What it gave
    to us alone (where the tools of this run tell what they were asked for) stays."""
    own = {name: value for name, value in environ.items() if name.startswith("SEGUE_")}
    found = own if own.get(RUN) else None
    first = os.getpid() if pid is None else pid
    for one in lineage(first):
        if _is_keeper(one):
            return found or {**own, **_kept_by(one)}
        if one != first and _is_segue(one):
            return found or {**own, RUN: UNKNOWN}
        facts = processes.environ_of(one, "SEGUE_")
        if facts.get(RUN):
            found = {**own, **facts}
    return found


def lineage(pid: int) -> Iterator[int]:
    """A process and all above it, the nearest first."""
    chain: list[int] = []
    for _try in range(TRIES):
        chain, is_whole = _chain(pid)
        if is_whole:
            break
    yield from chain


def _chain(pid: int) -> tuple[list[int], bool]:
    found = [pid]
    while (stat := processes.read_stat(found[-1])) is not None:
        if stat.parent <= 1 or stat.parent in found:
            return found, True
        found.append(stat.parent)
    return found, False


def _is_keeper(pid: int) -> bool:
    return any(word.endswith(_NURSERY) for word in processes.command_line(pid))


def _kept_by(keeper: int) -> dict[str, str]:
    """The run of a process that hides it, as the others below the same keeper show it."""
    for pid in processes.descendants(keeper):
        facts = processes.environ_of(pid, "SEGUE_")
        if facts.get(RUN):
            return facts
    return {RUN: UNKNOWN}


def _is_segue(pid: int) -> bool:
    """A Segue above the process: only what it runs for others is below it."""
    program, *words = processes.command_line(pid)
    if not PurePosixPath(os.fsdecode(program)).name.startswith("python"):
        return False
    while words and words[0].startswith(b"-") and words[0] not in (b"-m", b"-c"):
        words.pop(0)
    if words[:1] == [b"-m"]:
        return words[1:2] == [b"segue"]
    return bool(words) and PurePosixPath(os.fsdecode(words[0])).name == "segue"
