"""`segue unskip TASK`: what was skipped is to be done after all.

The files are the truth of what is skipped, so it is undone there, by the kind of the work: the mark
of a task list, the checkpoint of a feature, the chapter of a book.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from segue.engine.kind import Skippable, Unskipped
from segue.engine.standing import Standing
from segue.errors import UserError
from segue.i18n import _
from segue.work import overview
from segue.work.folders import markdown_below
from segue.work.kinds import KINDS


def unskip(name: str, where: Path, *, is_plan: bool) -> Unskipped:
    """Undo the skipping of a task below a folder, or of one plan (`is_plan`)."""
    found = list(_tasks(where, name))
    if len(found) > 1:
        found = [one for one in found if one[1].is_skipped] or found
    if not found:
        raise UserError(
            "unknown_name",
            _("no task `{name}` here").format(name=name),
            hint=_("segue status shows what is here"),
        )
    if len(found) > 1 and not is_plan:
        plans = ", ".join(str(work.path) for work, _task in found)
        raise UserError(
            "ambiguous",
            _("several plans have a {name}: {plans}").format(name=name, plans=plans),
            hint=_("choose one: --plan PATH"),
        )
    work, task = found[0]
    if not task.is_skipped:
        raise UserError(
            "not_skipped",
            _("{task} is not skipped").format(task=name),
            file=str(work.path),
            hint=_("segue status shows what is here"),
        )
    return task.unskip()


def _tasks(where: Path, name: str) -> Iterator[tuple[Standing, Skippable]]:
    for work in _works(where):
        if (task := KINDS[work.kind].find_task(work, name)) is not None:
            yield work, task


def _works(where: Path) -> list[Standing]:
    """All that stands here; and lists in which nothing is left to do but what was skipped."""
    works = overview.look(where)
    known = {work.path for work in works}
    others = [] if where.is_file() else markdown_below(where.resolve())
    for path in others:
        if path not in known and b"[-]" in path.read_bytes():
            works += overview.look(path)
    return works
