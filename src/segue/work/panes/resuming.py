"""One worker is told to go on, once.

Its screen is read again first: only if it still shows the same stop is anything sent. The try is
written down before it is made. Text and Enter are sent apart, with a look in between, so that
whoever finds a text of ours in the input line after a death only presses Enter. A menu is left by
the entry that waits, found by its words, with a look after each key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from segue.core.limits import family
from segue.core.machines import PaneState
from segue.dialects.limits.recovery import keys_to_wait, remedy
from segue.drivers.panes import PaneError, PaneGoneError
from segue.work.panes.messages import Telling
from segue.work.panes.options import CommandOptions
from segue.work.panes.screen_look import Look
from segue.work.panes.stop_handling import Keeping
from segue.work.panes.stops import Stop, is_known, is_later, stop_of
from segue.work.panes.workers import Worker, Workers

ENTER_AFTER_S = 0.5  # a paste is not a submission
KEY_S = 0.5  # for a menu to react
PIECES_S = 0.1  # what is painted may come in pieces
MENU_KEYS_MAX = 40
SHOWN_S = 2.0  # for a text to appear in the input line, for a menu to go
REMEDY_S_MAX = 900.0
COMPACT, TEXT = "compact", "text"


class Resuming:
    """`look` reads a worker's screen."""

    def __init__(
        self,
        workers: Workers,
        telling: Telling,
        wishes: CommandOptions,
        keeping: Keeping,
        look: Callable[[Worker], Awaitable[Look]],
    ) -> None:
        self._workers, self._telling, self._wishes = workers, telling, wishes
        self._keeping, self._look = keeping, look
        self._text = wishes.resume_text

    async def run(self, worker: Worker) -> None:
        """A worker's instant has come. Raises PaneGoneError."""
        look = await self._look(worker)
        is_right = (
            self._is_half_done(worker, look)
            or self._is_waited_for(worker, look)
            or self._keeping.is_unanswered(worker, look)
        )
        if not (is_right and self._keeping.has_agent(worker)):
            self._keeping.settle(worker, look)
            # Something else has the terminal: worth another look when it prints.
            worker.is_attended = is_right and worker.state is PaneState.PAUSED
            return
        if self._is_attended(worker, look):
            return
        if not worker.sends:
            self._telling.waited()
        if self._wishes.is_dry:
            worker.is_shown = True
            self._telling.sent(worker, self._text)
            self._telling.event(worker, "send")
            return
        await self._try(worker, look)

    def _is_half_done(self, worker: Worker, look: Look) -> bool:
        """A try was cut off: its text waits for Enter, or its remedy for the resume text."""
        if worker.step and look.is_typed(self._text):
            return self._may_enter(look, self._text)
        is_compacted = worker.step == COMPACT and look.state is PaneState.IDLE
        return is_compacted and not look.found.paused

    def _is_waited_for(self, worker: Worker, look: Look) -> bool:
        if not look.found.paused:
            return False
        stop = self._keeping.stop_on(worker, look)
        return not stop.is_self_resuming and is_known(worker, stop)

    def _is_attended(self, worker: Worker, look: Look) -> bool:
        """Whether a person has typed something that is not ours."""
        draft = look.found.draft
        ours = (self._text, remedy(look.found, worker.agent) or self._text)
        worker.is_attended = bool(draft) and not any(map(look.is_typed, ours))
        if worker.is_attended:
            self._telling.attended(worker)
            self._telling.event(worker, "wait", attended=True)
        return worker.is_attended

    async def _try(self, worker: Worker, look: Look) -> None:
        is_rest = bool(worker.step) and look.is_typed(self._text)
        if not self._workers.sending(worker, worker.step or TEXT, is_new=not is_rest):
            return
        before, worker.resumed_at = look, self._workers.now()
        try:
            is_sent = await self._send(worker, look)
        except PaneGoneError:
            raise
        except PaneError as error:  # it may have arrived, so what the screen shows decides
            self._telling.could_not_send(error)
            is_sent = True
        if is_sent:
            await asyncio.sleep(self._wishes.recheck_s)
            self._judge(worker, before, await self._look(worker))

    async def _send(self, worker: Worker, look: Look) -> bool:
        """False: it is settled already, without the resume text."""
        if look.found.state == "paused_menu":
            after = await self._leave_menu(worker, look)
            if after is None:
                return False
            look = after
            if look.found.state == "paused_menu":
                return True  # it stays: a try in vain
        is_there = look.is_typed(self._text)
        cure = remedy(look.found, worker.agent) if look.found.paused else None
        if cure is not None and worker.step != COMPACT and not is_there:
            self._workers.note(worker, step=COMPACT)
            await self._submit(worker, look, cure)
            self._telling.sent(worker, cure)
            self._telling.event(worker, "compact")
            look = await self._until_not_busy(worker)
            if self._is_attended(worker, look):
                return False
        self._workers.note(worker, step=TEXT)
        if await self._submit(worker, look, self._text):
            self._telling.sent(worker, self._text)
            self._telling.event(worker, "enter" if is_there else "send")
        return True

    async def _submit(self, worker: Worker, look: Look, text: str) -> bool:
        """Type a text, unless it stands there already, and press Enter if it can be seen."""
        if not look.is_typed(text):
            await worker.host.send_text(worker.pane.id, text)
            await asyncio.sleep(ENTER_AFTER_S)
            look = await self._until(
                worker, lambda seen: seen.is_typed(text) or seen.found.draft is None
            )
            if not self._may_enter(look, text):
                return False  # swallowed, or something else asks: Enter would answer that
        await worker.host.send_key(worker.pane.id, "Enter")
        return True

    @staticmethod
    def _may_enter(look: Look, text: str) -> bool:
        """Only what stood there before, and our text in its input line, is confirmed; where no
        input line can be made out, the stop itself must still be there."""
        if look.found.draft is None:
            return look.found.state == "paused"
        return look.is_typed(text) and look.found.state in ("paused", "idle", "unknown")

    async def _leave_menu(self, worker: Worker, look: Look) -> Look | None:
        """Choose the entry that waits, once. None: there is none, or it is settled by that."""
        for _n in range(MENU_KEYS_MAX):
            keys = keys_to_wait(look.found.menu)
            if keys is None:
                self._telling.no_entry_waits(worker)
                self._keeping.ask(worker, stop_of(look.found))
                return None
            worker.changed.clear()
            await worker.host.send_key(worker.pane.id, keys[0])
            if keys[0] == "Enter":
                self._telling.event(worker, "choose")
                look = await self._until(worker, lambda seen: seen.found.state != "paused_menu")
                break
            await _changed(worker, KEY_S)
            await asyncio.sleep(PIECES_S)
            look = await self._look(worker)
            if look.found.state != "paused_menu":
                break
        if look.found.state == "paused_self_resuming":
            self._keeping.settle(worker, look)
            return None
        if look.state is PaneState.BUSY and not look.found.paused:
            self._keeping.resumed(worker, look)
            return None
        return look

    async def _until(self, worker: Worker, is_so: Callable[[Look], bool]) -> Look:
        """The screen as soon as it is so, or after a while."""
        loop = asyncio.get_running_loop()
        until = loop.time() + SHOWN_S
        while True:
            worker.changed.clear()
            look = await self._look(worker)
            if is_so(look) or loop.time() >= until:
                return look
            await _changed(worker, until - loop.time())
            await asyncio.sleep(PIECES_S)

    async def _until_not_busy(self, worker: Worker) -> Look:
        """The agent makes its conversation smaller; that takes its time."""
        loop = asyncio.get_running_loop()
        until = loop.time() + REMEDY_S_MAX
        await asyncio.sleep(self._wishes.recheck_s)
        while True:
            worker.changed.clear()
            look = await self._look(worker)
            if look.found.paused or look.state is not PaneState.BUSY or loop.time() >= until:
                return look
            await _changed(worker, 30.0)

    def _judge(self, worker: Worker, before: Look, after: Look) -> None:
        """Whether it worked. A text that still waits for its Enter did not, neither did one that
        stands there with nothing below it."""
        is_busy = after.state is PaneState.BUSY
        is_unanswered = self._keeping.is_unanswered(worker, after)
        is_open = is_unanswered or after.is_typed(self._text)
        if not after.found.paused and (is_busy or not is_open):
            if after.state is PaneState.BLOCKED:  # it asks something else now
                self._keeping.settle(worker, after)
            else:
                self._keeping.resumed(worker, after)
            return
        is_refused = not is_unanswered and after.has_moved_since(before, self._text)
        stop = Stop(worker.kind or "unknown", worker.evidence, worker.resets_at, False, False)
        if after.found.paused:
            stop = self._keeping.stop_on(worker, after)
            if stop.is_self_resuming:
                self._keeping.settle(worker, after)
                return
            is_other = is_refused and is_later(worker, stop, self._workers.now())
            if is_other and family(stop.kind) != "rate":  # that may be said again and again
                self._keeping.refused(worker, stop)
                return
        self._telling.failed(worker, self._wishes.max_sends)
        if worker.sends < self._wishes.max_sends:
            self._keeping.again(worker, stop, is_refused)
            return
        self._workers.give_up(worker)
        self._keeping.gave_up(worker)
        self._telling.gave_up(worker)
        self._telling.event(worker, "give_up")


async def _changed(worker: Worker, within_s: float) -> None:
    """Wait until the pane prints something, at most so long."""
    try:
        async with asyncio.timeout(within_s):
            await worker.changed.wait()
    except TimeoutError:
        return
