"""What happens in a book, in words: one line for each event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from segue.i18n import _


def score_in_words(score: float | None) -> str:
    return "-" if score is None else f"{round(score, 1):g}"


def judged(f: Mapping[str, Any]) -> str:
    text = _("⚖ chapter {n}: {score} of {threshold}").format(
        n=f["chapter"], score=score_in_words(f["score"]), threshold=score_in_words(f["threshold"])
    )
    return f"{text}: {f['reasons'][0]}" if f["reasons"] and f["score"] < f["threshold"] else text


def completed(f: Mapping[str, Any]) -> str:
    return _("✔ chapter {n} completed ({done}/{total})").format(
        n=f["chapter"], done=f["completed"], total=f["total"]
    )


def failed(f: Mapping[str, Any]) -> str:
    return _("✘ chapter {n} failed: {error}").format(n=f["chapter"], error=f["error"])


def tripped(f: Mapping[str, Any]) -> str:
    cause = {
        "same_reason": _("the same reason three times"),
        "too_many_tries": _("more than five tries"),
        "falling_scores": _("three falling scores"),
    }.get(f["cause"], f["cause"])
    lines = [_("⛔ circuit breaker at chapter {n}: {cause}").format(n=f["chapter"], cause=cause)]
    return "\n".join([*lines, *(f"    - {reason}" for reason in f["reasons"])])


def paused(f: Mapping[str, Any]) -> str:
    if f["most"] is not None:
        text = _("⏸ paused: {n} writes were made, as many as max_iterations allows")
        return text.format(n=f["most"])
    return _("⏸ paused: {why}").format(why=f["why"])
