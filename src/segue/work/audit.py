"""Does the journal hold, and is the evidence as it was recorded? And who decided what.

Only rows of the journal count here: they are chained, the tables beside it are not. Of the tables
only the paths of works are taken.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from segue.core.machines import GateState
from segue.core.plan import TaskState
from segue.drivers.git import read_bounded
from segue.engine import evidence
from segue.store import chain
from segue.store.sqlite import Store

SEQ, AT, ENTITY, ENTITY_ID, FROM, TO, CAUSE, DATA, WORK, ACTOR, VIA = range(
    2, 2 + len(chain.COLUMNS)
)
OPEN_GATES = frozenset({GateState.PENDING, GateState.WITHDRAWN})
RESULTS = frozenset({TaskState.COMPLETED, TaskState.FAILED, TaskState.SKIPPED})
RECORD_BYTES_MAX = 2**20
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """A file of evidence that is not as it was recorded. `why`: missing, changed."""

    file: str
    why: str
    task: str
    run: str
    row: int


@dataclass(slots=True)
class Audit:
    rows: int = 0
    head: str = chain.GENESIS
    breaks: list[chain.Break] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    decisions: list[Json] = field(default_factory=list)
    checks: list[Json] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.breaks and not self.faults


def audit(store: Store, folder: Path) -> Audit:
    """`folder`: where the evidence is."""
    found = Audit()
    top = store.one(chain.HEAD)
    last = top[0] if top else 0
    reader = _Reader(found, {row["id"]: row["path"] for row in store.all("SELECT * FROM works")})
    rows = reader.watched(store.each(chain.ROWS, last))
    found.breaks = list(chain.breaks(rows, last))
    found.faults = list(_faults(reader, folder))
    return found


class _Reader:
    """Picks what people want to know out of the rows that pass."""

    def __init__(self, found: Audit, paths: dict[str, str]) -> None:
        self._found, self._paths = found, paths
        self._newest: dict[tuple[str | None, str], Json] = {}  # the evidence of each task
        self.by_file: dict[str, Json] = {}  # a later check of a run replaces the files of the first
        self.deleted: set[str] = set()

    def watched(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """The same rows. Most are of no interest here, and there are many."""
        row = None
        wanted = {"task", "gate", "act", "refusal", evidence.ENTITY}
        for row in rows:
            if row[ENTITY] in wanted:
                self._look(row)
            yield row
            self._found.rows += 1
        if row is not None:
            self._found.head = row[1] or ""

    def _look(self, row: tuple[Any, ...]) -> None:
        to = row[TO]
        match row[ENTITY]:
            case evidence.ENTITY:
                self._checked(row)
            case "gate" if to not in OPEN_GATES:
                self._decided(row, to)
            case "act" if row[CAUSE] in ("take", "refuse"):
                data = _data(row)
                if "gate" not in data or row[CAUSE] == "refuse":
                    self._decided(row, str(data.get("verb", "?")))
            case "task" if to in RESULTS:
                self._decided(row, to)
            case "task" if to == "deleted":
                self.deleted.add(str(row[ENTITY_ID]))
            case "refusal":
                self._decided(row, str(_data(row).get("tried", "?")))

    def _checked(self, row: tuple[Any, ...]) -> None:
        data = _data(row)
        told = {"row": row[SEQ], "result": row[TO], "work": self._path(row), **data}
        self._newest[row[WORK], str(data.get("task"))] = told
        self._found.checks.append(told)
        self.by_file[str(data.get("output"))] = told

    def _decided(self, row: tuple[Any, ...], what: str) -> None:
        data, work, id = _data(row), row[WORK], str(row[ENTITY_ID])
        of_task = id.removeprefix(f"{work}/") if row[ENTITY] == "task" else None
        task = of_task or data.get("task")
        check = None if row[ENTITY] == "act" else self._newest.get((work, str(task)))
        self._found.decisions.append(
            {
                "row": row[SEQ],
                "at": str(row[AT]),
                "actor": str(row[ACTOR] or data.get("actor") or "") or None,
                "via": str(row[VIA] or data.get("via") or "") or None,
                "decided": str(what),
                "kind": row[ENTITY],
                "id": id,
                "task": task,
                "work": self._path(row),
                "state": str(row[TO]),
                "answer": data.get("answer"),
                "evidence": check["output"] if check else None,
            }
        )

    def _path(self, row: tuple[Any, ...]) -> str | None:
        return None if row[WORK] is None else self._paths.get(row[WORK], str(row[WORK]))


def _data(row: tuple[Any, ...]) -> Json:
    try:
        data = json.loads(row[DATA] or "{}")
    except ValueError:  # changed by hand: its hash says so
        return {}
    return data if isinstance(data, dict) else {}


def _faults(reader: _Reader, folder: Path) -> Iterator[Fault]:
    for check in reader.by_file.values():
        task, run = str(check.get("task")), str(check.get("run"))
        if task in reader.deleted:
            continue
        for name, is_same in (("output", _same_output), ("record", _same_record)):
            file = folder / Path(str(check.get(name))).name
            if not is_same(file, check):
                why = "changed" if file.exists() else "missing"
                yield Fault(str(file), why, task, run, check["row"])


def _same_output(file: Path, check: Json) -> bool:
    recorded = {name: check.get(name) for name in ("output_bytes", "output_sha256")}
    return evidence.fingerprint(file) == recorded


def _same_record(file: Path, check: Json) -> bool:
    text = read_bounded(file, RECORD_BYTES_MAX)
    return text is not None and sha256(text).hexdigest() == check.get("record_sha256")
