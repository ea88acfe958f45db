"""What a model can do with a request, before any wire format words it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from segue.testing.models.tools import Call


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens that an answer is said to have cost."""

    input: int
    output: int
    cached: int = 0
    """The part of the input that was cheaper."""


@dataclass(frozen=True, slots=True)
class Window:
    """How much of the five-hour limit is used, and when it resets."""

    used: float
    resets_in_s: int


@dataclass(frozen=True, slots=True)
class Refuse:
    """An error instead of an answer."""

    error: str
    wait_s: int | None


class End(Enum):
    """How a stream ends."""

    DONE = "done"
    STALLED = "stalled"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Speak:
    """An answer, in pieces, or the call of a tool."""

    pieces: tuple[str, ...] = ()
    call: Call | None = None
    pause_s: float = 0.0
    end: End | Refuse = End.DONE
    usage: Usage = Usage(0, 0)
    window: Window | None = None

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class Silence(Enum):
    """No answer at all."""

    HANG = "hang"
    SHUT = "shut"


Act = Speak | Refuse | Silence
