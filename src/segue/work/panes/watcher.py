"""The watcher: one loop for all panes. Nothing is polled; one timer serves the nearest instant."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from typing import Any

from segue.core.limits import holds_account
from segue.core.machines import PaneState
from segue.dialects.claude_transcript import TranscriptStop
from segue.dialects.frames import agent_shown, is_at_shell
from segue.drivers.pane_agents import agent_of, may_hide_agent
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
from segue.engine.accounts import Accounts
from segue.engine.alarm import Alarm
from segue.engine.clock import Clock
from segue.errors import UserError
from segue.i18n import _
from segue.work.panes.finding import Finding, Found, agent_in
from segue.work.panes.messages import Telling
from segue.work.panes.options import CommandOptions
from segue.work.panes.pane_gates import NEEDS_PERSON
from segue.work.panes.resuming import Resuming
from segue.work.panes.screen_look import Look, look_at
from segue.work.panes.stop_handling import Keeping
from segue.work.panes.stops import Verdict
from segue.work.panes.workers import Also, Worker, Workers

LOCKED_S = 5.0  # between two tries to get a pane that another watcher holds
AGAIN_S = 10.0  # after a pane could not be reached
PANES_SHOWN_MAX = 20


class Watcher:
    """`account_of`: the account of an agent, by its name."""

    def __init__(
        self,
        hosts: Mapping[str, Panes],
        workers: Workers,
        accounts: Accounts,
        telling: Telling,
        wishes: CommandOptions,
        clock: Clock,
        *,
        account_of: Callable[[str], str],
        transcript_of: Callable[[int, datetime], TranscriptStop | None],
    ) -> None:
        self._hosts, self._store, self._accounts = hosts, workers, accounts
        self._telling, self._wishes, self._clock = telling, wishes, clock
        self._account_of = account_of
        self._finding = Finding(self._adopt, self._do)
        self._alarm = Alarm(clock, self._wake)
        self._tasks: set[asyncio.Task[None]] = set()
        self._over = asyncio.Event()
        self._error: BaseException | None = None
        self.workers: dict[str, Worker] = {}
        self.remind: Callable[[], datetime | None] = lambda: None  # of what waits for a person
        self.on_adopted: Callable[[], None] = lambda: None  # people may want something of it
        self._keeping = Keeping(
            workers,
            accounts,
            telling,
            wishes,
            clock,
            transcript_of=transcript_of,
            has_agent=self._has_agent,
            has_ended=self._has_ended,
            mates_of=self._mates_of,
            look_after=self._look_after,
        )
        self._resuming = Resuming(workers, telling, wishes, self._keeping, self._read)

    async def run(self) -> None:
        """Watch until told to stop; what waits then is found again by the next watcher."""
        async with AsyncExitStack() as stack:
            for host in self._hosts.values():
                await stack.enter_async_context(host)
            await self._check_named()
            for name, host in self._hosts.items():
                self._do(self._listen(name, host))
            try:
                await self._over.wait()
            finally:
                await self._end()
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        self._over.set()

    async def _check_named(self) -> None:
        """Panes that were named must be there."""
        named = self._wishes.panes
        known: list[str] = []
        for host in self._hosts.values() if named else ():
            try:
                known += [pane.id for pane in await host.list()]
            except PaneError as error:
                hint = _("start it first; another server of tmux: --tmux-socket PATH")
                raise UserError("no_terminal", str(error), hint=hint) from error
        if missing := named - set(known):
            message = _("there is no pane {panes}").format(panes=", ".join(sorted(missing)))
            hint = _("there are: {panes}").format(panes=", ".join(known[:PANES_SHOWN_MAX]) or "–")
            raise UserError("unknown_pane", message, hint=hint)

    async def _end(self) -> None:
        self._finding.close()
        self._alarm.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for worker in self.workers.values():
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
                    self._finding.drop(pane_id)
                    if worker := self.workers.get(pane_id):
                        self._lose(worker)
                case HostGone(reason):
                    self._telling.host(name, "gone", reason)
                    for worker in [w for w in self.workers.values() if w.host is host]:
                        self._lose(worker)
                    self._finding.drop_host(host)
                case HostBack():
                    self._telling.host(name, "back")

    async def _appear(self, pane: Pane, host: Panes) -> None:
        named = self._wishes.panes
        if named and pane.id not in named:
            return
        told = self._wishes.agent
        found = Found(told) if told else await agent_in(pane, host)
        if found is None and not named:
            self._finding.add(pane, host)
            return
        await self._adopt(pane, host, found or Found(""))

    async def _adopt(self, pane: Pane, host: Panes, found: Found) -> None:
        agent = found.agent
        account = self._wishes.accounts.get(pane.id) or self._account_of(agent)
        worker = self._store.adopt(pane, host, agent, account)
        worker.is_by_screen = found.is_by_screen
        self.workers[pane.id] = worker
        if worker.sent_at is not None and worker.wakes_at is not None:
            # Whoever sent it died: the agent gets its time to react.
            due = worker.sent_at + timedelta(seconds=self._wishes.recheck_s)
            worker.wakes_at = max(worker.wakes_at, due)
        self._keeping.adopted(worker)
        self._take(worker)
        await self._look(worker)
        if not worker.is_told:  # it is as it was
            self._telling.event(worker)
        self.on_adopted()

    def _take(self, worker: Worker) -> None:
        """Get the right to type into it, or try again later."""
        worker.held_by = worker.lock.take()
        if worker.held_by is not None:
            self._do(self._take_later(worker))

    async def _take_later(self, worker: Worker) -> None:
        while not worker.is_ours and self.workers.get(worker.pane.id) is worker:
            await asyncio.sleep(LOCKED_S)
            worker.held_by = worker.lock.take()
        if self.workers.get(worker.pane.id) is worker:
            worker.lock.release()  # read anew: the other one may have changed its row
            found = Found(worker.agent, worker.is_by_screen)
            await self._adopt(worker.pane, worker.host, found)

    def _lose(self, worker: Worker) -> None:
        self.workers.pop(worker.pane.id, None)
        if worker.resuming is not None:
            worker.resuming.cancel()
        self._keeping.gave_up(worker)
        if worker.is_ours:
            self._store.lose(worker)
        worker.state = PaneState.DEAD
        worker.lock.release()
        self._telling.lost(worker)
        self._telling.event(worker)
        self._set_timer()

    # Looking

    def _change(self, pane_id: str) -> None:
        worker = self.workers.get(pane_id)
        if worker is None:
            self._finding.change(pane_id)
            return
        worker.changed.set()
        if worker.resuming is None:
            self._do(self._look(worker))

    def _look_after(self, worker: Worker, after_s: float) -> None:
        asyncio.get_running_loop().call_later(after_s, self._change, worker.pane.id)

    async def _read(self, worker: Worker) -> Look:
        screen = await worker.host.screen(worker.pane.id)
        now, wishes = self._clock.now(), self._wishes
        look = look_at(screen, worker.agent, now, wishes.tz, wishes.extra)
        if worker.is_by_screen:
            is_menu = look.found.menu is not None
            worker.is_framed = is_menu or agent_shown(screen) == worker.agent
            worker.is_at_shell = is_at_shell(screen)
        return look

    async def _look(self, worker: Worker) -> None:
        try:
            look = await self._read(worker)
        except PaneGoneError:
            return  # its host tells
        except PaneError as error:
            self._telling.unreadable(worker, error)
            return
        if worker.resuming is None and self.workers.get(worker.pane.id) is worker:
            self._keeping.settle(worker, look)
            if worker.state is PaneState.DONE and not self._wishes.panes:
                self._let_go(worker)
            self._set_timer()

    def _has_agent(self, worker: Worker) -> bool:
        """Whether what would be typed goes to the agent. Panes that were named are taken as is."""
        if self._wishes.panes or self._wishes.agent:
            return True
        if agent_of(worker.pane) is not None:
            return True
        return worker.is_by_screen and worker.is_framed and may_hide_agent(worker.pane)

    def _has_ended(self, worker: Worker) -> bool:
        """Whether the agent is not there any more. One that is known by its screen alone may show
        something else for a while."""
        if self._has_agent(worker):
            return False
        if not worker.is_by_screen:
            return True
        return worker.is_at_shell or not may_hide_agent(worker.pane)

    def _mates_of(self, worker: Worker) -> list[Worker]:
        mates = self.workers.values()
        return [mate for mate in mates if mate.account == worker.account and mate is not worker]

    def _let_go(self, worker: Worker) -> None:
        """The agent has ended; perhaps another is started in the pane."""
        del self.workers[worker.pane.id]
        worker.lock.release()
        self._finding.add(worker.pane, worker.host)

    # Waking

    def _set_timer(self) -> None:
        if self._over.is_set():
            self._alarm.set(None)
            return
        now = self._clock.now()
        instants = (self._keeping.turns.next_at(self.workers.values(), now), self.remind())
        self._alarm.set(min((at for at in instants if at is not None), default=None))

    def _wake(self) -> None:
        workers, now = self.workers.values(), self._clock.now()
        for worker in self._keeping.turns.next_of(workers, now, is_dry=self._wishes.is_dry):
            worker.resuming = self._do(self._resume(worker))
        self._set_timer()

    async def _resume(self, worker: Worker) -> None:
        try:
            await self._resuming.run(worker)
        except PaneGoneError:
            worker.resuming = None
            self._lose(worker)
        except PaneError as error:
            self._telling.could_not_send(error)
            self._store.note(worker, wakes_at=self._clock.now() + timedelta(seconds=AGAIN_S))
        finally:
            worker.resuming = None
            if worker.proof is None:  # nothing was sent, or it does not react
                self._keeping.gave_up(worker)
            self._set_timer()

    # By hand

    def hold(self, worker: Worker, *, is_held: bool) -> None:
        """A person wants it left alone, or not any more."""
        self._store.note(worker, is_held=is_held)
        self._telling.event(worker, "hold" if is_held else "release")
        self._set_timer()

    def wake(self, worker: Worker, also: Also = tuple) -> bool:
        """A person takes the limit to be over, or has seen to what waiting could not fix. `also`:
        what changes in the same transaction. False: it is not stopped, or not ours."""
        is_given_up = worker.state in NEEDS_PERSON and worker.kind is not None
        if not worker.is_ours or not (worker.state is PaneState.PAUSED or is_given_up):
            return False
        now = self._clock.now()
        worker.is_woken = holds_account(worker.kind or "")
        self._accounts.wake(worker.account)
        if is_given_up:
            self._store.park(worker, wakes_at=now, is_held=False, also=also)
        else:
            self._store.note(worker, wakes_at=now, is_held=False, also=also)
        worker.is_attended = worker.is_shown = False
        self._set_timer()
        return True

    def park(self, worker: Worker, until: datetime, also: Also = tuple) -> None:
        """A person wants one that waits to wait until then."""
        self._store.note(worker, wakes_at=until, also=also)
        self._telling.event(worker, Verdict.PARK)
        self._set_timer()

    def _do(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            self._error = self._error or error
            self._over.set()
