"""What an agent tells by tool call: one JSON object a line, as `segue mcp` writes it.

Both directions are here, so that what is written is what is read. The file lies where
the agent can write, too: every value is checked again, cut to its bound and made plain.
The run's nonce stands in each line; a line without it was not written by our server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from segue.dialects.events import Asked, Event, Garbled, Said, StepDone
from segue.dialects.lines import LINE_BYTES_MAX, Lines, plain
from segue.dialects.text import CATEGORIES

ASK = "ask_question"
DEPENDENCY = "request_dependency"
STEP = "report_step"
PHASE = "complete_phase"
ERROR = "report_error"

FIELD_CHARS_MAX = 10_000
OPTIONS_MAX = 100
STEP_MAX = 9_999

Facts = Mapping[str, Any]

# Characters that change the order in which text is shown, or that nobody can see.
_UNSEEN = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]")


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


def plain_text(text: str) -> str:
    """Text of any number of lines without anything that acts on a terminal or hides."""
    lines = text.replace("\r\n", "\n").replace("\u2028", "\n").replace("\u2029", "\n").split("\n")
    return "\n".join(_UNSEEN.sub("", plain(part.encode("utf-8", "replace"))) for part in lines)


class Told:
    """The dialect of the file that one run's tool calls go to."""

    def __init__(self, nonce: str) -> None:
        self._nonce = nonce
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
        events = self._events(found) if is_whole else []
        yield from events or [Garbled(len(found))]

    def _events(self, found: bytes) -> list[Event]:
        try:
            told = json.loads(found)
        except (ValueError, RecursionError):
            return []
        match told:
            case {"tool": str(tool), "nonce": self._nonce, "arguments": dict(arguments)}:
                reader = _READERS.get(tool)
                return reader(arguments) if reader else []
            case _:
                return []


def _ask(arguments: Facts) -> list[Event]:
    question = _text(arguments, "question")
    if not question:
        return []
    options = _texts(arguments, "options")
    preset = _text(arguments, "default")
    category = arguments.get("category")
    return [
        Asked(
            question=question,
            options=options,
            preset=preset if preset and (not options or preset in options) else None,
            # Segue's own categories (a budget, a permission) are not an agent's to claim.
            category=category if category in CATEGORIES else "clarification",
        )
    ]


def _dependency(arguments: Facts) -> list[Event]:
    name = _text(arguments, "name")
    if not name:
        return []
    type_ = _text(arguments, "type")
    description = _text(arguments, "description")
    head = f"{name} ({type_})" if type_ else name
    return [
        Asked(
            question=f"{head}: {description}" if description else head,
            preset=_text(arguments, "default") or None,
            category="dependency",
        )
    ]


def _step(arguments: Facts) -> list[Event]:
    n = arguments.get("n")
    return [StepDone(n)] if type(n) is int and 0 < n <= STEP_MAX else []


def _phase(arguments: Facts) -> list[Event]:
    deliverables = [f"- {path}" for path in _texts(arguments, "deliverables")]
    return _said("\n".join([_text(arguments, "summary"), *deliverables]))


def _error(arguments: Facts) -> list[Event]:
    return _said(_text(arguments, "message"))


_READERS: dict[str, Callable[[Facts], list[Event]]] = {
    ASK: _ask,
    DEPENDENCY: _dependency,
    STEP: _step,
    PHASE: _phase,
    ERROR: _error,
}


def _said(text: str) -> list[Event]:
    return [Said(part) for part in text.split("\n") if part.strip()]


def _text(arguments: Facts, name: str) -> str:
    value = arguments.get(name)
    return plain_text(value[:FIELD_CHARS_MAX]).strip() if isinstance(value, str) else ""


def _texts(arguments: Facts, name: str) -> tuple[str, ...]:
    value = arguments.get(name)
    given = value[:OPTIONS_MAX] if isinstance(value, list) else []
    kept = [plain_text(part[:FIELD_CHARS_MAX]) for part in given if isinstance(part, str)]
    return tuple(" ".join(part.split()) for part in kept if part.strip())
