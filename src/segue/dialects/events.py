"""What an agent tells, whatever its dialect: one value for each thing that happened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Said:
    """A line of text for people."""

    text: str


@dataclass(frozen=True, slots=True)
class StepDone:
    """A sub-step of the task is done, by the agent's word."""

    n: int


@dataclass(frozen=True, slots=True)
class LimitHit:
    """The agent cannot go on now. `resets_at` where it named an instant, `wait_s` a length."""

    kind: str
    resets_at: datetime | None = None
    wait_s: float | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """The agent needs an answer from a person before it can go on."""

    question: str
    options: tuple[str, ...] = ()
    preset: str | None = None
    category: str = "clarification"


@dataclass(frozen=True, slots=True)
class Used:
    """What the run has consumed so far (the last report counts)."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Garbled:
    """Bytes that could not be understood; never silently dropped."""

    size: int


Event = Said | StepDone | LimitHit | Asked | Used | Garbled


class Dialect(Protocol):
    """Bytes in, events out, whatever the chunks."""

    def feed(self, data: bytes) -> Iterator[Event]: ...

    def close(self) -> Iterator[Event]:
        """No more bytes will come."""
        ...
