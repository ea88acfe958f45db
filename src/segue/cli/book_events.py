"""What happens in a book, in words: one line for each event.

A book's steps (`ch2.write.5`, `ch2.judge.5`) are the engine's; people read of chapters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from segue.core.book import Pause
from segue.i18n import _, ngettext

Facts = Mapping[str, Any]
_STEP = re.compile(r"ch(\d+)\.(write|judge)\.\d+")


# Steps


def step_name(task: str) -> str:
    """A step as people call it; any other task keeps its name."""
    match = _STEP.fullmatch(task)
    if match is None:
        return task
    text = _("chapter {n}") if match[2] == "write" else _("the judge of chapter {n}")
    return text.format(n=match[1])


def is_step(facts: Facts) -> bool:
    return _STEP.fullmatch(str(facts.get("task"))) is not None


def named(facts: Facts) -> Facts:
    """The facts of a step with the name that people know it by."""
    return {**facts, "task": step_name(facts["task"])} if is_step(facts) else facts


def _begun(f: Facts) -> str | None:
    if ".judge." in f["task"]:
        return None  # the judge's verdict has an event of its own
    again = _(" (try {n})").format(n=f["attempt"]) if f["attempt"] > 1 else ""
    return f"▶ {f['title']}{again}"


# Steps are reported differently from tasks; the next event reports a step that succeeded.
STEPS: dict[str, Callable[[Facts], str | None]] = {
    "task_started": _begun,
    "task_completed": lambda f: None,
}


# Chapters


def score_in_words(score: float | None) -> str:
    return "-" if score is None else f"{round(score, 1):g}"


def judged(f: Facts) -> str | None:
    if f["score"] >= f["threshold"]:
        return None  # the next event reports the completion, with the score
    score, threshold = score_in_words(f["score"]), score_in_words(f["threshold"])
    if score == threshold:  # rounded, it would seem to be enough
        score, threshold = str(f["score"]), str(f["threshold"])
    text = _("⚖ chapter {n}: {score} points, needs {threshold}").format(
        n=f["chapter"], score=score, threshold=threshold
    )
    return f"{text}: {f['reasons'][0]}" if f["reasons"] else text


def completed(f: Facts) -> str:
    return _("✔ chapter {n} completed with {score} points ({done}/{total})").format(
        n=f["chapter"], score=score_in_words(f["score"]), done=f["completed"], total=f["total"]
    )


def failed(f: Facts) -> str:
    return _("✘ chapter {n} failed: {error}").format(n=f["chapter"], error=f["error"])


def skipped(f: Facts) -> str:
    return _("⊘ chapter {n} skipped: Segue wrote a placeholder").format(n=f["chapter"])


def tripped(f: Facts) -> str:
    cause = {
        "same_reason": _("the same reason three times"),
        "too_many_tries": _("more than five attempts"),
        "falling_scores": _("three falling scores"),
        "changed_by_hand": _("the judge rejects your own text"),
        "triggered": _("it had already tripped"),
    }.get(f["cause"], f["cause"])
    lines = [_("⛔ circuit breaker at chapter {n}: {cause}").format(n=f["chapter"], cause=cause)]
    return "\n".join([*lines, *(f"    - {reason}" for reason in reasons(f["reasons"]))])


def reasons(told: list[str] | tuple[str, ...]) -> list[str]:
    """Each reason once, with how often it occurred."""
    often = Counter(told)
    return [f"{reason} (×{n})" if n > 1 else reason for reason, n in often.items()]


def paused(f: Facts) -> str:
    if f["most"] is not None:
        text = _("⏸ paused: reached max_iterations ({n} writes)")
        return text.format(n=f["most"])
    kind, _colon, detail = str(f["why"]).partition(": ")
    if kind == Pause.JUDGE:
        return "⏸ " + judge_failed(detail)
    return _("⏸ paused: {why}").format(why=f["why"])


def judge_failed(why: str) -> str:
    return _(
        "the judge failed; Segue keeps the text and judges it when the book continues: {why}"
    ).format(why=why)


def wisdom_in_words(count: int) -> str:
    return ngettext(
        "{count} lesson learned so far",
        "{count} lessons learned so far",
        count,
    ).format(count=count)
