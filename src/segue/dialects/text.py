"""Agents that speak plain text with markers (`command`, `shell`).

Markers count only on lines of their own and outside fences. A question needs the run's
nonce, which the prompt shows: text from a file that the agent merely prints cannot know
it. A sub-step's marker may come without it (all it can do is tick a box), but never with
a wrong one. Where the agent's own words are known as such (structured output), no nonce is
needed at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from segue.dialects.events import Asked, Event, Garbled, Said, StepDone
from segue.dialects.lines import Lines, plain

BLOCK_CHARS_MAX = 100_000
FIELD_CHARS_MAX = 10_000
CATEGORIES = ("business", "clarification", "choice", "confirmation")  # an agent may ask about

_STEP = re.compile(r"===\s*STEP\s+(\d{1,4})\s+DONE(?:\s+(\w+))?\s*===")
_FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")
_OPEN = re.compile(r"\[USER_QUESTION(?:\s+(\w+))?\]")
_CLOSE = "[/USER_QUESTION]"


class Text:
    """The dialect of one run. `is_own`: all of it is known to be the agent's own words."""

    def __init__(self, nonce: str, *, is_own: bool = False) -> None:
        self._nonces = (None, nonce) if is_own else (nonce,)
        self._nonce = nonce
        self._lines = Lines()
        self._fence = ""
        self._block: list[str] | None = None
        self._block_chars = 0

    def feed(self, data: bytes) -> Iterator[Event]:
        for line, is_whole in self._lines.feed(data):
            yield from self._line(plain(line), is_whole)

    def feed_err(self, data: bytes) -> Iterator[Event]:
        """What comes on either stream is read alike."""
        return self.feed(data)

    def close(self) -> Iterator[Event]:
        for line, is_whole in self._lines.close():
            yield from self._line(plain(line), is_whole)
        if self._block is not None:
            yield Garbled(self._block_chars)
            self._block = None

    def _line(self, text: str, is_whole: bool) -> Iterator[Event]:
        if self._block is not None:
            yield from self._in_block(text, is_whole)
            return
        if text.strip():
            yield Said(text)
        if not is_whole or self._is_fenced(text):
            return
        marker = text.strip()
        if step := _STEP.fullmatch(marker):
            if step[2] in (None, self._nonce):
                yield StepDone(int(step[1]))
        elif (opened := _OPEN.fullmatch(marker)) and opened[1] in self._nonces:
            self._block, self._block_chars = [], 0

    def _is_fenced(self, text: str) -> bool:
        fence = _FENCE.match(text)
        if not self._fence:
            self._fence = fence[1] if fence else ""
            return bool(fence)
        if fence and fence[1].startswith(self._fence) and not text.strip(" `~"):
            self._fence = ""
        return True

    def _in_block(self, text: str, is_whole: bool) -> Iterator[Event]:
        assert self._block is not None
        marker = text.strip() if is_whole else ""
        if marker == _CLOSE:
            block, self._block = self._block, None
            yield question(block)
            return
        if (opened := _OPEN.fullmatch(marker)) and opened[1] in self._nonces:
            yield Garbled(self._block_chars)  # the one before was never closed
            self._block, self._block_chars = [], 0
            return
        self._block_chars += len(text) + 1
        if self._block_chars > BLOCK_CHARS_MAX:
            self._block = None
            yield Garbled(self._block_chars)
            return
        self._block.append(text[:FIELD_CHARS_MAX])


def question(block: list[str]) -> Event:
    """A question block's lines → the question; garbled where it asks nothing."""
    fields: dict[str, str] = {}
    options: list[str] = []
    key = ""
    for line in block:
        item = re.match(r"\s*-\s+(.*)", line)
        field = re.match(r"\s*(category|question|options|default|required|deadline)\s*:(.*)", line)
        if field:
            key = field[1]
            fields[key] = field[2].strip()
        elif item and key == "options":
            options.append(item[1].strip())
        elif key == "question" and line.strip():
            fields["question"] = (fields["question"] + "\n" + line.strip())[:FIELD_CHARS_MAX]
    if fields.get("question", "").strip(" .…") == "":  # the prompt's own example, repeated
        return Garbled(sum(len(line) + 1 for line in block))
    category = fields.get("category", "")
    return Asked(
        question=fields["question"],
        options=tuple(options),
        preset=fields.get("default") or None,
        category=category if category in CATEGORIES else "clarification",
    )
