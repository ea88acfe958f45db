"""The one loop of every kind of work: take in, decide, commit, act, wait for what happens.

Whatever dies in between, the tables say what was meant, and the next start continues from there
(`recovery.py`). So the order matters: nothing is begun that is not committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import Enum
from typing import Protocol, TypeVar

Happening = TypeVar("Happening")
Happening_contra = TypeVar("Happening_contra", contravariant=True)


class Rest(Enum):
    """What is left to do when a turn is over."""

    AGAIN = "again"  # something has changed by it: decide again
    WAIT = "wait"
    OVER = "over"


class Driven(Protocol[Happening_contra]):
    """What the loop drives: a plan, the tasks of a server, watched panes."""

    def take_in(self) -> None:
        """What people changed, and what is due."""
        ...

    def decide(self) -> datetime | None:
        """Who starts, who wakes; when deciding again could change something by itself."""
        ...

    def act(self) -> None:
        """Commit what was decided, then let processes follow."""
        ...

    def rest(self) -> Rest: ...

    @property
    def wait_s(self) -> float | None:
        """How long to wait at most, where something can be done although nothing happens."""
        ...

    async def hear(self, happened: Sequence[Happening_contra]) -> None: ...

    async def outlast(self, error: Exception) -> None:
        """Return when the loop can continue after this; raise what cannot be waited out."""
        ...


class Inbox(Protocol[Happening]):
    """Where things happen; an executor is one."""

    def wake_at(self, at: datetime | None) -> None: ...

    async def next(self, timeout_s: float | None = None) -> list[Happening]: ...


async def drive(work: Driven[Happening], inbox: Inbox[Happening]) -> None:
    """Until the work is over."""
    while True:
        try:
            turn(work, inbox)
            match work.rest():
                case Rest.OVER:
                    return
                case Rest.WAIT:
                    await work.hear(await inbox.next(work.wait_s))
        except Exception as error:  # noqa: BLE001 - the work knows what can be waited out
            await work.outlast(error)


def turn(work: Driven[Happening], inbox: Inbox[Happening]) -> None:
    """One turn, without the wait at its end."""
    work.take_in()
    inbox.wake_at(work.decide())
    work.act()
