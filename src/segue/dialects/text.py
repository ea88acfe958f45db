"""Agents that speak plain text with markers (`command`, `shell`).

Markers count only on lines of their own and outside fences. All but a sub-step's need the
run's nonce, which the prompt shows: text from a file that the agent merely prints cannot know
it. A sub-step's may come without it (all it can do is tick a box), but never with a wrong one.
Where the agent's own words are known as such (structured output), no nonce is needed at all;
there a plain marker that is indented like code is a quotation.

A block that is under way holds back what stands in it. It ends with its closing line, with the
next marker (the closing line was forgotten), at its bound, or when the caller's clock says that
nothing more came: `close_blocks`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from segue.dialects import blocks
from segue.dialects.blocks import BLOCK_CHARS_MAX, CATEGORIES, FIELD_CHARS_MAX
from segue.dialects.events import (
    BlockUnclosed,
    Event,
    Garbled,
    PhaseDone,
    Said,
    StepDone,
    TaskDone,
    Unsigned,
)
from segue.dialects.lines import TAKEN_OUT, Lines, last_lines, plain
from segue.i18n import _

__all__ = ["BLOCK_CHARS_MAX", "CATEGORIES", "FIELD_CHARS_MAX", "Text"]

INDENT_OF_CODE = 4
MARKER_CHARS_MAX = 200  # of one that does not count

MARKS = "=[`~"  # what a marker or a fence begins with
_STEP = re.compile(r"===\s*STEP\s+([0-9]{1,4})\s+DONE(?:\s+(\w+))?\s*===")
_DONE = re.compile(
    r"===\s*(?:PHASE\s+([1-9][0-9]{0,3})|CUSTOM\s+TASK)\s+COMPLETE(?:\s+(\w+))?\s*==="
)
_OPEN = re.compile(
    rf"\[({'|'.join(blocks.READERS)})(?:(_JSON)(?:\s+(\w+))?\](\s*\{{.*)?|(?:\s+(\w+))?\])"
)
SKIMMED_LINES = 5  # the last ones of a piece that is passed over: all that anybody could read
# What a line that matters has in it, and what of that is left without all other bytes.
_SIGNS = b"\n=[`~"
_OTHERS = bytes(byte for byte in range(256) if byte not in _SIGNS + TAKEN_OUT)
_COLOURS = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")
_MARKERS = (
    *((mark, mark) for mark in (b"===", b"```", b"~~~")),
    *((b"[", f"[{name}".encode()) for name in blocks.READERS),
)
# Tildes that are indented further are the underline of a traceback.
_FENCE = re.compile(r"(?:\s*(`{3,})(?=[^`]*$)| {0,3}(~{3,}))")


class _Fence:
    """Whether a line is quoted in a fence, the fence's own lines included."""

    def __init__(self) -> None:
        self.mark = ""

    def holds(self, text: str) -> bool:
        found = _FENCE.match(text)
        mark = (found[1] or found[2]) if found else ""
        if not self.mark:
            self.mark = mark
            return bool(mark)
        if mark.startswith(self.mark) and not text.strip(" `~"):
            self.mark = ""
        return True


@dataclass(slots=True)
class _Block:
    """A block under way."""

    name: str
    is_json: bool
    first: str = ""  # what stands behind the opening, of JSON
    lines: list[str] = field(default_factory=list)
    size: int = 0
    fence: _Fence = field(default_factory=_Fence)

    @property
    def full_name(self) -> str:
        return f"{self.name}_JSON" if self.is_json else self.name

    def end_of(self, marker: str, nonce: str) -> str | None:
        """What stands before the closing marker of a line that closes it."""
        for close in (f"[/{self.full_name}]", f"[/{self.full_name} {nonce}]"):
            if marker == close or (self.is_json and marker.endswith(close)):
                return marker.removesuffix(close)
        return None


class Text:
    """The dialect of one run. `is_own`: all of it is known to be the agent's own words."""

    def __init__(self, nonce: str, *, is_own: bool = False) -> None:
        self._nonces = (None, nonce) if is_own else (nonce,)
        self._nonce = nonce
        self._lines = Lines()
        self._fence = _Fence()
        self._block: _Block | None = None

    def feed(self, data: bytes) -> Iterator[Event]:
        for line, is_whole in self._lines.feed(data):
            text = plain(line)
            if is_whole and self._block is None:
                head = text.lstrip()[:1]
                if not head or head not in MARKS:  # nearly all, and some agents print very much
                    if head:
                        yield Said(text)
                    continue
            yield from self._line(text, is_whole)

    def skim(self, data: bytes) -> list[Event] | None:
        """Of output without any marker: its first line, which may have begun before, and its last
        ones. A line that matters has one of the markers in its bytes, unless something that is
        taken out of it stands in between."""
        first, last = data.find(b"\n") + 1, last_lines(data, SKIMMED_LINES)
        if not 0 < first <= last or self._block is not None:
            return None
        if _may_matter(self._lines.rest + data[:first]) or _may_matter(data[first:last]):
            return None
        return [*self.feed(data[:first]), *self.feed(data[last:])]

    def feed_err(self, data: bytes) -> Iterator[Event]:
        """What comes on either stream is read alike."""
        return self.feed(data)

    def close(self) -> Iterator[Event]:
        for line, is_whole in self._lines.close():
            yield from self._line(plain(line), is_whole)
        yield from self._unclosed()

    @property
    def has_open_block(self) -> bool:
        """Whether a block waits for its end, or a marker for that of its line."""
        if self._block is not None:
            return True
        return not self._fence.mark and self._found(plain(self._lines.rest)) is not None

    def close_blocks(self) -> Iterator[Event]:
        """Nothing more came for long: a marker without the end of its line counts, and a block
        without its end is given up."""
        if self.has_open_block:
            for line in self._lines.flush():
                yield from self._line(plain(line), True)
        yield from self._unclosed()

    def _unclosed(self) -> Iterator[Event]:
        block, self._block = self._block, None
        if block is not None:
            yield BlockUnclosed(block.full_name, block.size)

    def _line(self, text: str, is_whole: bool) -> Iterator[Event]:
        if self._block is not None:
            yield from self._in_block(self._block, text, is_whole)
            return
        if text.strip():
            yield Said(text)
        if not is_whole:
            found = self._found(text)
            if isinstance(found, _Block) and found.first and not self._fence.mark:
                yield Garbled(len(text), f"{found.full_name}: " + _("its line is too long"))
        elif not self._fence.holds(text):
            found = self._found(text, nonces=(None, *self._nonces))
            yield from self._begin(found)
            if found is None and (unsigned := self._unsigned(text)):
                yield unsigned

    def _begin(self, found: Event | _Block | None) -> Iterator[Event]:
        if isinstance(found, _Block):
            self._block = found
            if found.first:
                yield from self._in_block(found, found.first, True)
        elif found is not None:
            yield found

    def _found(self, text: str, nonces: tuple[str | None, ...] = ()) -> Event | _Block | None:
        """The marker that a line is, if it counts; `nonces`: those of a sub-step."""
        marker = text.strip()
        if not marker.startswith(("===", "[")):
            return None
        found: Event | _Block
        if step := _STEP.fullmatch(marker):
            nonce, found = step[2], StepDone(int(step[1]))
        elif done := _DONE.fullmatch(marker):
            nonce, found = done[2], PhaseDone(int(done[1])) if done[1] else TaskDone()
        elif opened := _OPEN.fullmatch(marker):
            nonce = opened[3] or opened[5]
            found = _Block(opened[1], bool(opened[2]), opened[4] or "")
        else:
            return None
        if nonce is None and _indent(text) >= INDENT_OF_CODE:
            return None
        allowed = nonces if nonces and isinstance(found, StepDone) else self._nonces
        return found if nonce in allowed else None

    def _unsigned(self, text: str) -> Unsigned | None:
        """What looks like a marker of an agent that does not know the nonce, or forgot it."""
        marker = text.strip()[:MARKER_CHARS_MAX]
        if None in self._nonces or _indent(text) >= INDENT_OF_CODE:
            return None
        if done := _DONE.fullmatch(marker):
            words = f"PHASE {done[1]}" if done[1] else "CUSTOM TASK"
            return Unsigned(marker, f"=== {words} COMPLETE {self._nonce} ===")
        if opened := _OPEN.fullmatch(marker):
            name = opened[1] + (opened[2] or "")
            return Unsigned(f"[{name}]", f"[{name} {self._nonce}]")
        return None

    def _in_block(self, block: _Block, text: str, is_whole: bool) -> Iterator[Event]:
        marker = text.strip() if is_whole else ""
        if (last := block.end_of(marker, self._nonce)) is not None:
            self._block = None
            yield blocks.read(
                block.name,
                [*block.lines, last] if last else block.lines,
                is_json=block.is_json,
                chars_max=FIELD_CHARS_MAX,
            )
            return
        if is_whole and not block.fence.holds(text) and (found := self._found(text)) is not None:
            yield from self._unclosed()
            yield from self._begin(found)
            return
        block.size += len(text) + 1
        if block.size > BLOCK_CHARS_MAX:
            self._block = None
            yield Garbled(block.size, f"{block.full_name}: " + _("it is too long"))
            return
        block.lines.append(text if block.is_json else text[:FIELD_CHARS_MAX])


def _may_matter(data: bytes) -> bool:
    """Whether there may be a marker or a fence in it. Very fast where there are few signs of it."""
    signs = data.translate(None, _OTHERS)
    if taken_out := signs.translate(None, _SIGNS):
        data = signs = _COLOURS.sub(b"", data)
        if taken_out.strip(b"\x1b") or b"\x1b" in data:
            return True
    return any(left in signs and marker in data for left, marker in _MARKERS)


def _indent(text: str) -> int:
    """How many columns stand empty before a line's text."""
    return len(text[: len(text) - len(text.lstrip())].expandtabs(4))
