"""An engine in the hand of a test: nothing happens by itself."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from segue.engine.executors import Gone, Happening, Job, Look, Recovered
from segue.errors import AgentError


class HandEngine:
    """Notes what it is asked for."""

    def __init__(self) -> None:
        self.jobs: dict[str, Job] = {}
        self.begun: list[str] = []
        self.to_end: list[str] = []
        self.input_ended: list[str] = []
        self.sent: list[tuple[str, bytes]] = []
        self.inbox: list[Happening] = []
        self.wakes_at: datetime | None = None
        self.forgotten: list[str] = []
        self.paused: list[str] = []
        self.became: dict[str, Recovered] = {}  # what recovery finds; else it is gone
        self.seen: Look | None = Look(("claude", "sh"), 0, 1)
        self.is_deaf = False

    def begin(self, job: Job) -> None:
        self.jobs[job.id] = job
        self.begun.append(job.id)

    def recover(self, job: Job, *, stays_paused: bool = False) -> Recovered:
        self.jobs[job.id] = job
        return self.became.get(job.id, Gone())

    def end_soon(self, job: str, *, now: bool = False) -> None:
        self.to_end.append(job)

    def send(self, job: str, data: bytes) -> None:
        if self.is_deaf:
            raise AgentError("the agent no longer reads its input")
        self.sent.append((job, data))

    def unread(self, job: str) -> int:
        return 0

    def end_input(self, job: str) -> None:
        self.input_ended.append(job)

    def pause(self, job: str) -> None:
        self.paused.append(job)

    def go_on(self, job: str) -> None:
        self.paused.remove(job)

    def look(self, job: str) -> Look | None:
        return self.seen

    def end_unknown(self, job: str) -> None:
        self.to_end.append(job)

    async def unknown_ended(self) -> None:
        pass

    def forget(self, job: str) -> None:
        self.forgotten.append(job)

    def soon(self, action: Callable[[], None]) -> None:
        action()

    def sweep(self) -> None:
        pass

    def notify(self, happening: Happening) -> None:
        self.inbox.append(happening)

    def wake_at(self, at: datetime | None) -> None:
        self.wakes_at = at

    async def next(self, timeout_s: float | None = None) -> list[Happening]:
        raise AssertionError("the tests make the turns themselves")

    async def let_go(self) -> None:
        pass

    async def close(self) -> None:
        pass
