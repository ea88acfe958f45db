"""The watcher: one loop for all panes. Nothing is polled; one timer serves the nearest instant."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from segue.core.leash import Leash
from segue.core.limits import Waits, holds_account
from segue.core.machines import Trigger, WorkerState
from segue.dialects.claude_transcript import TranscriptStop
from segue.dialects.limits import Extra
from segue.drivers.pane_agents import agent_of
from segue.drivers.pane_lock import PaneLock
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
from segue.errors import UserError
from segue.i18n import _
from segue.work.accounts import Accounts
from segue.work.watch.looks import Look, look_at
from segue.work.watch.resuming import Resuming
from segue.work.watch.stops import Stop, Verdict, is_known, judge, stop_of, wakes_at
from segue.work.watch.telling import Telling
from segue.work.watch.turns import Turns
from segue.work.watch.workers import Worker, Workers

SLEEP_S_MAX = 60.0  # clocks jump, machines sleep
LOCKED_S = 5.0  # between two tries to get a pane that another watcher holds
SURE_S = 0.3  # a screen may be caught while it is painted
DOUBTS_MAX = 1
PANES_SHOWN_MAX = 20
PROCESSES_S = 2.0  # between two looks at the processes of a pane without an agent


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the person wants watched, and how."""

    panes: frozenset[str] = frozenset()  # none: all that hold an agent
    agent: str | None = None
    accounts: Mapping[str, str] = field(default_factory=dict)
    is_dry: bool = False
    resume_text: str = "계속"
    recheck_s: float = 3.0
    max_sends: int = 3
    waits: Waits = field(default_factory=Waits)
    leash: Leash = field(default_factory=Leash)
    tz: tzinfo = UTC
    extra: Sequence[Extra] = ()


@dataclass(slots=True, eq=False)
class _Other:
    """A pane that holds no agent now."""

    pane: Pane
    host: Panes
    looked_s: float = float("-inf")
    timer: asyncio.TimerHandle | None = None


class Watcher:
    def __init__(
        self,
        hosts: Mapping[str, Panes],
        workers: Workers,
        accounts: Accounts,
        telling: Telling,
        wishes: Wishes,
        clock: Clock,
        account_of: Callable[[str], str],
        transcript_of: Callable[[int, datetime], TranscriptStop | None],
    ) -> None:
        self._hosts, self._store, self._accounts = hosts, workers, accounts
        self._telling, self._wishes, self._clock = telling, wishes, clock
        self._account_of, self._transcript_of = account_of, transcript_of
        self._turns = Turns(wishes.leash)
        self._others: dict[str, _Other] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._looking: set[asyncio.Task[None]] = set()
        self._failed: asyncio.Future[None] | None = None
        self.workers: dict[str, Worker] = {}
        self._resuming = Resuming(
            workers,
            telling,
            wishes.resume_text,
            wishes.recheck_s,
            wishes.max_sends,
            wishes.is_dry,
            look=self._read,
            has_agent=self._has_agent,
            settle=self._settle,
            again=self._again,
            resumed=self._resumed,
            blocked=self._blocked,
        )

    async def run(self, stop: asyncio.Event) -> None:
        """Watch until told to stop; what waits then is found again by the next watcher."""
        self._failed = asyncio.get_running_loop().create_future()
        async with AsyncExitStack() as stack:
            for host in self._hosts.values():
                await stack.enter_async_context(host)
            await self._check_named()
            tasks = [
                asyncio.create_task(self._listen(name, host)) for name, host in self._hosts.items()
            ]
            stopped = asyncio.create_task(stop.wait())
            ends: list[asyncio.Future[Any]] = [stopped, self._failed, *tasks]
            try:
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                if not stopped.done() and not self._failed.done():
                    for task in tasks:
                        task.result()  # a host never ends by itself
            finally:
                await self._end([*tasks, stopped])
            if self._failed.done():
                self._failed.result()
            self._failed.cancel()

    async def _check_named(self) -> None:
        """Panes that were named must be there."""
        missing = set(self._wishes.panes)
        known: list[str] = []
        for host in self._hosts.values() if missing else ():
            try:
                known += [pane.id for pane in await host.list()]
            except PaneError as error:
                raise UserError("no_terminal", str(error)) from error
        if missing := missing - set(known):
            message = _("there is no pane {panes}").format(panes=", ".join(sorted(missing)))
            hint = _("there are: {panes}").format(panes=", ".join(known[:PANES_SHOWN_MAX]) or "–")
            raise UserError("unknown_pane", message, hint=hint)

    async def _end(self, tasks: Sequence[asyncio.Task[Any]]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for other in self._others.values():
            if other.timer is not None:
                other.timer.cancel()
        resuming = [worker.resuming for worker in self.workers.values() if worker.resuming]
        running = [*tasks, *self._looking, *resuming]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        for worker in self.workers.values():
            if worker.lock is not None:
                worker.lock.release()

    # What happens to panes

    async def _listen(self, name: str, host: Panes) -> None:
        async for event in host.events():
            match event:
                case PaneAppeared(pane):
                    await self._appear(pane, host)
                case PaneChanged(pane_id):
                    self._change(pane_id)
                case PaneGone(pane_id):
                    self._others.pop(pane_id, None)
                    if worker := self.workers.get(pane_id):
                        self._lose(worker)
                case HostGone(reason):
                    self._telling.host(name, "gone", reason)
                    self._telling.line(f"[{name}] {reason}")
                    for worker in [w for w in self.workers.values() if w.host is host]:
                        self._lose(worker)
                    self._others = {k: o for k, o in self._others.items() if o.host is not host}
                case HostBack():
                    self._telling.host(name, "back")

    async def _appear(self, pane: Pane, host: Panes) -> None:
        named = self._wishes.panes
        if named and pane.id not in named:
            return
        agent = self._wishes.agent or agent_of(pane)
        if agent is None and not named:
            self._others[pane.id] = _Other(pane, host)
            return
        await self._adopt(pane, host, agent or "", is_named=bool(named))

    def _change(self, pane_id: str) -> None:
        worker = self.workers.get(pane_id)
        if worker is None:
            if other := self._others.get(pane_id):
                self._look_for_agent(other)
            return
        worker.changed.set()
        if worker.resuming is None:
            self._do(self._look(worker))

    def _look_for_agent(self, other: _Other) -> None:
        """A program may have been started in it: looked at now and then while it prints."""
        loop = asyncio.get_running_loop()
        if other.timer is not None:
            return
        if loop.time() - other.looked_s < PROCESSES_S:
            other.timer = loop.call_at(other.looked_s + PROCESSES_S, self._found_out, other)
        else:
            self._found_out(other)

    def _found_out(self, other: _Other) -> None:
        other.looked_s, other.timer = asyncio.get_running_loop().time(), None
        agent = self._wishes.agent or agent_of(other.pane)
        if agent is not None and self._others.get(other.pane.id) is other:
            del self._others[other.pane.id]
            self._do(self._adopt(other.pane, other.host, agent, is_named=False))

    async def _adopt(self, pane: Pane, host: Panes, agent: str, *, is_named: bool) -> None:
        account = self._wishes.accounts.get(pane.id) or self._account_of(agent)
        worker = self._store.adopt(pane, host, agent, account)
        worker.is_named = is_named
        self.workers[pane.id] = worker
        self._take(worker)
        self._turns.park(worker)
        if worker.sent_at is not None:  # whoever sent it died: the agent gets its time to react
            due = worker.sent_at + timedelta(seconds=self._wishes.recheck_s)
            if worker.wakes_at is not None and due > worker.wakes_at:
                worker.wakes_at = due
        self._telling.event(worker)
        await self._look(worker)

    def _take(self, worker: Worker) -> None:
        """Get the right to type into it, or try again later."""
        lock = worker.lock or PaneLock(worker.pane)
        worker.lock = lock
        worker.held_by = lock.take()
        if worker.held_by is not None and self._failed and not self._failed.done():
            loop = asyncio.get_running_loop()
            loop.call_later(LOCKED_S, self._take_again, worker)

    def _take_again(self, worker: Worker) -> None:
        if self.workers.get(worker.pane.id) is not worker or worker.is_ours:
            return
        self._take(worker)
        if worker.is_ours:
            self._do(self._adopt(worker.pane, worker.host, worker.agent, is_named=worker.is_named))

    def _lose(self, worker: Worker) -> None:
        if worker.resuming is not None:
            worker.resuming.cancel()
        self.workers.pop(worker.pane.id, None)
        if worker.is_ours:
            self._store.lose(worker)
        worker.state = WorkerState.DEAD
        if worker.lock is not None:
            worker.lock.release()
        self._telling.lost(worker)
        self._telling.event(worker)
        self._set_timer()

    # Looking

    async def _read(self, worker: Worker) -> Look:
        screen = await worker.host.screen(worker.pane.id)
        return look_at(screen, worker.agent, self._clock.now(), self._wishes.tz, self._wishes.extra)

    async def _look(self, worker: Worker) -> None:
        try:
            look = await self._read(worker)
        except PaneGoneError:
            return  # its host tells
        except PaneError as error:
            self._telling.line(f"[WARN] {worker.pane.id}: {error}")
            return
        if worker.resuming is None:
            self._settle(worker, look)

    def _settle(self, worker: Worker, look: Look) -> None:
        """Take what a look shows for what it is."""
        if not worker.is_ours:
            return
        if look.found.paused:
            worker.doubts = 0
            self._stopped(worker, look)
        elif self._is_sure(worker, look):
            self._seen(worker, look)
        self._set_timer()

    def _stopped(self, worker: Worker, look: Look) -> None:
        stop = stop_of(look.found)
        if not is_known(worker, stop):
            self._park(worker, stop)
        elif stop.is_self_resuming and worker.wakes_at is not None:
            self._leave_alone(worker, stop)
        elif worker.is_attended and not look.found.draft:
            worker.is_attended = False

    def _is_sure(self, worker: Worker, look: Look) -> bool:
        """A stop that is not to be seen may only be being painted: one more look decides."""
        was_stopped = worker.state in (WorkerState.PAUSED, WorkerState.ERROR)
        if not was_stopped or look.state is WorkerState.BUSY or worker.doubts >= DOUBTS_MAX:
            worker.doubts = 0
            return True
        worker.doubts += 1
        asyncio.get_running_loop().call_later(SURE_S, self._change, worker.pane.id)
        return False

    def _seen(self, worker: Worker, look: Look) -> None:
        if worker.step and worker.state is WorkerState.PAUSED and worker.wakes_at is not None:
            if look.state is not WorkerState.BUSY:
                return  # half done: its own turn goes on with it
            if worker.step != "text":
                return
        state = look.state
        if state is not WorkerState.BUSY and not self._has_agent(worker):
            state = WorkerState.DONE
        if worker.state is state:
            return
        was_stopped = worker.state is WorkerState.PAUSED
        was_sent = worker.sends > 0
        worker.is_attended = worker.is_shown = False
        if not self._store.see(worker, state):
            return
        if was_stopped and was_sent:
            self._opened(worker)
        elif was_stopped and state is not WorkerState.DONE:
            self._telling.came_first(worker)
        self._telling.event(worker)
        if state is WorkerState.DONE and not worker.is_named:
            self._let_go(worker)

    def _let_go(self, worker: Worker) -> None:
        """The agent has ended; perhaps another is started in the pane."""
        self.workers.pop(worker.pane.id, None)
        if worker.lock is not None:
            worker.lock.release()
        self._others[worker.pane.id] = _Other(worker.pane, worker.host)

    def _has_agent(self, worker: Worker) -> bool:
        """Whether what would be typed goes to the agent. Panes that were named are taken as is."""
        if worker.is_named or self._wishes.agent or worker.pane.pid is None:
            return True
        return agent_of(worker.pane) is not None

    # Stops

    def _park(self, worker: Worker, stop: Stop) -> None:
        now = self._clock.now()
        stop = self._from_transcript(worker, stop, now)
        windows_max = self._wishes.leash.max_windows
        verdict = judge(stop, now, windows=worker.windows, windows_max=windows_max)
        if verdict is Verdict.ASK:
            self._blocked(worker, stop)
            return
        if verdict is Verdict.LEAVE:
            self._leave_alone(worker, stop)
            return
        at = wakes_at(stop, now, self._wishes.waits, sends=0, jitter=random.random())  # noqa: S311
        windows = worker.windows + holds_account(stop.kind)
        worker.is_attended = worker.is_shown = False
        if not self._store.park(worker, wakes_at=at, windows=windows, **_values(stop)):
            return
        self._turns.park(worker)
        if holds_account(stop.kind) and not self._wishes.is_dry:
            self._accounts.park(worker.account, stop.kind, at)
        self._telling.parked(worker, is_guess=stop.resets_at is None)
        self._telling.event(worker, "park")

    def _from_transcript(self, worker: Worker, stop: Stop, now: datetime) -> Stop:
        """The agent's own record is believed before its screen."""
        if worker.agent != "claude" or worker.pane.pid is None or stop.is_self_resuming:
            return stop
        told = self._transcript_of(worker.pane.pid, now)
        if told is None or told.resets_at is None or told.kind != stop.kind:
            return stop
        is_other = stop.resets_at is None or told.resets_at != stop.resets_at
        return Stop(stop.kind, stop.evidence, told.resets_at, stop.is_minute or is_other, False)

    def _leave_alone(self, worker: Worker, stop: Stop) -> None:
        if self._store.park(worker, wakes_at=None, **_values(stop)):
            self._telling.left_alone(worker)
            self._telling.event(worker, Verdict.LEAVE)

    def _blocked(self, worker: Worker, stop: Stop) -> None:
        if self._store.park(worker, cause=Trigger.ASK, wakes_at=None, **_values(stop)):
            self._telling.needs_person(worker)
            self._telling.event(worker, Verdict.ASK)

    # Going on

    def _again(self, worker: Worker, stop: Stop, is_refused: bool) -> None:
        """A try was in vain. Refused: it waits as for any limit; no reaction: at once."""
        now = self._clock.now()
        at = now
        if is_refused:
            jitter = random.random()  # noqa: S311 - it spreads, it hides nothing
            at = wakes_at(stop, now, self._wishes.waits, sends=worker.sends, jitter=jitter)
        self._store.note(worker, wakes_at=at, step="")
        self._telling.event(worker, "park")

    def _resumed(self, worker: Worker, look: Look) -> None:
        if self._store.see(worker, look.state):
            self._opened(worker)
            self._telling.event(worker)

    def _opened(self, worker: Worker) -> None:
        """It works again, so its account's limit is over."""
        self._telling.resumed(worker)
        self._turns.opened(worker.account, self._clock.now())
        self._accounts.reopen(worker.account)

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now = self._clock.now()
        at = self._turns.next_at(self.workers.values(), now)
        if at is not None:
            wait_s = min(max(0.0, (at - now).total_seconds()), SLEEP_S_MAX)
            self._timer = asyncio.get_running_loop().call_later(wait_s, self._wake)

    def _wake(self) -> None:
        self._timer = None
        for worker in self._turns.next_of(self.workers.values(), self._clock.now()):
            worker.resuming = asyncio.create_task(self._resume(worker))
        self._set_timer()

    async def _resume(self, worker: Worker) -> None:
        try:
            await self._resuming.run(worker)
        except PaneGoneError:
            self._lose(worker)
        except PaneError as error:
            self._telling.could_not_send(worker, error)
            self._store.note(worker, wakes_at=self._clock.now() + timedelta(seconds=10))
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - raised where the watcher is run
            self._fail(error)
        finally:
            worker.resuming = None
            self._set_timer()

    # By hand

    def hold(self, worker: Worker, *, is_held: bool) -> None:
        """A person wants it left alone, or not any more."""
        self._store.note(worker, is_held=is_held)
        self._telling.event(worker, "hold" if is_held else "release")
        self._set_timer()

    def wake(self, worker: Worker) -> None:
        """A person takes the limit to be over."""
        if worker.state is WorkerState.PAUSED:
            self._store.note(worker, wakes_at=self._clock.now(), is_held=False)
            worker.is_attended = worker.is_shown = False
            self._set_timer()

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._looking.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._looking.discard(task)
        if not task.cancelled() and (error := task.exception()):
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        if self._failed is not None and not self._failed.done():
            self._failed.set_exception(error)


def _values(stop: Stop) -> dict[str, Any]:
    return {"kind": stop.kind, "evidence": stop.evidence, "resets_at": stop.resets_at}
