"""tmux's control mode as a language: lines in, what they mean out; commands as lines.

Between two `%` lines of the same number stands what a command printed; other `%` lines tell what
happens. Output of panes comes as such lines too, whole, although all that matters here is whose
it is, how much, and whether it may be about a limit. A pane can show anything, also a line that
looks like tmux's own, and a command prints what a pane shows: so its number identifies a reply,
and a caller that sends several commands ends with a word that no pane can know (see `Ask` in
`tmux_client`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from segue.drivers.panes import PaneError
from segue.i18n import _

LINE_BYTES_MAX = 2**20
REPLY_BYTES_MAX = 2**24

_GUARD = re.compile(rb"%(begin|end|error) (\d+ \d+) (\d)")
# A word that messages about limits have: worth a look at once, however busy the pane is.
_CLUE = re.compile(
    rb"(?i:limit|quota|resets?\b|capacity|overload|exceed|exhaust|credit|billing|too (?:long|many)"
    rb"|expired|api.?key|log ?in|unauthori|try again|retry|\xed\x95\x9c\xeb\x8f\x84)"
)
_OURS = b"1"  # what a hook of the user prints has another flag
_SAFE = re.compile(rb"[A-Za-z0-9 ,./:=@_+\x80-\xff-]")


@dataclass(frozen=True, slots=True)
class Printed:
    """What a pane printed: how much, and whether it may be about a limit."""

    size: int
    has_clue: bool


@dataclass(frozen=True, slots=True)
class Output:
    """Panes that printed something, each once."""

    panes: Mapping[str, Printed]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something happened: `name` without its `%`, and the rest of the line."""

    name: str
    rest: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What one command printed."""

    lines: tuple[str, ...]
    is_error: bool


Heard = Output | Notice | Reply


class ControlReader:
    """Bytes in, events out, whatever the chunks; buffers are bounded.

    Of the panes that print, each is named once for each chunk.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._guard: bytes | None = None
        self._is_ours = False
        self._lines: list[bytes] = []
        self._reply_bytes = 0

    def feed(self, data: bytes) -> list[Heard]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LINE_BYTES_MAX:
            raise PaneError(_("tmux sent an endless line"))
        heard: list[Heard] = []
        printed: dict[bytes, list[bytes]] = {}
        for line in lines:
            if self._guard is None and line.startswith((b"%extended-output ", b"%output ")):
                printed.setdefault(line.split(b" ", 2)[1], []).append(line)
            elif event := self._take(line):
                heard.append(event)
        if printed:
            panes = {pane.decode("ascii", "replace"): _printed(printed[pane]) for pane in printed}
            heard.append(Output(panes))
        return heard

    def _take(self, line: bytes) -> Notice | Reply | None:
        if self._guard is not None:
            return self._take_within(line)
        if guard := _GUARD.fullmatch(line):
            if guard[1] == b"begin":
                self._guard, self._is_ours = guard[2], guard[3] == _OURS
                self._lines, self._reply_bytes = [], 0
            return None
        if line.startswith(b"%"):
            name, _blank, rest = line[1:].decode("utf-8", "replace").partition(" ")
            return Notice(name, rest)
        return None

    def _take_within(self, line: bytes) -> Reply | None:
        guard = _GUARD.fullmatch(line) if line.startswith((b"%end ", b"%error ")) else None
        if guard is None or guard[2] != self._guard:
            self._reply_bytes += len(line) + 1
            if self._reply_bytes > REPLY_BYTES_MAX:
                raise PaneError(_("tmux sent an endless reply"))
            self._lines.append(line)
            return None
        self._guard = None
        if not self._is_ours:
            return None
        lines = tuple(line.decode("utf-8", "replace") for line in self._lines)
        return Reply(lines, is_error=guard[1] == b"error")


def _printed(lines: list[bytes]) -> Printed:
    return Printed(sum(map(len, lines)), any(_CLUE.search(line) for line in lines))


def quoted(text: str) -> str:
    """A text as one word of a command, whatever is in it."""
    data = text.encode("utf-8", "replace")
    if b"\0" in data:
        raise PaneError(_("cannot send a NUL byte to tmux"))
    parts = (
        bytes((byte,)) if _SAFE.fullmatch(bytes((byte,))) else b"\\%03o" % byte for byte in data
    )
    return '"' + b"".join(parts).decode("utf-8") + '"'
