"""A skipped task of a list is to be done after all: its mark is open again. The list may be running
meanwhile: its owner takes the mark in like any other edit."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path

from segue.core.plan import Task, TaskState
from segue.engine.kind import Skippable, Unskipped
from segue.engine.standing import Standing
from segue.plans.tasklist import Document
from segue.store import files
from segue.work.project import Project, check_writable


def find_task(work: Standing, name: str) -> Skippable | None:
    document = _document(work.path)
    if name not in document:
        return None
    is_skipped = document.task(name).state is TaskState.SKIPPED
    return Skippable(is_skipped, partial(_unskip, work, name))


def _document(path: Path) -> Document:
    return Document.parse(path.read_bytes(), file=str(path))


def _unskip(work: Standing, name: str) -> Unskipped:
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
                break  # else a person saved it at this moment
        except OSError as error:
            raise files.in_words(error, path) from error
    go_on = f"segue run {shlex.quote(path.name)}"
    is_running = work.holder is not None
    return Unskipped(name, path, work.kind, go_on, is_running, _holds(document, task))


def _holds(document: Document, task: Task) -> tuple[str, ...]:
    stuck = (TaskState.FAILED, TaskState.SKIPPED)
    known = [id for id in task.blocked_by if id in document]
    return tuple(id for id in known if document.task(id).state in stuck)
