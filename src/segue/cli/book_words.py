"""A book in words: the box of an interrupted one, its state in full, its scores as a plot."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from segue.cli.book_events import score_in_words
from segue.cli.words import usage_in_words
from segue.core import cells
from segue.core.book import BookState
from segue.core.durations import format_duration
from segue.i18n import _
from segue.work.book.steps import BookSteps
from segue.work.source import Source

PLOT_ROWS_MAX = 40
PLOT_CELLS = 30
BARS = "▁▂▃▄▅▆▇█"
REASONS_SHOWN = 5


def interrupted(state: BookState, wisdom: int, half: list[int]) -> str:
    """What was found, in a box."""
    lines = [
        _("project: {name}").format(name=state.project_id),
        _("progress: {completed}/{total} chapters completed").format(
            completed=len(state.completed_chapters), total=state.total_chapters
        ),
        _("place: act {act}, chapter {chapter}").format(
            act=state.current_act, chapter=state.current_chapter
        ),
        _("last work: {time}").format(time=state.last_checkpoint or "-"),
        _("mean score: {score}").format(score=score_in_words(state.mean_score)),
    ]
    if state.failed_chapters:
        lines.append(_("failed chapters: {chapters}").format(chapters=_list(state.failed_chapters)))
    if state.circuit_breaker.triggered:
        n = state.circuit_breaker.failure_count
        lines.append(_("circuit breaker tripped: {n} failures").format(n=n))
    if half:
        lines.append(_("half a chapter: {chapters}").format(chapters=_list(half)))
    if wisdom:
        lines.append(_("{count} pieces of wisdom were gathered before").format(count=wisdom))
    return cells.box(_("Interrupted writing found"), lines)


def in_full(state: BookState) -> str:
    """The state view: progress, quality, time, what is completed."""
    total, done = state.total_chapters, len(state.completed_chapters)
    breaker = state.circuit_breaker
    reasons = ", ".join(dict.fromkeys(breaker.failure_reasons[-REASONS_SHOWN:])) or "-"
    lines = [
        _("-- progress --"),
        _("total: {n} chapters").format(n=total),
        _("completed: {n} chapters").format(n=done),
        _("failed: {n} chapters").format(n=len(state.failed_chapters)),
        _("left: {n} chapters").format(n=max(0, total - done - len(state.failed_chapters))),
        _("done: {percent}%").format(percent=round(100 * done / total) if total else 0),
        "",
        _("-- quality --"),
        _("last score: {score}").format(score=score_in_words(state.last_quality_score)),
        _("circuit breaker: {state}").format(
            state=_("tripped") if breaker.triggered else _("normal")
        ),
        *_wrapped(_("reasons: {reasons}").format(reasons=reasons)),
        "",
        _("-- time --"),
        _("started: {time}").format(time=state.started_at or "-"),
        _("last checkpoint: {time}").format(time=state.last_checkpoint or "-"),
        _("elapsed: {time}").format(time=_elapsed(state)),
        "",
        _("-- completed chapters --"),
        *_wrapped(_list(state.completed_chapters) or "-"),
    ]
    return cells.box(_("The state in full"), lines)


def _wrapped(text: str, cells_max: int = 66) -> list[str]:
    lines, line = [], ""
    for part in text.split(" "):
        if line and cells.width(f"{line} {part}") > cells_max:
            lines.append(line)
            line = part
        else:
            line = f"{line} {part}".strip()
    return [*lines, line]


def _elapsed(state: BookState) -> str:
    try:
        start = datetime.fromisoformat(state.started_at or "")
        end = datetime.fromisoformat(state.last_checkpoint or state.last_updated or "")
        return format_duration(max(0, int((end - start).total_seconds())))
    except (ValueError, TypeError):
        return "-"


def _list(chapters: tuple[int, ...] | list[int]) -> str:
    return ", ".join(map(str, chapters))


def json_state(state: BookState) -> dict[str, Any]:
    """The figures of the state view, for programs."""
    total, done = state.total_chapters, len(state.completed_chapters)
    return {
        "project": state.project_id,
        "total_chapters": total,
        "completed_chapters": list(state.completed_chapters),
        "failed_chapters": list(state.failed_chapters),
        "left": max(0, total - done - len(state.failed_chapters)),
        "percent": round(100 * done / total) if total else 0,
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


# The end of a run


def summary_of(source: Source, facts: Mapping[str, Any], took_s: float) -> str:
    assert isinstance(source, BookSteps)
    return summary(facts, source.state, took_s)


def summary(facts: Mapping[str, Any], state: BookState, took_s: float) -> str:
    done, total = len(state.completed_chapters), state.total_chapters
    took = format_duration(took_s)
    lines = ["", f"{_headline(facts, state)}  {done}/{total}  {took}"]
    lines += plot(state)
    if state.failed_chapters:
        text = _("failed chapters: {chapters}").format(chapters=_list(state.failed_chapters))
        lines.append(f"  ✘ {text}")
    if state.mean_score is not None:
        lines.append("  " + _("mean score: {score}").format(score=score_in_words(state.mean_score)))
    used = facts["usage"]
    if used["input_tokens"] or used["output_tokens"]:
        lines.append("  ¤ " + usage_in_words(used))
    if facts["exit"] in (1, 3, 4, 130):
        lines += ["", _("Go on: segue resume --continue")]
    return "\n".join(lines)


def _headline(facts: Mapping[str, Any], state: BookState) -> str:
    match facts["exit"]:
        case 0 if state.completed_at:
            return _("✔ The book is written.")
        case 0:
            return _("✔ The chapter is written.")
        case 3:
            return _("❓ Waits for you.")
        case 4:
            return _("⏳ Parked.")
        case 130:
            return _("⏹ Stopped; the place is kept.")
        case _:
            return _("✘ Not every chapter is good enough.")


def plot(state: BookState) -> list[str]:
    """Each chapter's last score as a bar; of many chapters one small bar each."""
    scores = dict(sorted(state.quality_scores.items()))
    if not scores:
        return []
    if len(scores) > PLOT_ROWS_MAX:
        return ["  " + "".join(BARS[_level(score, len(BARS) - 1)] for score in scores.values())]
    wide = len(str(max(scores)))
    rows = []
    for chapter, score in scores.items():
        filled = _level(score, PLOT_CELLS)
        sign = "✔" if chapter in state.completed_chapters else "✘"
        bar = "█" * filled + "░" * (PLOT_CELLS - filled)
        rows.append(f"  {chapter:>{wide}} {bar} {score_in_words(score)} {sign}")
    return rows


def _level(score: float, most: int) -> int:
    return min(most, max(0, round(score / 100 * most)))
