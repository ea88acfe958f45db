"""Agents in terminals that people started: a run there is typed, not spawned.

The executor finds panes that hold an agent, takes the lock of each, and reads its screen whenever
it printed something. What it reads comes out through one inbox, like what a process says. `begin`
types a prompt, once (`pane_typing.py`); how that came out is a happening, too. Whoever is above
knows jobs and what people call them, no process and no terminal.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any

from segue.dialects.frames import agent_shown, is_at_shell
from segue.dialects.limits import Extra
from segue.dialects.records import Record
from segue.drivers.agent_records import KEEPERS
from segue.drivers.pane_agents import agent_of, may_hide_agent
from segue.drivers.pane_lock import LockHolder, PaneLock
from segue.drivers.panes import (
    HostBack,
    HostGone,
    Pane,
    PaneAppeared,
    PaneChanged,
    PaneError,
    PaneGone,
    PaneGoneError,
    Panes,
)
from segue.engine.clock import Clock
from segue.engine.executors import (
    Broke,
    Due,
    Ended,
    Found,
    Happening,
    HostChanged,
    Shown,
    Typed,
    Unreadable,
)
from segue.engine.executors.pane_discovery import FoundAgent, PaneDiscovery, agent_in
from segue.engine.executors.pane_screen import ScreenReading, read_screen, with_record
from segue.engine.executors.pane_typing import ENTER_AFTER_S, Prompt, TypingLog, type_prompt
from segue.engine.inbox import Inbox

LOCKED_S = 5.0  # between two tries to get a pane that another owner holds


@dataclass(frozen=True, slots=True)
class ScreenRules:
    """How screens are read. `record_of`: what the agent below a process has written down itself."""

    tz: tzinfo = UTC
    patterns: Sequence[Extra] = ()
    record_of: Callable[[int, datetime], Record | None] = lambda pid, now: None


@dataclass(slots=True, eq=False)
class _Held:
    """A pane with an agent. `is_by_screen`: no process shows the agent, only what it draws; at the
    last look it was drawn there (`is_framed`), or a shell waited (`is_at_shell`)."""

    job: str
    pane: Pane
    host: Panes
    agent: str
    is_by_screen: bool
    lock: PaneLock
    holder: LockHolder | None = None
    is_framed: bool = True
    is_at_shell: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    typing: asyncio.Task[None] | None = None

    @property
    def found(self) -> FoundAgent:
        return FoundAgent(self.agent, self.is_by_screen)


class PaneExecutor:
    """`named`: only these panes, whatever runs in them; none: all that hold an agent. `agent`:
    whose screens these are, if not what runs in them."""

    def __init__(
        self,
        hosts: Mapping[str, Panes],
        clock: Clock,
        rules: ScreenRules,
        *,
        named: frozenset[str] = frozenset(),
        agent: str | None = None,
    ) -> None:
        self._hosts, self._clock, self._rules = hosts, clock, rules
        self._named, self._agent = named, agent
        self._inbox: Inbox[Happening] = Inbox(clock, Due())
        self._held: dict[str, _Held] = {}  # by what people call the pane
        self._discovery = PaneDiscovery(self._hold, self._attend)
        self._tasks: set[asyncio.Task[None]] = set()
        self._open = AsyncExitStack()

    async def open(self) -> None:
        """From now on panes are found. PaneError: a host with a named pane cannot be reached."""
        for host in self._hosts.values():
            await self._open.enter_async_context(host)

    def watch(self) -> None:
        for name, host in self._hosts.items():
            self._attend(self._listen(name, host))

    async def places(self) -> list[str]:
        """What people call the panes that are there now."""
        return [pane.id for host in self._hosts.values() for pane in await host.list()]

    async def close(self) -> None:
        self._discovery.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for held in self._held.values():
            held.lock.release()
        self._inbox.close()
        await self._open.aclose()

    # The inbox

    def notify(self, happening: Happening) -> None:
        self._inbox.notify(happening)

    def wake_at(self, at: datetime | None) -> None:
        self._inbox.wake_at(at)

    async def next(self, timeout_s: float | None = None) -> list[Happening]:
        return await self._inbox.next(timeout_s)

    # Jobs

    def begin(self, job: str, prompt: Prompt, log: TypingLog) -> None:
        """Type a prompt. No other event of this pane is emitted until that is done."""
        held = self._of(job)
        if held is not None and held.typing is None:
            held.typing = self._attend(self._type(held, prompt, log))

    def is_typing(self, job: str) -> bool:
        held = self._of(job)
        return held is not None and held.typing is not None

    def look_after(self, job: str, after_s: float) -> None:
        """Read its screen again, after so many seconds."""
        if held := self._of(job):
            asyncio.get_running_loop().call_later(after_s, self._change, held.pane.id)

    def release(self, job: str) -> None:
        """Its agent has ended. Another may be started in the pane, unless the pane was named: then
        it is kept as it is."""
        if (held := self._of(job)) is not None and not self._named:
            del self._held[held.pane.id]
            held.lock.release()
            self._discovery.add(held.pane, held.host)

    def announce_again(self) -> None:
        """Report every pane as if it was just found: the caller has lost its state."""
        for held in self._held.values():
            if held.typing is None:
                self._announce(held)
                self._attend(self._look(held))

    def _announce(self, held: _Held) -> None:
        holder = None if held.holder is None else held.holder.pid
        self.notify(Found(held.job, held.pane.id, held.agent, holder))

    def _of(self, job: str) -> _Held | None:
        return next((held for held in self._held.values() if held.job == job), None)

    async def _type(self, held: _Held, prompt: Prompt, log: TypingLog) -> None:
        try:
            outcome = await type_prompt(_HeldTerminal(held, self), prompt, log)
            happening: Happening = Typed(held.job, outcome)
        except PaneGoneError as error:
            self._lose(held, str(error))
            return
        except PaneError as error:
            happening = Unreadable(held.job, str(error), is_typing=True)
        finally:
            held.typing = None
        self.notify(happening)

    # What happens to panes

    async def _listen(self, name: str, host: Panes) -> None:
        async for event in host.events():
            match event:
                case PaneAppeared(pane):
                    await self._appear(pane, host)
                case PaneChanged(pane_id):
                    self._change(pane_id)
                case PaneGone(pane_id):
                    self._discovery.drop(pane_id)
                    if held := self._held.get(pane_id):
                        self._lose(held, "")
                case HostGone(reason):
                    self.notify(HostChanged(name, True, reason))
                    for held in [held for held in self._held.values() if held.host is host]:
                        self._lose(held, reason)
                    self._discovery.drop_host(host)
                case HostBack():
                    self.notify(HostChanged(name, False))

    async def _appear(self, pane: Pane, host: Panes) -> None:
        if self._named and pane.id not in self._named:
            return
        found = FoundAgent(self._agent) if self._agent else await agent_in(pane, host)
        if found is None and not self._named:
            self._discovery.add(pane, host)
            return
        await self._hold(pane, host, found or FoundAgent(""))

    async def _hold(self, pane: Pane, host: Panes, found: FoundAgent) -> None:
        """Get the right to type into it, or try again later; report it, and its screen."""
        lock = PaneLock(pane)
        held = _Held(job_id(pane), pane, host, found.agent, found.is_by_screen, lock, lock.take())
        self._held[pane.id] = held
        self._announce(held)
        if held.holder is not None:
            self._attend(self._take_later(held))
        await self._look(held)

    async def _take_later(self, held: _Held) -> None:
        while held.holder is not None and self._held.get(held.pane.id) is held:
            await asyncio.sleep(LOCKED_S)
            held.holder = held.lock.take()
        if self._held.get(held.pane.id) is held:
            held.lock.release()  # found again: the other owner may have changed its row
            await self._hold(held.pane, held.host, held.found)

    def _lose(self, held: _Held, reason: str) -> None:
        if self._held.get(held.pane.id) is held:
            del self._held[held.pane.id]
        if held.typing is not None and held.typing is not asyncio.current_task():
            held.typing.cancel()
        held.lock.release()
        self.notify(Ended(held.job, None, error=reason))

    def _change(self, pane_id: str) -> None:
        held = self._held.get(pane_id)
        if held is None:
            self._discovery.change(pane_id)
            return
        held.changed.set()
        if held.typing is None:
            self._attend(self._look(held))

    async def _look(self, held: _Held) -> None:
        try:
            reading = await self.read(held)
        except PaneGoneError:
            return  # its host tells
        except PaneError as error:
            self.notify(Unreadable(held.job, str(error)))
            return
        if held.typing is None and self._held.get(held.pane.id) is held:
            self.notify(Shown(held.job, reading, self._has_ended(held)))

    async def read(self, held: _Held) -> ScreenReading:
        held.changed.clear()
        screen = await held.host.screen(held.pane.id)
        now, rules = self._clock.now(), self._rules
        reading = read_screen(screen, held.agent, now, rules.tz, rules.patterns)
        if held.is_by_screen:
            has_menu = reading.found.menu is not None
            held.is_framed = has_menu or agent_shown(screen) == held.agent
            held.is_at_shell = is_at_shell(screen)
        if held.agent in KEEPERS and held.pane.pid is not None and _may_stand(reading):
            record = rules.record_of(held.pane.pid, now)
            reading = reading if record is None else with_record(reading, record)
        return reading

    def has_agent(self, held: _Held) -> bool:
        """Whether what would be typed goes to the agent. Panes that were named are taken as is."""
        if self._named or self._agent:
            return True
        if agent_of(held.pane) is not None:
            return True
        return held.is_by_screen and held.is_framed and may_hide_agent(held.pane)

    def _has_ended(self, held: _Held) -> bool:
        """Whether the agent is not there any more. One that is known by its screen alone may show
        something else for a while."""
        if self.has_agent(held):
            return False
        if not held.is_by_screen:
            return True
        return held.is_at_shell or not may_hide_agent(held.pane)

    def now(self) -> datetime:
        return self._clock.now()

    def _attend(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            self.notify(Broke("", error))


class _HeldTerminal:
    """A pane as `type_prompt` sees it."""

    shows_typing = True
    enter_after_s = ENTER_AFTER_S

    def __init__(self, held: _Held, executor: PaneExecutor) -> None:
        self._held, self._executor = held, executor

    def now(self) -> datetime:
        return self._executor.now()

    def has_agent(self) -> bool:
        return self._executor.has_agent(self._held)

    async def read(self) -> ScreenReading:
        return await self._executor.read(self._held)

    async def send_text(self, text: str) -> None:
        await self._held.host.send_text(self._held.pane.id, text)

    async def send_key(self, key: str) -> None:
        self._held.changed.clear()
        await self._held.host.send_key(self._held.pane.id, key)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def changed(self, within_s: float) -> None:
        try:
            async with asyncio.timeout(within_s):
                await self._held.changed.wait()
        except TimeoutError:
            return


def _may_stand(reading: ScreenReading) -> bool:
    """Whether the agent does not work: then its record may say why."""
    return reading.limit is not None or reading.found.state in ("idle", "unknown")


def job_id(pane: Pane) -> str:
    """The same for the same pane, and for no other: numbers are given again by a new server."""
    server = hashlib.sha256(pane.socket.encode()).hexdigest()[:12]
    return f"{pane.host}:{server}:{pane.id}:{pane.pid or pane.tty}"
