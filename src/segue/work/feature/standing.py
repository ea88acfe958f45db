"""How a feature stands, for `segue status` and `segue resume`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from segue.core.develop import Feature, Phase, Status, report
from segue.core.standing import WorkFacts, state_of
from segue.engine.standing import Known, Standing
from segue.errors import UserError
from segue.i18n import _
from segue.work.feature import gates as gates_of
from segue.work.feature.developing import found
from segue.work.feature.folder import FeatureFolder

COUNTED = {
    Status.PENDING: "pending",
    Status.IN_PROGRESS: "in_progress",
    Status.PASSED: "completed",
    Status.ESCALATED: "failed",
}


def standing(root: Path, known: Known) -> Standing:
    folder = FeatureFolder(root)
    path = folder.state_file
    feature, problem = None, None
    try:
        there = found(folder)
        feature = there[1] if there else None
    except UserError as error:
        problem = f"{error.problem.where}: {error.problem.message}"
    parks, gates = known.waits(path)
    holder = known.holder(path)
    skipped = known.skipped(path) if holder else set()  # its next start asks again
    counts = dict.fromkeys(("pending", "in_progress", "completed", "failed", "skipped"), 0)
    for one in feature.checkpoints.values() if feature else ():
        counts[COUNTED[one.status]] += 1
    at_work = known.at_work(path)
    phase = feature.resumes_in if feature else None
    is_done = phase is Phase.DONE
    work_facts = WorkFacts(
        is_owned=holder is not None,
        is_at_work=bool(at_work),
        is_asked=bool(gates) or (counts["failed"] > 0 and not is_done),
        is_parked=bool(parks),
        is_begun=True,
        is_left=not is_done,
        is_done=is_done,
    )
    return Standing(
        path=path,
        kind="develop",
        state=state_of(work_facts),
        counts=counts,
        parks=parks,
        gates=gates,
        usage=known.usage(path),
        failed=[
            {"task": id, "title": "", "error": None}
            for id, one in (feature.checkpoints.items() if feature else ())
            if one.status is Status.ESCALATED and id not in skipped
        ],
        in_progress=[
            id
            for id, one in (feature.checkpoints.items() if feature else ())
            if one.status is Status.IN_PROGRESS
        ],
        running=at_work,
        runs=known.runs(path, at_work),
        holder=holder,
        problem=problem,
        is_known=known.has(path),
        go_on=gates_of.way_on(
            waits_for_design=phase is Phase.DESIGN and any(not gate["options"] for gate in gates),
            has_escalated=phase is Phase.IMPLEMENT and counts["failed"] > 0,
        ),
    )


def facts(standing: Standing) -> dict[str, Any]:
    """What `segue resume` says of it: why, next, redone, lost."""
    nothing = _("nothing")
    if standing.problem is not None:
        return {
            "resumable": False,
            "why": standing.problem,
            "next": _("rebuild it from the journal: segue develop --repair"),
            "redone": nothing,
            "lost": nothing,
        }
    there = found(FeatureFolder(standing.path.parent.parent))
    assert there is not None
    feature = there[1]
    is_left = feature.resumes_in is not Phase.DONE
    return {
        "resumable": is_left and standing.holder is None,
        "why": _why(feature, standing),
        "next": _next(feature, standing) if is_left else nothing,
        "redone": _redone(feature, standing),
        "lost": nothing
        if standing.is_known
        else _("Segue's records: the output of the last validation"),
    }


def _why(feature: Feature, standing: Standing) -> str:
    if standing.holder is not None:
        return _("process {pid} is running it").format(pid=standing.holder.pid)
    if feature.resumes_in is Phase.DONE:
        return _("everything is done")
    if standing.gates:
        return _("waiting for an answer: {text}").format(
            text=standing.gates[0]["text"].splitlines()[0]
        )
    if standing.parks:
        tasks = ", ".join(park["task"] for park in standing.parks)
        return _("stopped by a limit: {tasks}").format(tasks=tasks)
    return _("it was stopped in phase {phase}").format(phase=feature.phase)


def _next(feature: Feature, standing: Standing) -> str:
    parts = [_("repeat the open question")] if standing.gates else []
    if feature.resumes_in is Phase.IMPLEMENT:
        parts.append(_("continue with the checkpoints: {report}").format(report=report(feature)))
    elif not standing.gates:
        parts.append(_("phase {phase} from the beginning").format(phase=feature.phase))
    return "; ".join(parts)


def _redone(feature: Feature, standing: Standing) -> str:
    """What is parked or has asked continues where it is."""
    if feature.resumes_in is Phase.IMPLEMENT:
        waiting = {one["task"] for one in (*standing.parks, *standing.gates)}
        busy = [
            id
            for id, one in feature.checkpoints.items()
            if one.status is Status.IN_PROGRESS and id not in waiting
        ]
        if busy:
            return _("the interrupted iteration of {ids}").format(ids=", ".join(busy))
    elif feature.phase is not Phase.DONE and not (standing.parks or standing.gates):
        return _("phase {phase}").format(phase=feature.phase)
    return _("nothing")
