"""What an agent tells by tool call: one JSON object a line, as `segue mcp` writes it.

Both directions are here, so that what is written is what is read. The file lies where
the agent can write, too: every value is checked again, cut to its bound and made plain.
The run's nonce stands in each line; a line without it was not written by our server.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from segue.dialects import blocks
from segue.dialects.blocks import FIELD_CHARS_MAX, OPTIONS_MAX
from segue.dialects.events import ActRefused, Event, Garbled, PhaseDone, Said, StepDone, TaskDone
from segue.dialects.lines import LINE_BYTES_MAX, Lines
from segue.i18n import _

__all__ = ["FIELD_CHARS_MAX", "OPTIONS_MAX", "TooLong", "ToolChannel", "line"]

ASK = "ask_question"
DEPENDENCY = "request_dependency"
STEP = "report_step"
PHASE = "complete_phase"
TASK = "complete_task"
ERROR = "report_error"
REFUSED = "refused_act"  # no tool: what a command of Segue's refused to an agent in its sandbox

STEP_MAX = 9_999

Facts = Mapping[str, Any]


class TooLong(ValueError):  # noqa: N818 - the word says it
    """More than one line may hold."""

    def __init__(self, size: int) -> None:
        super().__init__(f"{size} bytes, at most {LINE_BYTES_MAX}")
        self.size = size


def line(tool: str, arguments: Facts, *, nonce: str, at: str) -> bytes:
    """One call as a line of the file, its end included."""
    told = {"tool": tool, "at": at, "nonce": nonce, "arguments": dict(arguments)}
    text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    data = text.encode("utf-8", "replace")
    if len(data) > LINE_BYTES_MAX:
        raise TooLong(len(data))
    return data + b"\n"


class ToolChannel:
    """The dialect of the file that one run's tool calls go to."""

    def __init__(self, nonce: str, *, reports: bool = True) -> None:
        """`reports`: it has Segue's tools; else only what was refused to it comes this way."""
        self._nonce = nonce
        self._readers = _READERS if reports else {REFUSED: _READERS[REFUSED]}
        self._lines = Lines()

    def feed(self, data: bytes) -> Iterator[Event]:
        for found, is_whole in self._lines.feed(data):
            yield from self._line(found, is_whole)

    def feed_err(self, data: bytes) -> Iterator[Event]:
        """Nothing comes this way; if it does, it is not ours."""
        if data:
            yield Garbled(len(data))

    def close(self) -> Iterator[Event]:
        for found, is_whole in self._lines.close():
            yield from self._line(found, is_whole)

    def _line(self, found: bytes, is_whole: bool) -> Iterator[Event]:
        if not found.strip():
            return
        events = self._events(found) if is_whole else ""
        yield from [Garbled(len(found), events)] if isinstance(events, str) else events

    def _events(self, found: bytes) -> list[Event] | str:
        """What a line tells; a text where it tells nothing, with the reason if it is ours."""
        try:
            told = json.loads(found)
        except (ValueError, RecursionError):
            return ""
        match told:
            case {"tool": str(tool), "nonce": self._nonce, "arguments": dict(arguments)}:
                events = self._readers[tool](arguments) if tool in self._readers else ""
                return f"{tool}: {events}" if isinstance(events, str) else events
            case _:
                return ""


def _step(arguments: Facts) -> list[Event] | str:
    n = _count(arguments.get("n"))
    return [StepDone(n)] if n else _("n is not a step number")


def _phase(arguments: Facts) -> list[Event] | str:
    given, said = arguments.get("phase"), _said(arguments)
    n = _count(given)
    if n is None and (given is not None or not said):
        return _("it names neither a phase nor the work done")
    return [*said, PhaseDone(n)]


def _task(arguments: Facts) -> list[Event] | str:
    return [*_said(arguments), TaskDone()]


def _refused(arguments: Facts) -> list[Event] | str:
    via, tried, at = (blocks.text_of(arguments, name) for name in ("via", "tried", "at"))
    return [ActRefused(via, tried, at)] if via and tried else ""


def _one(reader: Callable[[Facts], Event | str]) -> Callable[[Facts], list[Event] | str]:
    def read(arguments: Facts) -> list[Event] | str:
        told = reader(arguments)
        return told if isinstance(told, str) else [told]

    return read


_READERS: dict[str, Callable[[Facts], list[Event] | str]] = {
    ASK: _one(blocks.question),
    DEPENDENCY: _one(blocks.dependency),
    STEP: _step,
    PHASE: _phase,
    TASK: _task,
    ERROR: _one(blocks.error),
    REFUSED: _refused,
}


def _count(n: object) -> int | None:
    return n if type(n) is int and 0 < n <= STEP_MAX else None


def _said(arguments: Facts) -> list[Event]:
    """What was done, and where it lies, for people."""
    files = [f"- {path}" for path in blocks.texts_of(arguments, "deliverables")]
    lines = [*blocks.text_of(arguments, "summary").split("\n"), *files]
    return [Said(line) for line in lines if line.strip()]
