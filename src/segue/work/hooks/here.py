"""What is under way in a project, for the agent that a person works with in it.

A feature comes first: its state file is there for this. Of plans only those are looked at that
Segue knows, and PLAN.md: an agent waits for its hook, and a large folder is not searched meanwhile.
"""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from segue.i18n import _
from segue.work.project import Project

if TYPE_CHECKING:
    from segue.core.develop import Checkpoint, Feature
    from segue.engine.standing import Standing

PLANS_MAX = 5
PLAN_BYTES_MAX = 512 * 1024
DESIGN_BYTES_MAX = 1024 * 1024
STATE = Path(".develop-workflow", "state.yaml")
PLAN = "PLAN.md"
UNDER_WAY = ("running", "parked", "waiting", "interrupted")


def place(project: Project, *, is_short: bool) -> str:
    """The text for an agent; empty where nothing is in progress. Short: two lines."""
    feature = feature_here(project)
    told = _feature(project, feature, is_short=is_short) if feature else ""
    if told and is_short:
        return told
    lines = []
    for standing in _plans(project):
        lines += _plan(project, standing, is_short=is_short)
        if is_short:
            break
    if not lines:
        return told
    if not is_short:
        lines = [_("# Work in progress here"), *lines, _only_told()]
    return "\n".join([told, *lines] if told else lines) + "\n"


def left_to_do(project: Project) -> str:
    """The checkpoint in whose loop an agent would stop; nothing where it may."""
    feature = feature_here(project)
    if feature is None or feature.resumes_in != "IMPLEMENT" or _holder(project) is not None:
        return ""
    going = _in_progress(feature)
    if not going:
        return ""
    text = _(
        "A checkpoint is still in progress: {checkpoints}. Read {state} and continue "
        "the loop: read, analyse, learn, patch, validate. If it has passed or a person "
        "must decide, write that into the state first, then stop."
    )
    return text.format(checkpoints=", ".join(going), state=STATE)


def feature_here(project: Project) -> Feature | None:
    """The feature of the state file; None where there is none, or it is done."""
    if not (project.root / STATE).is_file():
        return None
    from segue.work.feature.folder import FeatureFolder  # noqa: PLC0415 - few projects have one

    found = FeatureFolder(project.root).load()
    if found is None or found[1].resumes_in == "DONE":
        return None
    return found[1]


def _feature(project: Project, feature: Feature, *, is_short: bool) -> str:
    from segue.core.develop import report  # noqa: PLC0415
    from segue.engine.plan.context_note import one_line  # noqa: PLC0415

    told = _("A feature is being developed here: “{feature}”, phase {phase}.")
    first = told.format(feature=one_line(feature.feature), phase=feature.phase)
    holder = _holder(project)
    if holder is not None:
        go_on = _("Segue is running it (process {pid}).").format(pid=holder)
    else:
        go_on = _("To continue: {command}").format(command="segue develop --resume")
    if is_short:
        return f"{first}\n{go_on}\n"
    lines = [_("# Where you are"), first]
    if feature.checkpoints:
        lines.append(_("Checkpoints: {report}").format(report=report(feature)))
    if going := _in_progress(feature):
        lines.append(_("Next: {what}").format(what=", ".join(going)))
    lines.append(
        _("Read these files again first: {files}").format(
            files=", ".join(_reread(project, feature))
        )
    )
    lines.append(go_on)
    return "\n".join(lines) + "\n"


def _in_progress(feature: Feature) -> list[str]:
    from segue.core.develop import ITERATIONS_MAX, Status  # noqa: PLC0415

    text = _("{id}, iteration {n}/{most}")
    return [
        text.format(id=id, n=progress.iteration, most=ITERATIONS_MAX)
        for id, progress in feature.checkpoints.items()
        if progress.status is Status.IN_PROGRESS
    ]


def _reread(project: Project, feature: Feature) -> list[str]:
    """The state, the design, and the files of what is in progress."""
    from segue.core.develop import Status  # noqa: PLC0415
    from segue.work.feature.folder import FeatureFolder  # noqa: PLC0415

    named = [str(STATE)]
    design = FeatureFolder(project.root).design(feature.feature)
    if design.is_file():
        named.append(project.relative(design))
        for one in _checkpoints(design):
            progress = feature.checkpoints.get(one.id)
            if progress is not None and progress.status is Status.IN_PROGRESS:
                named += one.files
    return named


def _checkpoints(design: Path) -> list[Checkpoint]:
    from segue.plans.checkpoints import CheckpointsError, read  # noqa: PLC0415

    with suppress(OSError, CheckpointsError):
        if design.stat().st_size <= DESIGN_BYTES_MAX:
            return read(design.read_text("utf-8", "replace"))
    return []


def _holder(project: Project) -> int | None:
    """The process of Segue that is at work on the feature."""
    from segue.engine.locks import lock_path  # noqa: PLC0415
    from segue.store import lock  # noqa: PLC0415

    held = lock.holder(lock_path(project, project.root / STATE))
    return held.pid if held else None


def _known(project: Project) -> list[Path]:
    """The plans that Segue knows to be under way, the newest first."""
    if not project.database.exists():
        return []
    from segue.store.sqlite import Store  # noqa: PLC0415

    store = Store.open_readonly(project.database)
    if store is None:
        return []
    try:
        rows = store.all(
            "SELECT path FROM works WHERE state IN (?, ?, ?, ?) ORDER BY updated_at DESC",
            *UNDER_WAY,
        )
    finally:
        store.close()
    return [Path(row["path"]) for row in rows]


def _plans(project: Project) -> list[Standing]:
    paths = _known(project)
    usual = project.root / PLAN  # its marks say enough where Segue's memory is gone
    if usual not in paths and usual.is_file():
        paths.append(usual)
    if not paths:
        return []
    from segue.work import overview  # noqa: PLC0415 - only now is there something to look at

    found: list[Standing] = []
    for path in paths[:PLANS_MAX]:
        is_small = path.is_dir() or (path.is_file() and path.stat().st_size <= PLAN_BYTES_MAX)
        if is_small and path != project.root / STATE:
            found += [one for one in overview.look(path) if one.path == path]
    return [one for one in found if one.state in UNDER_WAY]


def _plan(project: Project, standing: Standing, *, is_short: bool) -> list[str]:
    """How it stands, what was in progress in it, and who continues it. Short: two lines."""
    shown = project.relative(standing.path)
    done, total = standing.counts.get("completed", 0), sum(standing.counts.values())
    first = _("{plan}: {state}, {done} of {total} done").format(
        plan=shown, state=standing.state, done=done, total=total
    )
    if standing.in_progress:
        tasks = ", ".join(standing.in_progress[:PLANS_MAX])
        first += _("; in progress: {tasks}").format(tasks=tasks)
    is_list = standing.kind == "tasklist" and not is_short
    lines = [first, *(_tasks(standing, shown) if is_list else ())]
    if standing.holder is not None:
        pid = standing.holder.pid
        return [*lines, _("Segue is running it (process {pid}).").format(pid=pid)]
    command = standing.go_on or f"segue run {shlex.quote(shown)}"
    return [*lines, _("To continue: {command}").format(command=command)]


def _tasks(standing: Standing, shown: str) -> list[str]:
    """The tasks in progress, else the one that is next: title, steps, what to read again."""
    from segue.core.plan import TaskState  # noqa: PLC0415
    from segue.engine.plan.context_note import boxes, one_line  # noqa: PLC0415
    from segue.plans.tasklist import Document  # noqa: PLC0415

    document = Document.parse(standing.path.read_bytes(), file=shown)
    done = {task.id for task in document.tasks if task.state is TaskState.COMPLETED}
    going = [task for task in document.tasks if task.id in standing.in_progress]
    if not going:
        pending = [task for task in document.tasks if task.state is TaskState.PENDING]
        going = [task for task in pending if done.issuperset(task.blocked_by)][:1]
    lines = []
    for task in going[:PLANS_MAX]:
        lines.append(_("Next: {what}").format(what=one_line(f"{task.id} {task.title}")))
        ticked = {n for n, s in enumerate(task.steps, 1) if s.state is TaskState.COMPLETED}
        lines += boxes(task.steps, ticked)
        where = _("{file}, line {line}").format(file=shown, line=task.line)
        named = ", ".join([where, *task.files])
        lines.append(_("Read these files again first: {files}").format(files=named))
    return lines


def _only_told() -> str:
    return _("This is for your information only: do what your task asks.")
