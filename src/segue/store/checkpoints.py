"""Checkpoints: what a task can be restored from, one JSON file each.

The file is written before the row that names it, with the file's checksum: a row without its
file, or with another content, is broken and the checkpoint before it counts. A file without a
row is of a writer that was killed, and is swept.
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any, Protocol

from segue.errors import Bug
from segue.i18n import _
from segue.store import files

FOLDER = "checkpoints"
FORMAT = 1
BYTES_MAX = 16 * 2**20
NEWEST_KEPT = 10

_TASK = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


@dataclass(frozen=True, slots=True)
class Broken:
    """A checkpoint that nothing can be restored from."""

    reason: str


class Row(Protocol):
    """A row of the table: id, task, kind, phase, created_at."""

    def __getitem__(self, name: str, /) -> Any: ...


def contents(
    *,
    task: str,
    agent: Mapping[str, object],
    conversation: str | None,
    gates: Sequence[Mapping[str, object]],
    environment: Mapping[str, str],
    deliverables: Sequence[Mapping[str, object]],
    commit: str | None,
    seal: Callable[[str], bytes],
) -> dict[str, object]:
    """All that a checkpoint keeps; what the agent was given is sealed in it."""
    sealed = seal(json.dumps(dict(environment))).decode("ascii") if environment else None
    return {
        "format": FORMAT,
        "task": task,
        "agent": dict(agent),
        "conversation": conversation,
        "gates": [dict(gate) for gate in gates],
        "environment": sealed,
        "deliverables": [dict(item) for item in deliverables],
        "commit": commit,
    }


def environment_of(
    content: Mapping[str, Any], open_sealed: Callable[[bytes], str]
) -> dict[str, str]:
    """What the agent was given, in clear; UserError where the key is not the one."""
    sealed = content.get("environment")
    if not isinstance(sealed, str):
        return {}
    found = json.loads(open_sealed(sealed.encode("ascii", "replace")))
    return {str(name): str(value) for name, value in found.items()}


def write(folder: Path, content: Mapping[str, Any]) -> tuple[str, str]:
    """Keep a checkpoint in the data folder: its path from there, and its checksum."""
    task = content["task"]
    if not isinstance(task, str) or not _TASK.fullmatch(task):
        raise Bug(f"no id of a task: {task!r}")
    if not isinstance(content.get("environment"), str | None):
        raise Bug("the environment of a checkpoint is sealed")
    data = json.dumps(content, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")
    path = f"{FOLDER}/{task}/{token_hex(8)}.json"
    try:
        (folder / path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        files.replace(folder / path, data, mode=0o600)
        files.sync_folder(folder / FOLDER)
    except OSError as error:
        raise files.in_words(error, folder / path) from error
    return path, sha256(data).hexdigest()


def read(path: Path, checksum: str) -> Mapping[str, Any] | Broken:
    """A checkpoint that is whole, or why it is not."""
    try:
        with path.open("rb") as file:
            data = file.read(BYTES_MAX + 1)
    except FileNotFoundError:
        return Broken(_("its file no longer exists"))
    except OSError as error:
        return Broken(_("its file cannot be read: {why}").format(why=error.strerror))
    if sha256(data).hexdigest() != checksum:
        return Broken(_("its file was changed or is incomplete"))
    try:
        content = json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        return Broken(_("its file was written by another version of Segue"))
    return content


def prune(rows: Iterable[Row]) -> list[str]:
    """The ids of those that can go: not the newest ten of a task, nor one for each phase.

    A phase is kept by its newest checkpoint of the kind `phase`, made when it was complete; else
    by its newest of any kind. Of two with one instant the later in `rows` is the newer.
    """
    by_task: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: str(row["created_at"])):
        by_task[row["task"]].append(row)
    dropped = []
    for of_task in by_task.values():
        kept = {row["id"] for row in of_task[-NEWEST_KEPT:]}
        by_phase: dict[int, Row] = {}
        for row in of_task:
            phase = row["phase"]
            if phase is None:
                continue
            before = by_phase.get(phase)
            if before is None or row["kind"] == "phase" or before["kind"] != "phase":
                by_phase[phase] = row
        kept |= {row["id"] for row in by_phase.values()}
        dropped += [row["id"] for row in of_task if row["id"] not in kept]
    return dropped


def sweep(folder: Path, task: str, kept: Iterable[str]) -> None:
    """Remove the files of a task that no row names: of dropped rows, and of killed writers."""
    if not _TASK.fullmatch(task):
        raise Bug(f"no id of a task: {task!r}")
    names = {Path(path).name for path in kept}
    with suppress(FileNotFoundError):
        for entry in os.scandir(folder / FOLDER / task):
            if entry.name not in names:
                Path(entry.path).unlink(missing_ok=True)
