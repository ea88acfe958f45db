"""The owner of the watched panes: the one loop (`engine/loop.py`) over the pane executor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from segue.core.decide import Snapshot, decide
from segue.core.machines import PaneState
from segue.drivers.panes import PaneError
from segue.engine import loop, outage
from segue.engine.accounts import Accounts
from segue.engine.clock import Clock
from segue.engine.executors import (
    ActsAdded,
    Broke,
    Ended,
    Found,
    Happening,
    HostChanged,
    Shown,
    StopWanted,
    Typed,
    Unreadable,
)
from segue.engine.executors.pane import PaneExecutor
from segue.engine.loop import Rest
from segue.engine.scheduler import Turn, carry_out, nearest
from segue.errors import UserError
from segue.i18n import _
from segue.work.panes.messages import PaneMessages
from segue.work.panes.options import CommandOptions
from segue.work.panes.pane_records import Also, PaneRecords
from segue.work.panes.policy import PanePolicy
from segue.work.panes.watched_pane import WatchedPane

PANES_SHOWN_MAX = 20


class Watcher:
    """`account_of`: the account of an agent, by its name. `remind` reminds people of what waits for
    them, and says when it is due again; `take_acts` takes in what people want; `keep_memory` puts
    back what was removed of Segue's records, and says so; `can_write`: the disk and the database
    take something."""

    def __init__(
        self,
        executor: PaneExecutor,
        records: PaneRecords,
        accounts: Accounts,
        messages: PaneMessages,
        options: CommandOptions,
        clock: Clock,
        *,
        account_of: Callable[[str], str],
    ) -> None:
        self._executor, self._records, self._accounts = executor, records, accounts
        self._messages, self._options, self._clock = messages, options, clock
        self._account_of = account_of
        self._panes: dict[str, WatchedPane] = {}  # by their jobs
        self._is_over = False
        self._policy = PanePolicy(
            self._panes, records, accounts, messages, options, clock, executor.look_after
        )
        self.remind: Callable[[], datetime | None] = lambda: None
        self.take_acts: Callable[[], None] = lambda: None
        self.keep_memory: Callable[[], str | None] = lambda: None
        self.can_write: Callable[[], bool] = lambda: True

    @property
    def panes(self) -> dict[str, WatchedPane]:
        """All that are watched, by what people call them."""
        return {pane.name: pane for pane in self._panes.values()}

    async def run(self) -> None:
        """Watch until told to stop; what waits then is found again by the next watcher."""
        try:
            await self._executor.open()
            await self._check_named()
            self._executor.watch()
            await loop.drive(self, self._executor)
        finally:
            await self._executor.close()

    def stop(self) -> None:
        self._executor.notify(StopWanted(now=False))

    async def _check_named(self) -> None:
        """Panes that were named must be there."""
        named = self._options.panes
        if not named:
            return
        try:
            known = await self._executor.places()
        except PaneError as error:
            hint = _("start it first; for another tmux server: --tmux-socket PATH")
            raise UserError("no_terminal", str(error), hint=hint) from error
        if missing := named - set(known):
            message = _("no such pane: {panes}").format(panes=", ".join(sorted(missing)))
            hint = _("available: {panes}").format(panes=", ".join(known[:PANES_SHOWN_MAX]) or "–")
            raise UserError("unknown_pane", message, hint=hint)

    # A turn of the loop

    wait_s = None

    def take_in(self) -> None:
        """What people want is taken in when it is heard of."""

    def decide(self) -> datetime | None:
        """Wake whose turn it is; their number is not limited: people started them."""
        if self._is_over:
            return None
        now, remind_at = self._clock.now(), self.remind()
        waiting = [pane for pane in self._panes.values() if self._is_waiting(pane)]
        parks = [self._policy.park_of(pane) for pane in waiting]
        accounts = self._accounts.view() if parks else {}
        snapshot = Snapshot(
            parks=parks, accounts=accounts, slots=len(parks), leash=self._options.leash
        )
        if self._options.is_dry:
            decisions = decide(snapshot, now)
            for job in decisions.wake:
                self._begin(self._panes[job])
        else:
            decisions = carry_out(snapshot, now, self._policy.canaries, wake=self._turn)
        return nearest(decisions.next_at, remind_at)

    def act(self) -> None:
        """Typing begins where it is decided: its claim is committed before a key is pressed."""

    def rest(self) -> Rest:
        return Rest.OVER if self._is_over else Rest.WAIT

    async def outlast(self, error: Exception) -> None:
        """Nothing can be written: wait, then take up every pane as after a death."""
        if not outage.is_trouble(error):
            raise error
        text = _("{why}: Segue waits until it can write again; the agents keep working")
        self._messages.line(text.format(why=error))
        waits = outage.waits_s()
        while not self._is_over and not self.can_write():
            for happening in await self._executor.next(next(waits)):
                if isinstance(happening, Broke) and not outage.is_trouble(happening.error):
                    raise happening.error
                self._is_over |= isinstance(happening, StopWanted)
        if not self._is_over:
            self._messages.line(_("Segue can write again and has resumed"))
            self._panes.clear()
            self._policy.canaries.forget()
            self._executor.announce_again()

    def _is_waiting(self, pane: WatchedPane) -> bool:
        return pane.is_waiting and not self._executor.is_typing(pane.id)

    def _turn(self, job: str) -> Turn:
        pane = self._panes[job]
        return Turn(pane.task, pane.account, lambda: self._begin(pane))

    def _begin(self, pane: WatchedPane) -> None:
        log = _TypingLog(pane, self._records, self._messages, self._clock)
        self._executor.begin(pane.id, self._policy.prompt(pane), log)

    # What happens

    async def hear(self, happened: Sequence[Happening]) -> None:
        self._is_over = any(isinstance(happening, StopWanted) for happening in happened)
        if told := self.keep_memory():
            self._messages.line(told)
        for happening in happened:
            self._hear(happening)

    def _hear(self, happening: Happening) -> None:
        match happening:
            case Found():
                self._adopt(happening)
            case HostChanged(host, is_gone, reason):
                self._messages.host(host, "gone" if is_gone else "back", reason)
            case ActsAdded():
                self.take_acts()
            case Broke(_, error):
                raise error
            case Shown(job) | Unreadable(job) | Typed(job) | Ended(job) if job in self._panes:
                self._hear_of(self._panes[job], happening)
            case _:
                pass  # the timer, a stop; a pane that is gone by now

    def _hear_of(self, pane: WatchedPane, happening: Happening) -> None:
        match happening:
            case Shown(job, reading, has_ended):
                if self._executor.is_typing(job):
                    return  # read before that began
                self._policy.shown(pane, reading, has_ended=has_ended)
                if pane.state is PaneState.DONE and not self._options.panes:
                    del self._panes[job]
                    self._executor.release(job)
            case Unreadable(_, error, is_typing):
                if is_typing:
                    self._policy.not_typed(pane, error)
                else:
                    self._messages.unreadable(pane, error)
            case Typed(_, outcome):
                self._policy.typed(pane, outcome)
            case Ended(job):
                del self._panes[job]
                self._policy.lost(pane)
            case _:
                pass
        if not pane.is_announced:  # it is as it was
            self._messages.event(pane)

    def _adopt(self, found: Found) -> None:
        account = self._options.accounts.get(found.place) or self._account_of(found.agent)
        pane = self._records.adopt(found.job, found.place, found.agent, account)
        pane.holder = found.holder
        self._panes[found.job] = pane
        self._policy.adopted(pane)
        self.take_acts()

    # By hand

    def acts_added(self) -> None:
        """People may want something: the loop takes it in, or decides again."""
        self._executor.notify(ActsAdded())

    def hold(self, pane: WatchedPane, *, is_held: bool) -> None:
        self._policy.hold(pane, is_held=is_held)
        self.acts_added()

    def wake(self, pane: WatchedPane, also: Also = tuple) -> bool:
        is_woken = self._policy.wake(pane, also)
        self.acts_added()
        return is_woken

    def park(self, pane: WatchedPane, until: datetime, also: Also = tuple) -> None:
        self._policy.park(pane, until, also)
        self.acts_added()


class _TypingLog:
    """What a try writes down, and says."""

    def __init__(
        self, pane: WatchedPane, records: PaneRecords, messages: PaneMessages, clock: Clock
    ) -> None:
        self._pane, self._records, self._messages = pane, records, messages
        self._clock = clock

    def claim(self, step: str, *, is_new: bool) -> bool:
        self._pane.resumed_at = self._clock.now()
        return self._records.sending(self._pane, step, is_new=is_new)

    def begun(self) -> None:
        self._messages.waited()

    def typed(self, action: str, text: str) -> None:
        if text:
            self._messages.sent(self._pane, text)
        self._messages.event(self._pane, action)

    def not_typed(self, error: PaneError) -> None:
        self._messages.could_not_send(str(error))
