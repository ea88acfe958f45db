"""What can be restored: checkpoints of a task, its workspace, the rounds of its deliverables."""

from __future__ import annotations

import asyncio
import logging
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from segue.core.variables import decides_what_runs
from segue.engine.clock import Clock
from segue.errors import AgentError, UserError
from segue.i18n import _
from segue.store import checkpoints
from segue.store.changes import Change, Drop, Note, Put, stamp
from segue.store.rows import GateRow, PhaseTaskRow, new_id
from segue.store.secrets import Secrets
from segue.work.phases import deliverables, moves, repository
from segue.work.phases.records import Records
from segue.work.phases.redaction import Redactor
from segue.work.phases.refused import Refused
from segue.work.phases.repository import Head
from segue.work.phases.snapshots import Comparison
from segue.work.phases.workspace import Workspace

TEXT_BYTES_MAX = 200_000
SAVED_WITHIN_S = 5.0

logger = logging.getLogger("segue.saving")


@dataclass(slots=True)
class Saving:
    records: Records
    clock: Clock
    data: Path  # the server's folder
    secrets: Secrets
    _underway: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _locks: dict[str, threading.Lock] = field(default_factory=dict)
    redactor: Redactor = field(init=False)

    def __post_init__(self) -> None:
        self.redactor = Redactor(self.records.store, self.given)

    def workspace(self, task: str) -> Path:
        return Workspace(self.data, task).make()

    def given(self, task: str) -> dict[str, str]:
        """What people provided for a task, in clear, for its agent's environment."""
        sql = "SELECT name, value FROM secrets WHERE task = ?"
        rows = self.records.store.all(sql, task)
        return {
            row["name"]: self.secrets.open(row["value"])
            for row in rows
            if not decides_what_runs(row["name"])
        }

    # Checkpoints

    def save(self, id: str, kind: str) -> None:
        """Save the state of a task. Slow parts are done beside the loop; a caller that saves the
        same task next waits for it."""
        loop = asyncio.get_running_loop()
        before = self._underway.get(id)
        task = loop.create_task(self._save(id, kind, before))
        self._underway[id] = task
        task.add_done_callback(lambda done: self._saved(id, done))

    def _saved(self, id: str, done: asyncio.Task[None]) -> None:
        if self._underway.get(id) is done:
            del self._underway[id]
        if done.cancelled() or self.records.task(id) is None:  # deleted meanwhile
            return
        if (error := done.exception()) is not None:
            self.trouble(id, _("a checkpoint could not be written: {why}").format(why=error))

    async def saved(self, id: str) -> None:
        """Whatever of a task is being saved now is saved, or takes longer than anybody waits."""
        if (underway := self._underway.get(id)) is not None:
            await asyncio.wait([underway], timeout=SAVED_WITHIN_S)

    @property
    def underway(self) -> list[str]:
        """The tasks of which something is being saved."""
        return list(self._underway)

    async def settle(self) -> None:
        """Whatever is being saved is saved."""
        while self._underway:
            await asyncio.wait(list(self._underway.values()))

    async def _save(self, id: str, kind: str, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait([before])
        task, agent = self.records.task(id), self.records.agent(id)
        if task is None or agent is None or not task.workspace:
            return
        self.go_back(id)
        gates = [
            {"id": gate.id, "kind": gate.kind, "text": self.redactor.text(id, gate.text)}
            for gate in self.records.gates_of(id)
        ]
        content = checkpoints.contents(
            task=id,
            agent={
                "state": agent.state, "conversation": agent.conversation,
                "resume_id": agent.resume_id, "phase": task.phase,
                "reworks": task.reworks, "stage": task.state,
            },
            conversation=agent.resume_id,
            gates=gates,
            environment=self.given(id),
            deliverables=[],
            commit=None,
            seal=self.secrets.seal,
        )  # fmt: skip
        path, checksum = await asyncio.to_thread(self._write, task, kind, content)
        now = self.clock.now()
        row = {
            "id": new_id("cp"), "task": id, "kind": kind, "phase": task.phase, "path": path,
            "sha256": checksum, "created_at": stamp(now),
        }  # fmt: skip
        if self.records.task(id) is None:  # deleted meanwhile
            return
        self.records.store.move(
            Put("checkpoints", row),
            Note("agent", id, {"saved_at": stamp(now)}),
            *self._pruned(id, row),
            at=now,
        )
        sql = "SELECT path, sha256 FROM checkpoints WHERE task = ?"
        kept = {row["path"]: row["sha256"] for row in self.records.store.all(sql, id)}
        await asyncio.to_thread(self._sweep, id, kept)

    def _write(self, task: PhaseTaskRow, kind: str, content: dict[str, object]) -> tuple[str, str]:
        """The files first, then the row that names them."""
        here = Workspace(self.data, task.id)
        phase = task.now_at
        items = deliverables.collect(here.path, phase.deliverables if phase else ())
        with self._at_files(task.id):
            head = repository.head_of(here.path)
            commit = here.snapshot(f"{kind} {task.phase or ''}".strip())
        found = {"deliverables": [asdict(item) for item in items], "commit": commit}
        return checkpoints.write(
            self.data, {**content, **found, "head": asdict(head) if head else None}
        )

    def _sweep(self, id: str, kept: Mapping[str, str]) -> None:
        """Files and snapshots of checkpoints that were dropped go, and what killed writers left.

        The rows are gone already. What one of those that are left needs is known from its file:
        if that cannot be read, all snapshots stay.
        """
        checkpoints.sweep(self.data, id, kept)
        found = [self.read(path, checksum) for path, checksum in kept.items()]
        contents = [content for content in found if content is not None]
        if len(contents) < len(found):
            return
        try:
            with self._at_files(id):
                here = Workspace(self.data, id)
                here.snapshots.forget_all_but({str(content["commit"]) for content in contents})
        except UserError as error:
            logger.warning("task %s: old snapshots stay: %s", id, error)

    def _pruned(self, id: str, newest: Mapping[str, Any]) -> list[Change]:
        rows = self.records.store.all("SELECT * FROM checkpoints WHERE task = ?", id)
        gone = checkpoints.prune([*(dict(row) for row in rows), dict(newest)])
        return [Drop("checkpoints", {"id": row}) for row in gone]

    def is_whole(self, path: str, checksum: str) -> bool:
        return not isinstance(checkpoints.read(self.data / path, checksum), checkpoints.Broken)

    def read(self, path: str, checksum: str) -> Mapping[str, Any] | None:
        """A checkpoint's content, if it is whole."""
        found = checkpoints.read(self.data / path, checksum)
        return None if isinstance(found, checkpoints.Broken) else found

    def compare(self, task: str, base: str | None) -> Comparison:
        """The workspace as it is now with one of its snapshots, or with nothing. In a thread."""
        here = Workspace(self.data, task)
        with self._at_files(task):
            here.check()
            return here.snapshots.compare(here.path, base)

    def fork(
        self, task: str, new: str, content: Mapping[str, Any], tell: Callable[[str], None]
    ) -> Path:
        """The files as they were, in a workspace of another task's own, a repository where this
        was one."""
        head = Head.of(content.get("head"))
        with self._at_files(task):
            return Workspace(self.data, task).fork(content["commit"], new, head, tell).path

    def environment(self, new: str, content: Mapping[str, Any]) -> list[Change]:
        """What people had provided until then, for another task."""
        given = checkpoints.environment_of(content, self.secrets.open)
        now = stamp(self.clock.now())
        return [
            Put("secrets", {"task": new, "name": name, "value": self.secrets.seal(value),
                                   "created_at": now})
            for name, value in given.items()
        ]  # fmt: skip

    def going_back(self, task: str, content: Mapping[str, Any]) -> Change:
        """That the files become what they were; `go_back` does it behind the commit."""
        Workspace(self.data, task).snapshots.check(content["commit"])
        row = {"task": task, "snapshot": content["commit"], "created_at": stamp(self.clock.now())}
        return Put("restorations", row)

    def go_back(self, task: str) -> None:
        """Do what a rewind decided, if it is not done yet: before anything else is done with the
        files. A death on the way leaves the row, and it is done at the next time."""
        sql = "SELECT snapshot FROM restorations WHERE task = ?"
        row = self.records.store.one(sql, task)
        if row is None:
            return
        with self._at_files(task):
            Workspace(self.data, task).remake(row["snapshot"])
        done = Drop("restorations", {"task": task})
        self.records.store.move(done, at=self.clock.now())

    @contextmanager
    def _at_files(self, task: str) -> Iterator[None]:
        """One at a time at the files and snapshots of a task: some of it is done in threads."""
        with self._locks.setdefault(task, threading.Lock()):
            yield

    def trouble(self, task: str, text: str) -> None:
        """Something to be known that stops nothing."""
        now = self.clock.now()
        self.records.store.move(moves.notice(task, "trouble", text, now), at=now)

    # Reviews

    def _round(self, task: str, phase: int | None, number: int) -> Path:
        return self.data / "rounds" / task / f"{phase}-{number}"

    def keep_round(
        self, task: PhaseTaskRow, folder: Path, patterns: Sequence[str], number: int
    ) -> list[dict[str, Any]]:
        """A copy of what is to be reviewed: the next round is compared with it."""
        found = deliverables.collect(folder, patterns)
        deliverables.keep_round(folder, self._round(task.id, task.phase, number), found)
        return [asdict(item) for item in found]

    def shown(self, gate: GateRow, records: Records) -> list[dict[str, Any]]:
        """A review's deliverables with their text, and what changed since the round before."""
        here = self._round(gate.task_id, gate.phase, gate.round)
        before = self._round(gate.task_id, gate.phase, gate.round - 1)
        shown = []
        for item in gate.about.get("deliverables", []):
            path = str(item["path"])
            new = _bytes(here / path)
            diff = deliverables.diff(_bytes(before / path), new, path) if gate.round > 1 else None
            shown.append({**item, "text": _text(new), "diff": diff})
        return shown

    def zipped(self, task: PhaseTaskRow) -> Path:
        """The deliverables of all phases that were reached."""
        if not task.workspace:
            raise Refused(404, "no_deliverables", _("this task has not started"))
        target = self.data / "zips" / f"{task.id}.zip"
        target.parent.mkdir(mode=0o700, exist_ok=True)
        folder = Path(task.workspace)
        patterns = [path for phase in task.phases for path in phase.deliverables] or ["**/*"]
        try:
            deliverables.write_zip(target, folder, deliverables.collect(folder, patterns))
        except AgentError as error:  # they change while they are read, or are too many
            raise Refused(409, "deliverables_changed", str(error)) from error
        return target

    def delete(self, task: PhaseTaskRow) -> None:
        """All that was kept for a task that is gone; what is being saved of it comes to its end."""
        underway = self._underway.get(task.id)
        if underway is None:
            self._delete(task)
        else:
            underway.add_done_callback(lambda _done: self._delete(task))

    def _delete(self, task: PhaseTaskRow) -> None:
        with suppress(UserError):  # another process removed it
            if task.workspace:
                Workspace(self.data, task.id).remove()
        for folder in ("rounds", "checkpoints"):
            shutil.rmtree(self.data / folder / task.id, ignore_errors=True)
        (self.data / "zips" / f"{task.id}.zip").unlink(missing_ok=True)
        self._locks.pop(task.id, None)


def _bytes(path: Path) -> bytes:
    """What was kept of a deliverable; nothing where there was none."""
    try:
        with path.open("rb") as file:
            return file.read(TEXT_BYTES_MAX)
    except OSError:
        return b""


def _text(data: bytes) -> str | None:
    """As text, where it is text."""
    return None if b"\0" in data else data.decode("utf-8", "replace")
