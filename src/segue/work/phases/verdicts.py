"""The verdict of a reviewer, in what it said. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

_LINE = re.compile(r"\s*VERDICT:\s*(PASS|FAIL)\b\s*[:.–-]?\s*(.*)", re.IGNORECASE)
REASONS_MAX = 50
LINES_ABOVE = 30
REASON_CHARS_MAX = 2_000


@dataclass(frozen=True, slots=True)
class Verdict:
    is_pass: bool
    reasons: tuple[str, ...] = ()


def verdict_in(lines: Iterable[str]) -> Verdict | None:
    """The last verdict counts; None where there is none at all."""
    text = "\n".join(lines)
    found = _in_json(text)
    return _by_line(text.splitlines()) if found is None else found


def _by_line(lines: list[str]) -> Verdict | None:
    """A line says it; why, it says itself, or what stands above it."""
    for at in range(len(lines) - 1, -1, -1):
        if match := _LINE.fullmatch(lines[at]):
            told = [line.strip() for line in lines[max(0, at - LINES_ABOVE) : at] if line.strip()]
            reason = match[2].strip() or "\n".join(told)[-REASON_CHARS_MAX:]
            return Verdict(match[1].upper() == "PASS", (reason,) if reason else ())
    return None


def _in_json(text: str) -> Verdict | None:
    """The last JSON object that has a verdict, also over several lines or in a fence."""
    decoder = json.JSONDecoder()
    for start in reversed([found.start() for found in re.finditer(r"\{", text)][-200:]):
        try:
            value, _end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and value.get("verdict") in ("pass", "fail"):
            reasons = value.get("reasons")
            told = [str(r)[:REASON_CHARS_MAX] for r in reasons] if isinstance(reasons, list) else []
            return Verdict(value["verdict"] == "pass", tuple(told[:REASONS_MAX]))
    return None
