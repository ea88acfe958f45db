"""`segue resume --reset`: a plan starts over; a copy of the old one is kept beside it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from segue.core.plan import TaskState
from segue.plans.tasklist import Document
from segue.store import files
from segue.work.owned import owned
from segue.work.project import Project


def reset_plan(path: Path) -> Path:
    """All marks empty, Segue's comments gone; the backup's path.

    Of the tables only what waits is ended: at the next start the file is the truth of its
    marks.
    """
    with owned(path, "tasklist") as ledger:
        ledger.end_waits()
        ledger.give_up_marks()  # else a mark that a death kept from the file would come back
        ledger.commit()
        return _reset(path, Project.containing(path), datetime.now(UTC))


def _reset(path: Path, project: Project, now: datetime) -> Path:
    data = path.read_bytes()
    backups = project.memory / "backups"
    backup = backups / f"{path.stem}-{now:%Y%m%dT%H%M%SZ}{path.suffix}"
    document = Document.parse(data, file=str(path))
    for task in document.tasks:
        if task.state is not TaskState.PENDING:
            document.set_mark(task.id, TaskState.PENDING)
        document.set_all_steps(task.id, False)
        document.set_error(task.id, None)
        document.set_retries(task.id, None, task.retries)
    try:
        backups.mkdir(mode=0o700, exist_ok=True)
        files.replace(backup, data)
        if files.exchange_if(path, document.render(), data) is not None:
            return _reset(path, project, now)  # a person saved it at this moment
    except OSError as error:
        raise files.in_words(error, path) from error
    return backup
