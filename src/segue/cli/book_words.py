"""A book in words: the box of an interrupted one, its state in full, its scores as a plot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from segue.cli.book_events import judge_failed, reasons, score_in_words, step_name, wisdom_in_words
from segue.cli.words import headline, limit_name, local_time, usage_in_words
from segue.core import cells
from segue.core.book import BookState, Pause, pause_of
from segue.core.durations import format_duration
from segue.engine.plan.plan_run import PlanRun
from segue.engine.plan.source import Source
from segue.i18n import _
from segue.work.book.steps import BookSteps

PLOT_ROWS_MAX = 40
PLOT_CELLS = 30
BARS = "▁▂▃▄▅▆▇█"
REASONS_SHOWN = 5
BOX_CELLS_MAX = 66  # of a line in a box


def interrupted(state: BookState, wisdom: int, half: list[int]) -> str:
    """What was found, in a box."""
    lines = [
        _("project: {name}").format(name=state.project_id),
        _("progress: {completed}/{total} chapters completed").format(
            completed=len(state.completed_chapters), total=state.total_chapters
        ),
        _("position: act {act}, chapter {chapter}").format(
            act=state.current_act, chapter=state.current_chapter
        ),
        _("last activity: {time}").format(time=state.last_checkpoint or "-"),
        _("average score: {score}").format(score=score_in_words(state.mean_score)),
    ]
    if state.failed_chapters:
        lines.append(_("failed chapters: {chapters}").format(chapters=_list(state.failed_chapters)))
    if state.circuit_breaker.triggered:
        n = state.circuit_breaker.failure_count
        lines.append(_("circuit breaker tripped: {n} failures").format(n=n))
    if half:
        lines.append(_("unfinished chapters: {chapters}").format(chapters=_list(half)))
    if why := _stopped(state):
        lines.append(why)
    if wisdom:
        lines.append(wisdom_in_words(wisdom))
    return _box(_("Interrupted writing found"), lines)


def _stopped(state: BookState) -> str | None:
    """Why it is paused, where no other line says it."""
    detail = (state.pause_reason or "").partition(": ")[2]
    match pause_of(state):
        case Pause.LIMIT:
            kind, _comma, until = detail.partition(", ")
            try:
                text = _("stopped by a limit: {kind}, until {time}")
                return text.format(kind=limit_name(kind), time=local_time(until))
            except ValueError:  # another tool wrote it
                return _("stopped by a limit: {kind}, until {time}").format(kind=kind, time=until)
        case Pause.QUESTION:
            return _("waiting for an answer: {text}").format(text=detail)
        case Pause.ITERATIONS:
            n = state.max_iterations
            return _("paused after {n} writes (max_iterations)").format(n=n)
        case Pause.JUDGE:
            return judge_failed(detail)
        case _:
            return None


def in_full(state: BookState) -> str:
    """The state view: progress, quality, time, what is completed."""
    total, done = state.total_chapters, len(state.completed_chapters)
    breaker = state.circuit_breaker
    why = "; ".join(reasons(breaker.failure_reasons[-REASONS_SHOWN:])) or "-"
    lines = [
        _("-- progress --"),
        _("chapters in total: {n}").format(n=total),
        _("chapters completed: {n}").format(n=done),
        _("chapters failed: {n}").format(n=len(state.failed_chapters)),
        _("chapters left: {n}").format(n=max(0, total - done - len(state.failed_chapters))),
        _("done: {percent}%").format(percent=state.percent),
        "",
        _("-- quality --"),
        _("last score: {score}").format(score=score_in_words(state.last_quality_score)),
        _("circuit breaker: {state}").format(
            state=_("tripped") if breaker.triggered else _("normal")
        ),
        _("reasons: {reasons}").format(reasons=why),
        "",
        _("-- time --"),
        _("started: {time}").format(time=state.started_at or "-"),
        _("last checkpoint: {time}").format(time=state.last_checkpoint or "-"),
        _("elapsed: {time}").format(time=_elapsed(state)),
        "",
        _("-- completed chapters --"),
        _list(state.completed_chapters) or "-",
    ]
    return _box(_("Full state"), lines)


def _box(title: str, lines: list[str]) -> str:
    return cells.box(title, [row for line in lines for row in _wrapped(cells.visible(line))])


def _wrapped(text: str) -> list[str]:
    """The text in lines that fit a box on a narrow terminal; a long word is broken."""
    lines, line = [], ""
    for part in _short_parts(text):
        longer = f"{line} {part}" if line else part
        if line and cells.width(longer) > BOX_CELLS_MAX:
            lines.append(line)
            longer = f"  {part}"
        line = longer
    return [*lines, line]


def _short_parts(text: str) -> Iterator[str]:
    for word in text.split(" "):
        part = ""
        for char in word:
            if cells.width(part + char) > BOX_CELLS_MAX - 2:
                yield part
                part = ""
            part += char
        yield part


def _elapsed(state: BookState) -> str:
    try:
        start = datetime.fromisoformat(state.started_at or "")
        end = datetime.fromisoformat(state.last_checkpoint or state.last_updated or "")
        return format_duration(max(0, int((end - start).total_seconds())))
    except (ValueError, TypeError):
        return "-"


def _list(chapters: tuple[int, ...] | list[int]) -> str:
    return ", ".join(map(str, chapters))


# The end of a run


def summary_of(source: Source[PlanRun], facts: Mapping[str, Any], took_s: float) -> str:
    assert isinstance(source, BookSteps)
    ledger = source.run.ledger
    waits = [
        _("{task} resumes at {time}").format(
            task=step_name(park.task), time=local_time(park.wakes_at.isoformat())
        )
        for park in ledger.parks.values()
    ]
    return summary(facts, source.state, took_s, waits)


def summary(
    facts: Mapping[str, Any], state: BookState, took_s: float, waits: list[str] | None = None
) -> str:
    done, total = len(state.completed_chapters), state.total_chapters
    took = format_duration(took_s)
    lines = ["", f"{_headline(facts, state)}  {done}/{total}  {took}"]
    lines += plot(state)
    if state.failed_chapters:
        text = _("failed chapters: {chapters}").format(chapters=_list(state.failed_chapters))
        lines.append(f"  ✘ {text}")
    if state.mean_score is not None:
        lines.append(
            "  " + _("average score: {score}").format(score=score_in_words(state.mean_score))
        )
    lines += [f"  ⏳ {wait}" for wait in waits or ()]
    used = facts["usage"]
    if used["input_tokens"] or used["output_tokens"]:
        lines.append("  ¤ " + usage_in_words(used))
    if facts["exit"] in (1, 3, 4, 130):
        lines += ["", *_ways_on(state)]
    return "\n".join(lines)


def _ways_on(state: BookState) -> list[str]:
    match pause_of(state):
        case Pause.ITERATIONS:
            text = _("Raise `max_iterations` in book.toml, then continue: segue resume --continue")
            return [text]
        case Pause.BREAKER:
            more = _("Or: segue write-all --on-tripped edit, replan or skip")
            return [_("To try once more: segue resume --continue"), more]
        case _:
            return [_("To continue: segue resume --continue")]


def _headline(facts: Mapping[str, Any], state: BookState) -> str:
    done = _("✔ The book is written.") if state.completed_at else _("✔ The chapter is written.")
    failed = _("✘ Not every chapter is good enough.")
    return headline(facts["exit"], done=done, failed=failed)


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
        sign = _sign(state, chapter)
        bar = "█" * filled + "░" * (PLOT_CELLS - filled)
        rows.append(f"  {chapter:>{wide}} {bar} {score_in_words(score)} {sign}")
    return rows


def _sign(state: BookState, chapter: int) -> str:
    if chapter in state.completed_chapters:
        return "✔"
    return "✘" if chapter in state.failed_chapters else "…"


def _level(score: float, most: int) -> int:
    return min(most, max(0, round(score / 100 * most)))
