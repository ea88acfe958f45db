"""How a task list stands, for `segue status` and `segue resume`: by its marks and the tables."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from segue.core.machines import PlanState
from segue.core.plan import MARKS, Resume, TaskState
from segue.core.standing import WorkFacts, state_of
from segue.engine.standing import Known, Standing
from segue.i18n import _, ngettext
from segue.plans.check import check
from segue.plans.tasklist import Document

UNDER_WAY = frozenset({TaskState.PENDING, TaskState.IN_PROGRESS})
PLAN_BYTES_MAX = 16 * 1024 * 1024


def is_plan(path: Path) -> bool:
    """A Markdown file whose tasks have ids, or one that was begun; not any checklist."""
    try:
        if path.stat().st_size > PLAN_BYTES_MAX:
            return False
        data = path.read_bytes()
    except OSError:
        return False
    if not any(mark in data for mark in (b"[ ]", b"[~]", b"[!]")):
        return False
    document = Document.parse(data, file=str(path))
    states = {task.state for task in document.tasks}
    begun = states & {TaskState.IN_PROGRESS, TaskState.FAILED}
    return bool(begun) or (document.has_ids and TaskState.PENDING in states)


def standing(path: Path, known: Known) -> Standing:
    document = Document.parse(path.read_bytes(), file=str(path))
    problems = check(document)
    counts = Counter(str(task.state) for task in document.tasks)
    held_by = known.holder(path)
    parks, gates = known.waits(path)
    done = {task.id for task in document.tasks if task.state not in UNDER_WAY}
    parks = [park for park in parks if park["task"] not in done]  # a person may have seen to it
    in_progress = [task.id for task in document.tasks if task.state is TaskState.IN_PROGRESS]
    at_work = known.at_work(path)
    row = known.rows.get(str(path))
    # no person could be asked about what failed
    is_asked = bool(counts[TaskState.FAILED] and row and row["state"] == PlanState.WAITING)
    left = counts[TaskState.PENDING] + counts[TaskState.IN_PROGRESS]
    facts = WorkFacts(
        is_owned=held_by is not None,
        is_at_work=bool(at_work),
        is_asked=bool(gates) or (is_asked and not left),
        is_parked=bool(parks),
        is_begun=row is not None or bool(in_progress),
        is_left=bool(left),
        is_done=counts.total() > 0,
        has_failed=bool(counts[TaskState.FAILED] or counts[TaskState.SKIPPED]),
    )
    return Standing(
        path=path,
        kind="tasklist",
        state=state_of(facts),
        counts={str(state): counts[state] for state in MARKS},
        parks=parks,
        gates=gates,
        usage=known.usage(path),
        usage_by_task=known.usage_by_task(path),
        failed=[
            {"task": task.id, "title": task.title, "error": task.previous_error}
            for task in document.tasks
            if task.state is TaskState.FAILED
        ],
        in_progress=in_progress,
        running=at_work,
        runs=known.runs(path, at_work),
        goes_on=known.goes_on(
            path,
            (t for t in document.tasks if t.id in in_progress and t.resume is Resume.CONVERSATION),
        ),
        holder=held_by,
        problem=f"{problems[0].where}: {problems[0].message}" if problems else None,
        is_known=known.has(path),
    )


def facts(standing: Standing) -> dict[str, Any]:
    """For `segue resume`."""
    tasks = Document.parse(standing.path.read_bytes(), file=str(standing.path)).tasks
    parked = {park["task"] for park in standing.parks}
    asked = {gate["task"] for gate in standing.gates}
    cut_off = [id for id in standing.in_progress if id not in parked and id not in asked]
    again = [id for id in cut_off if id not in standing.goes_on]
    left = [task for task in tasks if task.state is TaskState.PENDING]
    return {
        "resumable": standing.is_interrupted and standing.problem is None,
        "why": _why(standing, cut_off),
        "next": _next(standing, again, len(left)),
        "redone": ", ".join(again) if again else _("nothing"),
        "lost": _lost(standing),
    }


def _why(standing: Standing, cut_off: list[str]) -> str:
    if standing.problem:
        return _("the plan has an error: {problem}").format(problem=standing.problem)
    if standing.holder is not None:
        return _("process {pid} is running it").format(pid=standing.holder.pid)
    match standing.state:
        case PlanState.FINISHED:
            return _("everything is done")
        case PlanState.PARKED:
            return _("stopped by a limit: {tasks}").format(
                tasks=", ".join(park["task"] for park in standing.parks)
            )
        case PlanState.WAITING if standing.gates:
            return _("waiting for an answer: {text}").format(text=standing.gates[0]["text"])
        case PlanState.FAILED | PlanState.WAITING:
            names = ", ".join(failed["task"] for failed in standing.failed) or _("skipped tasks")
            return _("it ended with failed tasks: {tasks}").format(tasks=names)
        case _:
            if cut_off:
                return _("it was interrupted during {tasks}").format(tasks=", ".join(cut_off))
            return _("it was stopped before it finished")


def _next(standing: Standing, again: list[str], left: int) -> str:
    parts = []
    if again:
        text = _(
            "restart {tasks} from the beginning, in the same conversation if there is "
            "one; Segue tells the agent that it was interrupted. If the agent is still "
            "running, Segue follows it"
        )
        parts.append(text.format(tasks=", ".join(again)))
    parked = [park["task"] for park in standing.parks if park["task"] in standing.in_progress]
    if going_on := [*standing.goes_on, *parked]:
        tasks = ", ".join(going_on)
        parts.append(_("continue {tasks} in the same conversation").format(tasks=tasks))
    if standing.gates:
        parts.append(_("repeat the open question"))
    if standing.failed:
        tasks = ", ".join(failed["task"] for failed in standing.failed)
        parts.append(_("ask what to do about the failed {tasks}").format(tasks=tasks))
    if left:
        text = ngettext("run the {n} remaining task", "run the {n} remaining tasks", left)
        parts.append(text.format(n=left))
    return "; ".join(parts) or _("nothing is left to do")


def _lost(standing: Standing) -> str:
    if standing.is_known or standing.state is PlanState.PENDING:
        return _("nothing")
    return _("Segue's records: what the marks do not show, such as summaries")
