"""Work in the background: its owner is a process without a terminal, which outlives the shell.

The owner is the same command, started again in a session of its own; it writes its events to a file
that `segue attach` follows. The work's row remembers the command, so that an act (`segue retry`) or
a reboot can start it again.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from segue.core.machines import PlanState
from segue.drivers.lineage import lineage
from segue.drivers.processes import read_stat
from segue.errors import UserError
from segue.i18n import _
from segue.store import files
from segue.store.changes import Note
from segue.store.lock import Holder
from segue.store.rows import PANES
from segue.store.sqlite import Store
from segue.work.act_targets import Work
from segue.work.project import Project

STARTER = 'out=$1 err=$2; shift 2; "$@" </dev/null >"$out" 2>"$err" & echo $!'
VARIABLE = "SEGUE_BACKGROUND"  # set for the owner: the command that started it, as JSON
OPTION = "--detach"
DETACHED = "detached"  # the key in the options of a work
ERROR_BYTES_MAX = 16 * 1024
WORKS = "SELECT id, kind, path, state, options FROM works ORDER BY created_at, rowid"


@dataclass(frozen=True, slots=True)
class Detached:
    """A work whose last owner was in the background."""

    work: Work
    argv: tuple[str, ...]
    folder: Path  # in which the command was given
    state: str
    owner: Holder | None

    @property
    def is_left(self) -> bool:
        """Whether it was not finished, and has no owner now."""
        return self.owner is None and self.state not in (PlanState.FINISHED, PlanState.FAILED)


def command_here(environ: Mapping[str, str]) -> tuple[str, ...] | None:
    """The command of this process, if it is an owner in the background."""
    try:
        found = json.loads(environ.get(VARIABLE, ""))["argv"]
    except (ValueError, KeyError, TypeError):
        return None
    return tuple(map(str, found)) if isinstance(found, list) else None


def options_of(argv: Sequence[str] | None) -> str:
    """The options of a work as its row has them; none of one in the foreground."""
    if argv is None:
        return "{}"
    return json.dumps({DETACHED: list(argv), "folder": str(Path.cwd())}, ensure_ascii=False)


def events_file(project: Project, path: Path) -> Path:
    """The events of a work in the background, one JSON object per line."""
    name = hashlib.sha256(str(path).encode()).hexdigest()[:16]
    return project.logs / f"background-{name}.jsonl"


def error_file(events: Path) -> Path:
    return events.with_suffix(".err.log")


def start(
    project: Project,
    path: Path,
    argv: Sequence[str],
    environ: Mapping[str, str],
    folder: Path | None = None,
) -> int:
    """Start the owner of a work; its process. `argv`: the command as a person typed it, without
    `--detach`. A shell starts it and ends: below a Segue it would be taken for an agent's."""
    project.prepare()
    events = events_file(project, path)
    if events.exists():
        events.replace(events.with_suffix(".old.jsonl"))
    for made in (events, error_file(events)):
        with open(made, "wb", opener=files.private):
            pass
    words = [sys.executable, "-P", "-m", "segue", *argv]
    given = {"argv": list(argv), "not_below": os.getpid()}
    done = subprocess.run(
        ["/bin/sh", "-c", STARTER, "sh", str(events), str(error_file(events)), *words]
        + ([] if "--json" in argv else ["--json"]),
        cwd=folder,
        env={**environ, VARIABLE: json.dumps(given)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
        check=True,
    )
    return int(done.stdout)


def wait_for_own_place(environ: Mapping[str, str], within_s: float = 5.0) -> None:
    """At the very start of an owner: until the shell between it and who started it has ended."""
    try:
        above = int(json.loads(environ.get(VARIABLE, ""))["not_below"])
    except (ValueError, KeyError, TypeError):
        return
    ends = time.monotonic() + within_s
    while above in lineage(os.getpid()) and time.monotonic() < ends:
        time.sleep(0.005)


def start_again(project: Project, detached: Detached, environ: Mapping[str, str]) -> int | None:
    """Start a work in the background again; its process. None: that cannot be done here."""
    if not detached.folder.is_dir():
        return None
    clean = {name: value for name, value in environ.items() if name != VARIABLE}
    return start(project, detached.work.path, detached.argv, clean, detached.folder)


def wake(project: Project, work: str, environ: Mapping[str, str]) -> bool:
    """A work that last ran in the background is started again by what a person wants of it;
    whether it was."""
    for detached in works(project):
        if detached.work.id == work and detached.owner is None:
            return start_again(project, detached, environ) is not None
    return False


def remember(store: Store, work: str, argv: Sequence[str] | None, at: datetime) -> None:
    """How a work without a file of its own was started."""
    store.move(Note("work", work, {"options": options_of(argv)}), at=at)


def forget(project: Project, work: Work) -> None:
    """A person stopped it: neither a reboot nor an act starts it again."""
    store = Store.open(project.database)
    try:
        remember(store, work.id, None, datetime.now(UTC))
    finally:
        store.close()


def is_running(pid: int) -> bool:
    """Whether an owner lives; a zombie does not."""
    stat = read_stat(pid)
    return stat is not None and stat.state != "Z"


def said_last(events: Path) -> str:
    """What an owner said that ended at once: on either of its outputs."""
    for path in (events, error_file(events)):
        try:
            with path.open("rb") as file:
                text = file.read(ERROR_BYTES_MAX).decode("utf-8", "replace").strip()
        except FileNotFoundError:
            continue
        if text:
            return text
    return ""


def works(project: Project) -> Iterator[Detached]:
    """The works of a project that run in the background, or last did."""
    store = Store.open_readonly(project.database)
    if store is None:
        return
    try:
        for row in store.all(WORKS):
            known = json.loads(row["options"] or "{}")
            argv = known.get(DETACHED) if isinstance(known, dict) else None
            if not isinstance(argv, list):
                continue
            work = Work(row["id"], row["kind"], Path(row["path"]))
            folder = Path(str(known.get("folder") or project.root))
            yield Detached(work, tuple(argv), folder, row["state"], work.owner(project))
    finally:
        store.close()


def owned(project: Project) -> list[tuple[Work, Holder]]:
    """The works of a project that are running now."""
    store = Store.open_readonly(project.database)
    if store is None:
        return []
    try:
        rows = [Work(row["id"], row["kind"], Path(row["path"])) for row in store.all(WORKS)]
    finally:
        store.close()
    if all(work.id != PANES for work in rows):
        rows.append(Work(PANES, PANES, project.memory))
    return [(work, owner) for work in rows if (owner := work.owner(project)) is not None]


def chosen(works: Sequence[Work], wanted: Path | None, project: Project, none: str) -> Work:
    """The work that a person means: by its path, or the only one there is."""
    if wanted is not None:
        real = wanted.resolve()
        works = [work for work in works if real in (work.path, *work.path.parents)]
    if len(works) == 1:
        return works[0]
    if not works:
        raise UserError("no_work", none, hint=_("segue status lists what is here"))
    names = ", ".join(project.relative(work.path) for work in works)
    raise UserError(
        "ambiguous", _("several match: {names}").format(names=names), hint=_("name one of them")
    )
