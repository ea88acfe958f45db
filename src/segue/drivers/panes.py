"""Panes that people have: what one is, what happens to it, what can be done with it.

The port to tmux and WezTerm. Whoever watches takes the events one after the other and reads a
screen when one says so. Everything is bounded in time and ends in a value or in one of the
errors below: "I could not read the screen" is never the same as "nothing changed".
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from segue.dialects.screen import Screen
from segue.errors import AgentError, Bug

TEXT_CHARS_MAX = 16_384

# What a key sends; the same for every host, so that a program cannot tell them apart.
KEYS = {
    "Enter": "\r",
    "Escape": "\x1b",
    "Tab": "\t",
    "Space": " ",
    "Backspace": "\x7f",
    "Up": "\x1b[A",
    "Down": "\x1b[B",
    "Right": "\x1b[C",
    "Left": "\x1b[D",
}


@dataclass(frozen=True, slots=True)
class Pane:
    """A pane at one moment. Its host does not always tell the root process or the program."""

    id: str  # `%3` of tmux, `wezterm:7`
    host: str  # `tmux` or `wezterm`
    socket: str  # of the server that has it
    rows: int
    columns: int
    title: str = ""
    pid: int | None = None
    command: str = ""
    tty: str = ""


@dataclass(frozen=True, slots=True)
class PaneAppeared:
    pane: Pane


@dataclass(frozen=True, slots=True)
class PaneChanged:
    """Output came since the last event of this pane; what it changed is for a look to tell."""

    id: str


@dataclass(frozen=True, slots=True)
class PaneGone:
    id: str


@dataclass(frozen=True, slots=True)
class HostGone:
    """The server cannot be reached, and with it all its panes are gone."""

    reason: str


@dataclass(frozen=True, slots=True)
class HostBack:
    """The server is there again; its panes appear again."""


PaneEvent = PaneAppeared | PaneChanged | PaneGone | HostGone | HostBack


class PaneError(AgentError):
    """Something could not be done with a pane; nothing was sent to it."""


class PaneGoneError(PaneError):
    """There is no such pane any more, or the program in it has ended."""


class HostGoneError(PaneError):
    """The server of the panes cannot be reached."""


class PaneSilentError(PaneError):
    """No answer came in time. What should have been sent may have arrived."""


class Panes(Protocol):
    """All panes of one host. Open it with `async with`; events come from then on.

    They begin with `PaneAppeared` for each pane that is there, or with `HostGone`.
    """

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    async def list(self) -> list[Pane]: ...

    def events(self) -> AsyncIterator[PaneEvent]:
        """What happens, in order; for one reader. Ends when the panes are closed."""
        ...

    async def screen(self, pane_id: str, *, history_lines: int = 0) -> Screen:
        """What the pane shows now, after at most so many lines that have scrolled off."""
        ...

    async def send_text(self, pane_id: str, text: str) -> None:
        """Type a text as it is; no key names, no bracketed paste, and no Enter behind it."""
        ...

    async def send_key(self, pane_id: str, key: str) -> None:
        """Press one of `KEYS`."""
        ...


class PaneEvents:
    """A queue of events that a slow reader cannot make grow: a pane is in it a few times at most.

    Changes of one pane that were not taken yet are merged. A pane that appears and goes before
    anybody looked never was. A host that goes takes what was waiting with it.
    """

    def __init__(self) -> None:
        self._waiting: dict[PaneEvent, None] = {}  # ordered, and each once
        self._arrived = asyncio.Event()
        self._is_closed = False

    def put(self, event: PaneEvent) -> None:
        match event:
            case PaneGone(pane_id):
                self._waiting.pop(PaneChanged(pane_id), None)
                for other in self._waiting:
                    if isinstance(other, PaneAppeared) and other.pane.id == pane_id:
                        del self._waiting[other]
                        return
            case HostGone():
                self._waiting.clear()
            case _:
                pass
        self._waiting[event] = None
        self._arrived.set()

    def close(self) -> None:
        """What is waiting can still be taken."""
        self._is_closed = True
        self._arrived.set()

    def __aiter__(self) -> PaneEvents:
        return self

    async def __anext__(self) -> PaneEvent:
        while not self._waiting:
            if self._is_closed:
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        event = next(iter(self._waiting))
        del self._waiting[event]
        return event


def check_text(text: str) -> None:
    """What is typed is text: a control character in it would press a key."""
    if len(text) > TEXT_CHARS_MAX:
        raise Bug(f"a text of {len(text)} characters is too long to be typed")
    for char in text:
        if (char < " " and char not in "\n\t") or "\x7f" <= char <= "\x9f":
            raise Bug(f"{char!r} is a key, not text")


def key_bytes(key: str) -> str:
    if key not in KEYS:
        raise Bug(f"there is no key {key!r}; there are: {', '.join(KEYS)}")
    return KEYS[key]
