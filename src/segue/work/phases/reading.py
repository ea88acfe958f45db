"""Looking at the server's tasks: everything the API can show."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from segue.core.plan import TaskState
from segue.core.serving import AgentState
from segue.i18n import _
from segue.store.rows import (
    PHASE_TASKS,
    PHASE_TASKS_SHORT,
    SERVER,
    AgentRow,
    GateRow,
    PhaseTaskRow,
)
from segue.work.phases import blocked_tasks, shapes, turns
from segue.work.phases.damaged_rows import by_name, gate_row, phase_task_row
from segue.work.phases.refused import Refused
from segue.work.phases.shapes import Json
from segue.work.phases.supervisor import Supervisor
from segue.work.phases.task_list import NEWEST_FIRST, TaskFilter, cursor
from segue.work.settings.task_types import Types

# All that waits for a time, in every kind of work: accounts are the project's.
PARKS = (
    "SELECT t.key, t.title, p.account, p.kind, p.resets_at, p.wakes_at, w.id AS work,"
    " w.kind AS work_kind FROM parks p JOIN tasks t ON t.id = p.task JOIN works w ON w.id = p.work"
    " WHERE p.state = 'waiting' ORDER BY p.wakes_at"
)


@dataclass(slots=True)
class Reading:
    supervisor: Supervisor
    types: Types
    default_agent: str
    agent_names: Callable[[], list[str]]

    # Tasks

    def list_tasks(
        self,
        *,
        status: str | None = None,
        outcome: str | None = None,
        type: str | None = None,
        archived: bool | None = False,
        query: str | None = None,
        page: int = 1,
        page_size: int = 50,
        only: TaskFilter | None = None,
    ) -> Json:
        where, values = [f"t.work = '{SERVER}'"], list[object]()
        for column, value in (("t.state", status), ("p.type", type)):
            if value is not None:
                where.append(f"{column} = ?")
                values.append(value)
        if outcome is not None:
            where.append("t.state = ? AND p.is_cancelled = ?")
            is_cancelled = outcome == "cancelled"
            values += [TaskState.FAILED if is_cancelled else outcome, int(is_cancelled)]
        if archived is not None:
            where.append("t.is_archived = ?")
            values.append(int(archived))
        if query:
            where.append("instr(lower(t.title), lower(?)) > 0")
            values.append(query)
        store = self.supervisor.records.store
        if only is not None and not only.is_plain:
            return self._list_only(only, where, values, page, page_size)
        found = " AND ".join(where)
        counted = PHASE_TASKS_SHORT if type is not None or outcome is not None else "tasks t"
        total = self.supervisor.records.count(
            f"SELECT count(*) FROM {counted} WHERE {found}",  # noqa: S608
            *values,
        )
        size = min(page_size, max(0, total - (page - 1) * page_size))
        skipped, way = (page - 1) * page_size, "DESC"
        if skipped > total // 2:  # the way from the other end is shorter
            skipped, way = total - skipped - size, "ASC"
        # Which ones, by an index alone; only those of the page are read.
        ids = (
            f"SELECT t.rowid FROM {counted} WHERE {found}"  # noqa: S608
            f" ORDER BY t.created_at {way}, t.rowid {way} LIMIT ? OFFSET ?"
        )
        rows = store.all(
            f"SELECT *, t.rowid AS place FROM {PHASE_TASKS} WHERE t.rowid IN ({ids})"  # noqa: S608
            " ORDER BY t.created_at DESC, t.rowid DESC",
            *values,
            size,
            max(0, skipped),
        )
        is_more = page * page_size < total
        next_cursor = cursor(NEWEST_FIRST, dict(rows[-1])) if rows and is_more else None
        listed = shapes.page(self._rows_shown(rows), total, page, page_size)
        return {**listed, "nextCursor": next_cursor}

    def _list_only(
        self, only: TaskFilter, where: list[str], values: list[object], page: int, page_size: int
    ) -> Json:
        """With filters, in an order, or from a cursor on: then the number of the page says
        nothing."""
        more, of_more = only.where()
        where, values = [*where, *more], [*values, *of_more]
        total = self.supervisor.records.count(
            f"SELECT count(*) FROM {PHASE_TASKS} WHERE {' AND '.join(where)}",  # noqa: S608
            *values,
        )
        behind, of_behind = only.after()
        skipped = 0 if behind else (page - 1) * page_size
        rows = self.supervisor.records.store.all(
            only.query([*where, behind] if behind else where),
            *values, *of_behind, page_size + 1, skipped,
        )  # fmt: skip
        rows, is_more = rows[:page_size], len(rows) > page_size
        listed = shapes.page(self._rows_shown(rows), total, page, page_size)
        return {**listed, "nextCursor": cursor(only.sort, dict(rows[-1])) if is_more else None}

    def _rows_shown(self, rows: list[Any]) -> list[Json]:
        shown = [row["id"] for row in rows]
        usage, agents = self.supervisor.records.usages(shown), self.supervisor.records.agents(shown)
        return [
            self._shown(task, agents[task.id], usage.get(task.id))
            for task in self.supervisor.records.whole.of(phase_task_row, by_name(rows))
            if task.id in agents
        ]

    def task(self, id: str) -> Json:
        task, agent = self._both(id)
        return self._shown(task, agent)

    def agent(self, id: str) -> Json:
        task, agent = self._both(id)
        used = self.supervisor.records.usage(id)
        shown = shapes.agent(agent, task, used["inputTokens"] + used["outputTokens"])
        if agent.state is AgentState.RUNNING and (waits := turns.in_words(self.supervisor, id)):
            shown["currentStep"] = waits
        return self._veiled(shown)

    def phases(self, id: str) -> Json:
        task, _agent = self._both(id)
        items = []
        for n, phase in enumerate(task.phases, 1):
            rounds = self.supervisor.records.rounds(id, n)
            items.append(
                {
                    "number": n,
                    "name": phase.name,
                    "status": _phase_status(task, n),
                    "deliverables": list(phase.deliverables),
                    "steps": [_(step) for step in phase.steps],
                    "verify": phase.verify,
                    "rounds": len(rounds),
                    "reworks": task.reworks if n == task.phase else None,
                }
            )
        return shapes.page(items, len(items), 1, max(50, len(items)))

    def review(self, id: str) -> Json:
        gate = self._again(id)
        if gate.kind != "review":
            raise Refused(404, "unknown_review", _("no such review: {id}").format(id=id))
        shown = shapes.review(gate, self.supervisor.records.task(gate.task_id))
        shown["deliverables"] = self.supervisor.saving.shown(gate, self.supervisor.records)
        return self._veiled(shown)

    def question(self, id: str) -> Json:
        return self._veiled(shapes.question(self._again(id)))

    def dependency(self, id: str) -> Json:
        return self._veiled(shapes.dependency(self._again(id)))

    def gates(
        self,
        kind: str,
        *,
        task: str | None = None,
        status: str | None = None,
        page: int = 1,
        page_size: int = 50,
    ) -> Json:
        if task is not None:
            self._both(task)
        where, values = [f"work = '{SERVER}'", "kind = ?"], list[object]([kind])
        if task is not None:
            where.append("task = ?")
            values.append(task)
        if status is not None:
            where.append("state = ?")
            values.append(status)
        return self._paged(
            "gates", " AND ".join(where), values, page, page_size,
            lambda row: self._gate_shown(gate_row(row)),
            order="created_at, rowid",
        )  # fmt: skip

    def reviews(
        self,
        id: str | None = None,
        *,
        status: str | None = None,
        page: int = 1,
        page_size: int = 50,
    ) -> Json:
        return self.gates("review", task=id, status=status, page=page, page_size=page_size)

    def questions(
        self,
        id: str | None = None,
        *,
        status: str | None = None,
        page: int = 1,
        page_size: int = 50,
    ) -> Json:
        return self.gates("question", task=id, status=status, page=page, page_size=page_size)

    def dependencies(
        self,
        id: str | None = None,
        *,
        status: str | None = None,
        page: int = 1,
        page_size: int = 50,
    ) -> Json:
        return self.gates("dependency", task=id, status=status, page=page, page_size=page_size)

    def checkpoints(self, id: str, *, page: int = 1, page_size: int = 50) -> Json:
        self._both(id)
        return self._paged(
            "checkpoints", "task = ?", [id], page, page_size,
            lambda row: {
                "id": row["id"], "taskId": row["task"], "kind": row["kind"],
                "phase": row["phase"], "createdAt": row["created_at"],
                "whole": self.supervisor.saving.is_whole(row["path"], row["sha256"]),
            },
            order="created_at DESC, rowid DESC",
        )  # fmt: skip

    def journal(self, id: str, *, page: int = 1, page_size: int = 50) -> Json:
        self._both(id)
        where = (
            "entity_id = ? AND entity IN ('task', 'agent') OR entity IN ('refusal', 'evidence')"
            " AND entity_id IN (SELECT id FROM runs WHERE task = ?)"
        )
        return self._paged(
            "journal", where, [id, id], page, page_size,
            lambda row: self._veiled(shapes.journal(row)), order="seq",
        )  # fmt: skip

    def _paged(
        self,
        table: str,
        where: str,
        values: Sequence[object],
        page: int,
        page_size: int,
        shape: Callable[[Any], Json],
        *,
        order: str,
    ) -> Json:
        store = self.supervisor.records.store
        count = store.one(f"SELECT count(*) FROM {table} WHERE {where}", *values)  # noqa: S608
        rows = store.all(
            f"SELECT * FROM {table} WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?",  # noqa: S608
            *values,
            page_size,
            (page - 1) * page_size,
        )
        items = self.supervisor.records.whole.of(shape, rows)
        return shapes.page(items, count[0] if count else 0, page, page_size)

    def inbox(
        self,
        *,
        kind: str | None = None,
        task: str | None = None,
        page: int = 1,
        page_size: int = 50,
    ) -> Json:
        """Everything that waits for a person: the most urgent first, then the oldest; then the
        blocked tasks."""
        where, values = [f"work = '{SERVER}'", "state = 'pending'"], list[object]()
        for column, value in (("kind", kind), ("task", task)):
            if value is not None:
                where.append(f"{column} = ?")
                values.append(value)
        found = self._paged(
            "gates", " AND ".join(where), values, page, page_size,
            lambda row: self._gate_shown(gate_row(row), is_named=True),
            order="priority DESC, created_at",
        )  # fmt: skip
        if kind not in (None, "stuck"):
            return found
        held = [
            one for one in blocked_tasks.every(self.supervisor.records) if task in (None, one[0].id)
        ]
        first = max(0, (page - 1) * page_size - found["total"])
        left = page_size - len(found["items"])
        shown = [self._stuck_shown(*one) for one in held[first : first + left]]
        total = found["total"] + len(held)
        return shapes.page([*found["items"], *shown], total, page, page_size)

    def limits(self) -> Json:
        items = [
            {
                "account": name,
                "status": "probing" if view.probing else "parked" if view.parked_until else "open",
                "parkedUntil": shapes.text(view.parked_until),
                "used": view.used,
            }
            for name, view in sorted(self.supervisor.accounts.view().items())
        ]
        return {
            "accounts": items,
            "parks": [
                {"taskId": row["key"], "title": row["title"], "account": row["account"],
                 "kind": row["kind"], "resetsAt": row["resets_at"], "wakesAt": row["wakes_at"],
                 "work": {"id": row["work"], "kind": row["work_kind"]}}
                for row in self.supervisor.records.store.all(PARKS)
            ],
        }  # fmt: skip

    def workers(self) -> Json:
        items = [
            {
                "id": "local",
                "slots": self.supervisor.slots(),
                "working": len(turns.taken(self.supervisor)),
            }
        ]
        return shapes.page(list(items), 1, 1, 50)

    def settings(self) -> Json:
        return {
            "slots": self.supervisor.slots(),
            "defaultAgent": self.default_agent,
            "types": self.types.names(),
            "agents": self.agent_names(),
            **self.supervisor.records.settings(),
        }

    def log(self, id: str, *, offset: int = 0, limit: int = 1_000_000) -> tuple[bytes, int]:
        """A piece of what the agents of a task printed, run after run; and how long it all is."""
        self._both(id)
        sql = "SELECT id, role FROM runs WHERE task = ? ORDER BY created_at, rowid"
        rows = self.supervisor.records.store.all(sql, id)
        paths = [self.supervisor.jobs.log(row["id"], row["role"]) for row in rows]
        return _read_on(paths, offset, limit)

    def deliverables(self, id: str) -> Path:
        task, _agent = self._both(id)
        return self.supervisor.saving.zipped(task)

    # Events

    @property
    def last_seq(self) -> int:
        row = self.supervisor.records.store.one("SELECT max(seq) FROM journal")
        return (row[0] or 0) if row else 0

    def events_after(self, seq: int, task: str | None = None, limit: int = 500) -> list[Json]:
        """What has happened since, in order; each with its number."""
        rows = self.supervisor.records.store.all(
            "SELECT * FROM journal WHERE seq > ? AND (work = ? AND entity NOT IN ('work', 'park')"
            " OR entity = 'refusal') ORDER BY seq LIMIT ?",
            seq,
            SERVER,
            limit,
        )
        found = map(self._veiled, self.supervisor.records.whole.of(shapes.journal, rows))
        return [event for event in found if task is None or event["taskId"] == task]

    def on_commit(self, listener: Callable[[], None]) -> None:
        self.supervisor.on_commit(listener)

    # Inside

    def _both(self, id: str) -> tuple[PhaseTaskRow, AgentRow]:
        task, agent = self.supervisor.records.task(id), self.supervisor.records.agent(id)
        if task is None or agent is None:
            raise Refused(404, "unknown_task", _("no such task: {id}").format(id=id))
        return task, agent

    def _again(self, id: str) -> GateRow:
        gate = self.supervisor.records.gate(id)
        if gate is None:
            raise Refused(404, "unknown_gate", _("no such id: {id}").format(id=id))
        return gate

    def _shown(self, task: PhaseTaskRow, agent: AgentRow, usage: Json | None = None) -> Json:
        waits = self.supervisor.records.unfinished(task.depends_on)
        used = usage or self.supervisor.records.usage(task.id)
        missing = self._missing(task) if waits else []
        if task.state is TaskState.PENDING and not waits:
            waits = [shapes.SLOT]
        shown = shapes.task(task, agent, waits, used, blocked_tasks.acts(missing))
        if agent.state is AgentState.PAUSED:
            park = None if agent.is_by_person else self.supervisor.records.park_of(task.id)
            shown["pausedBy"] = "person" if agent.is_by_person else "limit"
            shown["limitKind"] = park.kind if park else agent.kind
            shown["wakesAt"] = shapes.text(park.wakes_at if park else agent.resets_at)
        if missing:
            shown["error"] = "; ".join(one.text for one in missing)
        return self.supervisor.saving.redactor.shown(task.id, shown)

    def _missing(self, task: PhaseTaskRow) -> list[blocked_tasks.Missing]:
        """What blocks a task."""
        if task.state is not TaskState.PENDING:
            return []
        return blocked_tasks.missing(task.depends_on, self.supervisor.records.tries)

    def _stuck_shown(self, task: PhaseTaskRow, missing: Sequence[blocked_tasks.Missing]) -> Json:
        shown = self._veiled(shapes.stuck(task, missing))
        redactor = self.supervisor.saving.redactor
        shown["missing"] = [redactor.shown(one["id"], one) for one in shown["missing"]]
        return shown

    def _gate_shown(self, gate: GateRow, *, is_named: bool = False) -> Json:
        """`is_named`: with its kind and the title of its task."""
        task = self.supervisor.records.task(gate.task) if gate.task else None
        shown = shapes.gate(gate, task)
        if is_named:
            title = task.title if task else gate.task or _("all tasks")
            named = {"kind": gate.kind, "taskTitle": title, "task": gate.task, "title": title}
            text = gate.text or gate.name or title
            shown = {**named, "text": text, "acts": list(shapes.ACTS[gate.kind]), **shown}
        return self._veiled(shown)

    def _veiled(self, shown: Json) -> Json:
        """Without what people provided in confidence."""
        return self.supervisor.saving.redactor.shown(shown["taskId"] or "", shown)


def _phase_status(task: PhaseTaskRow, n: int) -> str:
    if task.state is TaskState.COMPLETED or (task.phase or 0) > n:
        return "completed"
    return str(task.state) if task.phase == n else "pending"


def _read_on(paths: Sequence[Path], offset: int, limit: int) -> tuple[bytes, int]:
    """Some bytes of several files as if they were one."""
    found, at = bytearray(), 0
    for path in paths:
        try:
            file = path.open("rb")
        except FileNotFoundError:  # it is about to begin, or is being put in its place
            continue
        with file:
            size = os.fstat(file.fileno()).st_size
            if offset < at + size and len(found) < limit:
                file.seek(max(0, offset - at))
                found += file.read(limit - len(found))
        at += size
    return bytes(found), at
