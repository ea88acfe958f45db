"""How a book stands, for `segue status` and `segue resume`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from segue.core import book as rules
from segue.core.book import BookState
from segue.core.standing import WorkFacts, state_of
from segue.engine.standing import Known, Standing
from segue.errors import UserError
from segue.i18n import _
from segue.work.book import resuming, settings
from segue.work.book.folder import BookFolder
from segue.work.book.resuming import Look


def standing(path: Path, known: Known) -> Standing:
    problem = None
    try:
        seen = resuming.look(path)
        problem = seen.damage
    except UserError as error:
        seen, problem = Look(BookFolder(path)), error.problem.message
    state = seen.state
    if state is None and problem is None:
        problem = _error_in(path)
    parks, gates = known.waits(path)
    holder = known.holder(path)
    at_work = known.at_work(path)
    is_begun = problem is not None if state is None else state.is_begun
    is_done = state is not None and state.completed_at is not None and not seen.lost
    work_facts = WorkFacts(
        is_owned=holder is not None,
        is_at_work=bool(at_work),
        is_asked=bool(gates) or (state is not None and _waits(state)),
        is_parked=bool(parks),
        is_begun=is_begun,
        is_left=not is_done and not (state and state.is_over and state.failed_chapters),
        is_done=is_done,
        has_failed=bool(state and state.failed_chapters),
    )
    current = f"chapter {state.current_chapter}" if state and state.ralph_active else None
    return Standing(
        path=path,
        kind="book",
        state=state_of(work_facts),
        counts=_counts(state, path),
        parks=parks,
        gates=gates,
        usage=known.usage(path),
        failed=[
            {"task": f"chapter {n}", "title": "", "error": None}
            for n in (state.failed_chapters if state else ())
        ],
        in_progress=[current] if current else [],
        running=at_work,
        runs=known.runs(path, at_work),
        holder=holder,
        problem=problem,
        is_known=known.has(path),
        go_on="segue resume --continue",
    )


def _error_in(path: Path) -> str | None:
    try:
        settings.load(path)
    except UserError as error:
        return f"{error.problem.where}: {error.problem.message}"
    return None


def _waits(state: BookState) -> bool:
    """Whether it is stopped until a person has decided."""
    return state.completed_at is None and rules.pause_of(state) in rules.WAITS_FOR_PERSON


def _counts(state: BookState | None, path: Path) -> dict[str, int]:
    total = state.total_chapters if state else 0
    if not total:
        try:
            total = len(settings.load(path).chapters)
        except UserError:
            total = 0
    done = len(state.completed_chapters) if state else 0
    failed = len(state.failed_chapters) if state else 0
    busy = 1 if state and state.ralph_active and done + failed < total else 0
    return {
        "pending": max(0, total - done - failed - busy),
        "in_progress": busy,
        "completed": done,
        "failed": failed,
        "skipped": 0,
    }


def facts(seen: Look, standing: Standing) -> dict[str, Any]:
    """What `segue resume` says of it: why, next, redone, lost."""
    state = seen.state
    if seen.damage is not None:
        next_ = (
            _("continue from the newest backup, {name}").format(name=seen.backup.name)
            if seen.backup
            else resuming.no_way_back()
        )
        return {
            "resumable": seen.backup is not None and standing.holder is None,
            "why": _("the state of the book is damaged: {why}").format(why=seen.damage),
            "next": next_,
            "redone": _("changes after that backup that are not in Segue's records"),
            "lost": _("nothing; Segue keeps the damaged file") if seen.backup else _("the scores"),
        }
    if state is None:
        return {
            "resumable": False,
            "why": standing.problem or resuming.nothing_begun(),
            "next": resuming.nothing_begun(),
            "redone": _("nothing"),
            "lost": _("nothing"),
        }
    return {
        "resumable": seen.is_resumable and standing.holder is None,
        "why": _why(seen, state, standing),
        "next": _next(state, standing),
        "redone": _redone(seen, state),
        "lost": _lost(seen, state, standing),
    }


def _why(seen: Look, state: BookState, standing: Standing) -> str:
    if standing.holder is not None:
        return _("process {pid} is running it").format(pid=standing.holder.pid)
    if state.completed_at:
        return resuming.lost_chapters(seen.lost) if seen.lost else _("everything is done")
    if not (state.ralph_active or state.can_resume):
        return resuming.nothing_to_resume()
    if standing.gates:
        text = standing.gates[0]["text"].splitlines()[0]
        return _("waiting for an answer: {text}").format(text=text)
    if standing.parks:
        return _("stopped by a limit: {tasks}").format(tasks=f"chapter {state.current_chapter}")
    if state.pause_reason:
        return _("it was paused: {why}").format(why=state.pause_reason)
    if seen.lost or seen.changed:
        numbers = ", ".join(map(str, sorted((*seen.lost, *seen.changed))))
        return _("missing, or changed since the judge accepted them: chapter {chapters}").format(
            chapters=numbers
        )
    return _("it was interrupted during chapter {n}").format(n=state.current_chapter)


def _next(state: BookState, standing: Standing) -> str:
    if state.completed_at or not (state.ralph_active or state.can_resume):
        return resuming.nothing_begun()
    if state.is_over and state.failed_chapters:
        chapters = ", ".join(map(str, state.failed_chapters))
        return _("try the failed chapters again: {chapters}").format(chapters=chapters)
    if standing.parks:
        return _("wait for the limit to end, then continue with chapter {n}").format(
            n=state.current_chapter
        )
    left = len(state.open_chapters)
    return _("continue with chapter {n}; {left} chapters are left").format(
        n=state.current_chapter, left=left
    )


def _redone(seen: Look, state: BookState) -> str:
    half = seen.folder.half_chapters(state)
    if state.by_hand:
        text = _("the score of chapter {chapters}, whose text changed")
        return text.format(chapters=", ".join(map(str, state.by_hand)))
    if not half:
        return _("nothing")
    text = _("chapter {n}, if no agent is writing it any more; its text is kept beside it")
    return text.format(n=", ".join(map(str, half)))


def _lost(seen: Look, state: BookState, standing: Standing) -> str:
    if seen.lost:
        text = _("the files of chapters {chapters}: the agent writes them again")
        return text.format(chapters=", ".join(map(str, seen.lost)))
    if not standing.is_known and state.iteration:
        return _("Segue's records: whether the draft was already judged")
    return _("nothing")


def in_figures(state: BookState | None) -> dict[str, Any]:
    """The figures of the state view, for programs."""
    if state is None:
        return {}
    total, done = state.total_chapters, len(state.completed_chapters)
    return {
        "project": state.project_id,
        "total_chapters": total,
        "completed_chapters": list(state.completed_chapters),
        "failed_chapters": list(state.failed_chapters),
        "left": max(0, total - done - len(state.failed_chapters)),
        "percent": state.percent,
        "current_act": state.current_act,
        "current_chapter": state.current_chapter,
        "quality_scores": {str(n): score for n, score in sorted(state.quality_scores.items())},
        "mean_score": state.mean_score,
        "last_quality_score": state.last_quality_score,
        "circuit_breaker": {
            "failure_count": state.circuit_breaker.failure_count,
            "failure_reasons": list(state.circuit_breaker.failure_reasons),
            "triggered": state.circuit_breaker.triggered,
        },
        "pause_reason": state.pause_reason,
        "started_at": state.started_at,
        "last_checkpoint": state.last_checkpoint,
        "completed_at": state.completed_at,
    }
