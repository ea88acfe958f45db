"""The judge's word: the last JSON object with a score that it printed."""

from __future__ import annotations

import json
from typing import Any

from segue.core.book import Verdict
from segue.i18n import _

REASONS_MAX = 50
REASON_CHARS_MAX = 1_000
OBJECTS_MAX = 2_000  # as many of the last ones are looked at


def read(text: str) -> Verdict | str:
    """The verdict in a judge's output; a text: why there is none."""
    found = _last_object(text)
    if found is None:
        return _('the judge printed no {"score": …, "reasons": […]}')
    score, reasons = found["score"], found.get("reasons", [])
    is_number = isinstance(score, int | float) and not isinstance(score, bool)
    if not is_number or not 0 <= score <= 100:
        return _("the judge's score is not a number from 0 to 100: {score}").format(
            score=json.dumps(score)[:60]
        )
    if isinstance(reasons, str):
        reasons = [reasons]
    if not isinstance(reasons, list) or not all(isinstance(one, str) for one in reasons):
        return _("the judge's reasons are not a list of texts")
    kept = tuple(_clean(one) for one in reasons if one.strip())
    return Verdict(score, kept[:REASONS_MAX])


def _clean(reason: str) -> str:
    """Without half a surrogate pair: no table and no file takes one."""
    return reason.strip()[:REASON_CHARS_MAX].encode("utf-8", "replace").decode()


def _last_object(text: str) -> dict[str, Any] | None:
    decoder = json.JSONDecoder()
    found, at = None, _start(text)
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
            continue
        if isinstance(value, dict) and "score" in value:
            found = value
        at = text.find("{", end)
    return found


def _start(text: str) -> int:
    """Where the last objects begin; how much was printed before them does not matter."""
    at = len(text)
    for _object in range(OBJECTS_MAX):
        before = text.rfind("{", 0, at)
        if before < 0:
            break
        at = before
    return at if at < len(text) else -1


def dump(verdict: Verdict) -> str:
    """As the tables keep it."""
    told = {"score": verdict.score, "reasons": verdict.reasons, "text": verdict.text}
    return json.dumps(told, ensure_ascii=False)


def load(text: str) -> Verdict:
    told = json.loads(text)
    return Verdict(told["score"], tuple(told["reasons"]), told.get("text", ""))
