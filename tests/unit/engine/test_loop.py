"""The one loop: the order of a turn, its end, and errors that are waited out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

import pytest

from kit.clock import START, HandClock
from segue.engine.inbox import Inbox
from segue.engine.loop import Rest, drive


class Work:
    """Notes the steps of each turn; `rests` says how each turn ends."""

    def __init__(self, *rests: Rest, breaks: Exception | None = None) -> None:
        self.steps: list[str] = []
        self.rests = list(rests)
        self.breaks = breaks
        self.wait_s: float | None = None

    def take_in(self) -> None:
        self.steps.append("take in")

    def decide(self) -> datetime | None:
        self.steps.append("decide")
        return START

    def act(self) -> None:
        if (error := self.breaks) is not None:
            self.breaks = None
            raise error
        self.steps.append("act")

    def rest(self) -> Rest:
        return self.rests.pop(0)

    async def hear(self, happened: Sequence[str]) -> None:
        self.steps += happened

    async def outlast(self, error: Exception) -> None:
        if isinstance(error, ValueError):
            raise error
        self.steps.append(f"waited for {error}")


TURN = ["take in", "decide", "act"]


def run(work: Work, *told: str) -> list[str]:
    async def drive_it() -> None:
        inbox = Inbox[str](HandClock(), "due")
        for one in told:
            inbox.notify(one)
        await drive(work, inbox)

    asyncio.run(drive_it())
    return work.steps


def test_a_turn_ends_with_what_happens() -> None:
    """Take in, decide, act, then wait; the instant that was decided on rings."""
    work = Work(Rest.WAIT, Rest.WAIT, Rest.OVER)
    assert run(work, "ended") == [*TURN, "ended", *TURN, "due", *TURN]


def test_a_turn_that_changed_something_is_followed_by_another() -> None:
    """Nobody waits for anything in between."""
    assert run(Work(Rest.AGAIN, Rest.OVER), "ended") == [*TURN, *TURN]


def test_an_error_that_the_work_waits_out_ends_nothing() -> None:
    """The next turn begins from the tables."""
    work = Work(Rest.OVER, breaks=OSError("a full disk"))
    assert run(work) == ["take in", "decide", "waited for a full disk", *TURN]


def test_any_other_error_ends_the_loop() -> None:
    """It is raised as it was."""
    with pytest.raises(ValueError, match="a mistake"):
        run(Work(Rest.OVER, breaks=ValueError("a mistake")))
