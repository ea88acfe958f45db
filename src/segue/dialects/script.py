"""What the scripted agent says: plain lines, and `@segue {json}` for everything else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from segue.dialects.events import (
    Asked,
    DependencyAsked,
    ErrorReported,
    Event,
    Garbled,
    LimitHit,
    PhaseDone,
    Said,
    StepDone,
    TaskDone,
    Used,
)
from segue.dialects.lines import Lines, plain

PREFIX = "@segue "
WAIT_S_MAX = 366 * 86_400


class Script:
    """The dialect of one run of a scenario."""

    def __init__(self) -> None:
        self._lines = Lines()

    def feed(self, data: bytes) -> Iterator[Event]:
        for line, is_whole in self._lines.feed(data):
            yield from _line(plain(line), is_whole)

    def feed_err(self, data: bytes) -> Iterator[Event]:
        """What comes on either stream is read alike."""
        return self.feed(data)

    def close(self) -> Iterator[Event]:
        for line, is_whole in self._lines.close():
            yield from _line(plain(line), is_whole)


def _line(text: str, is_whole: bool) -> Iterator[Event]:
    if is_whole and text.startswith(PREFIX):
        yield _event(text.removeprefix(PREFIX))
    elif text.strip():
        yield Said(text)


def _event(text: str) -> Event:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return Garbled(len(text))
    match told:
        case {"limit": str(kind), "wait_s": wait_s} if _is_wait(wait_s):
            return LimitHit(kind, wait_s=float(wait_s), text=kind)
        case {"ask": str(asked), **more}:
            preset = more.get("default")
            options = tuple(_texts(more.get("options")))
            return Asked(asked, options, preset if isinstance(preset, str) else None)
        case {"depend": str(type_), "name": str(name), **more}:
            return DependencyAsked(type_, name, str(more.get("description", "")))
        case {"phase": n} if n is None or type(n) is int:
            return PhaseDone(n)
        case {"done": True}:
            return TaskDone()
        case {"error": str(type_), "recovery": str(recovery), **more}:
            return ErrorReported(type_, str(more.get("message", "")), recovery)
        case {"step": n} if type(n) is int:
            return StepDone(n)
        case {"usage": {"input_tokens": int(read), "output_tokens": int(written), **more}}:
            cost = more.get("cost_usd")
            return Used(read, written, float(cost) if isinstance(cost, int | float) else None)
        case _:
            return Garbled(len(text))


def _is_wait(value: object) -> bool:
    return type(value) in (int, float) and 0 <= value <= WAIT_S_MAX  # type: ignore[operator]


def _texts(value: Any) -> list[str]:
    return [str(part) for part in value] if isinstance(value, list) else []
