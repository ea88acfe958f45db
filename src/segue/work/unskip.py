"""`segue unskip TASK`: what was skipped is to be done after all.

The files are the truth of what is skipped, so it is undone there: the mark of a task list, the
checkpoint of a feature, the chapter of a book. A task list may be running meanwhile: its owner
takes the mark in like any other edit. Features and books are changed under their lock.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from segue.core import book as rules
from segue.core.develop import Phase, Progress, Status
from segue.core.machines import Trigger
from segue.core.plan import Task, TaskState
from segue.engine.clock import SystemClock
from segue.engine.ledger import Ledger
from segue.errors import UserError
from segue.i18n import _
from segue.plans import book_state, develop_state
from segue.plans.tasklist import Document
from segue.store import files
from segue.store.changes import stamp
from segue.store.lock import Lock
from segue.store.sqlite import Store
from segue.work import overview
from segue.work.book.folder import BookFolder
from segue.work.feature.folder import FeatureFolder
from segue.work.folders import markdown_below
from segue.work.locks import check_held, lock_path
from segue.work.project import Project, check_writable
from segue.work.standing import Standing

CHAPTER = re.compile(r"(?:ch|chapter|제)?[\s-]*0*([1-9][0-9]{0,5})(?:장|\..*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Unskipped:
    """What is to be done again. `holds`: those that it waits for and that failed or are skipped."""

    task: str
    path: Path
    kind: str
    go_on: str  # the command that does it
    is_running: bool = False  # its owner takes it in by itself
    holds: tuple[str, ...] = ()


def unskip(name: str, where: Path, *, is_plan: bool) -> Unskipped:
    """Undo the skipping of a task below a folder, or of one plan (`is_plan`)."""
    works = [work for work in _works(where, name) if _has(work, name)]
    if len(works) > 1:
        works = [work for work in works if _is_skipped(work, name)] or works
    if not works:
        raise UserError(
            "unknown_name",
            _("no task `{name}` here").format(name=name),
            hint=_("segue status shows what is here"),
        )
    if len(works) > 1 and not is_plan:
        plans = ", ".join(str(work.path) for work in works)
        raise UserError(
            "ambiguous",
            _("several plans have a {name}: {plans}").format(name=name, plans=plans),
            hint=_("choose one: --plan PATH"),
        )
    work = works[0]
    if not _is_skipped(work, name):
        raise UserError(
            "not_skipped",
            _("{task} is not skipped").format(task=name),
            file=str(work.path),
            hint=_("segue status shows what is here"),
        )
    return {"tasklist": _task, "develop": _checkpoint, "book": _chapter}[work.kind](work, name)


def _works(where: Path, name: str) -> list[Standing]:
    """All that stands here; and lists in which nothing is left to do but what was skipped."""
    works = overview.look(where)
    known = {work.path for work in works}
    others = [] if where.is_file() else markdown_below(where.resolve())
    for path in others:
        if path not in known and b"[-]" in path.read_bytes() and name in _document(path):
            works += overview.look(path)
    return works


def _has(work: Standing, name: str) -> bool:
    match work.kind:
        case "tasklist":
            return name in _document(work.path)
        case "develop":
            found = _feature(work).load()
            return found is not None and name in found[1].checkpoints
        case "book":
            state = BookFolder(work.path).load() if work.problem is None else None
            number = _number(name)
            return state is not None and number is not None and number <= state.total_chapters
        case _:
            return False


def _is_skipped(work: Standing, name: str) -> bool:
    match work.kind:
        case "tasklist":
            return _document(work.path).task(name).state is TaskState.SKIPPED
        case "develop":
            found = _feature(work).load()
            return found is not None and found[1].checkpoints[name].status is Status.ESCALATED
        case _:
            state = BookFolder(work.path).load()
            return state is not None and _number(name) in state.failed_chapters


# A task list


def _document(path: Path) -> Document:
    return Document.parse(path.read_bytes(), file=str(path))


def _task(work: Standing, name: str) -> Unskipped:
    path = work.path
    check_writable(path, Project.containing(path))
    while True:
        data = path.read_bytes()
        document = Document.parse(data, file=str(path))
        task = document.task(name)
        document.set_mark(name, TaskState.PENDING)
        document.set_retries(name, None, task.retries)
        try:
            if files.exchange_if(path, document.render(), data) is None:
                break  # else somebody saved it this moment
        except OSError as error:
            raise files.in_words(error, path) from error
    go_on = f"segue run {shlex.quote(path.name)}"
    is_running = work.holder is not None
    return Unskipped(name, path, work.kind, go_on, is_running, _holds(document, task))


def _holds(document: Document, task: Task) -> tuple[str, ...]:
    stuck = (TaskState.FAILED, TaskState.SKIPPED)
    known = [id for id in task.blocked_by if id in document]
    return tuple(id for id in known if document.task(id).state in stuck)


# A feature


def _feature(work: Standing) -> FeatureFolder:
    return FeatureFolder(work.path.parent.parent)


def _checkpoint(work: Standing, name: str) -> Unskipped:
    """The checkpoint is pending again, and with it the phase in which checkpoints are made."""
    folder = _feature(work)
    with _owned(work.path, "develop") as ledger:
        found = folder.load()
        assert found is not None
        data, feature = found
        feature = feature.with_checkpoint(name, Progress())
        if feature.phase in (Phase.MERGE, Phase.DONE):
            feature = replace(feature, phase=Phase.IMPLEMENT)
        for gate in list(ledger.gates.values()):
            if gate.about.get("checkpoint") == name:
                ledger.close_gate(gate, None)
        row = ledger.tasks.get(name)
        if row is not None and row.state is TaskState.SKIPPED:
            ledger.move_task(name, TaskState.PENDING, Trigger.REOPEN, retries_used=0)
        elif row is not None and row.state is TaskState.FAILED:
            ledger.move_task(name, TaskState.PENDING, Trigger.RETRY, retries_used=0)
        ledger.commit()
        folder.save(develop_state.edit(data, feature))
    return Unskipped(name, work.path, work.kind, "segue develop --resume")


# A book


def _number(name: str) -> int | None:
    match = CHAPTER.fullmatch(name.strip())
    return int(match[1]) if match else None


def _chapter(work: Standing, name: str) -> Unskipped:
    """The chapter is open again; what stands in its place is kept beside when it is written."""
    folder, number = BookFolder(work.path), _number(name)
    with _owned(work.path, "book"):
        state = folder.load()
        assert state is not None and number is not None
        folder.save(book_state.render(rules.unskipped(state, number)), datetime.now(UTC))
    return Unskipped(name, work.path, work.kind, "segue resume --continue")


@contextmanager
def _owned(path: Path, kind: str) -> Iterator[Ledger]:
    """The rows of a plan that nobody else drives meanwhile."""
    project = Project.containing(path)
    check_writable(path, project)
    project.prepare()
    lock = Lock(lock_path(project, path))
    since = stamp(datetime.now(UTC))
    check_held(lock.take(since=since, command=shlex.join(sys.argv)), str(path))
    store = Store.open(project.database)
    try:
        yield Ledger(store, SystemClock(), path, kind)
    finally:
        store.close()
        lock.release()
