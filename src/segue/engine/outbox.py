"""Telling people outside, once by each way: for plans, panes and the server's tasks alike.

A notice is a row, written in the transaction of what it tells. The sender takes those that are
due, sends them, and marks each way that worked before it does anything else: a death in between can
only repeat the one that was under way, and its id is the same then. What fails is tried again
after growing waits, a bounded number of times. Whoever works never waits for it.

Every owner of a project sends what is due for all its plans, so that nothing waits for the next
start of one plan whose owner has ended. They take turns: one process sends at a time.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, timedelta, tzinfo
from typing import Any, TypeVar

from segue.core.leash import Quiet, quiet_ends
from segue.drivers.notify import PRESSING, Notice, Notifier, Undelivered
from segue.engine.clock import Clock
from segue.engine.notices import TABLE, PendingNotices, Row
from segue.errors import UserError
from segue.i18n import _
from segue.store.changes import Put, instant, stamp
from segue.store.lock import Turn

T = TypeVar("T")
TRIES_MAX = 8
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=10), timedelta(hours=1)
LOOK_EVERY_S = 30.0  # at the latest: a row may have come without a word
TROUBLE_S = 5.0
TURN_S = 0.2  # another process sends: how long until we ask again
LAST_S = 5.0  # how long the end of a work waits for unsent notices

logger = logging.getLogger("segue.notices")


class Faults:
    """A failed channel, for the server's log."""

    def failed(self, notice: Notice, notifier: Notifier, error: Undelivered) -> None:
        logger.warning("task %s: notice %s by %s: %s", notice.task, notice.id, notifier.name, error)

    def gave_up(self, notice: Notice) -> None:
        logger.error("task %s: gave up sending notice %s", notice.task, notice.id)

    def waits(self, error: UserError) -> None:
        logger.error("notices are delayed: %s", error)


class SaidFaults(Faults):
    """The same for a terminal: once until the channel works again."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said: set[str] = set()

    def failed(self, notice: Notice, notifier: Notifier, error: Undelivered) -> None:
        text = _("[WARN] could not notify by {way}: {why}; Segue will retry")
        self._once(notifier.name, text.format(way=notifier.name.partition(":")[0], why=error))

    def gave_up(self, notice: Notice) -> None:
        text = _("[WARN] Segue has given up sending the notice “{headline}”")
        self._say(text.format(headline=notice.shown()[0]))

    def waits(self, error: UserError) -> None:
        self._once(error.problem.code, _("[WARN] notices are delayed: {why}").format(why=error))

    def _once(self, about: str, text: str) -> None:
        if about not in self._said:
            self._said.add(about)
            self._say(text)


@dataclass(frozen=True, slots=True)
class Outbox:
    """`unmarked`: what went out while the disk was full; it does not go out again for that.
    `turn`: where other processes send the same rows."""

    pending: PendingNotices
    clock: Clock
    notifiers: Sequence[Notifier]
    quiet: Quiet | None = None
    tz: tzinfo = UTC
    first_wait: timedelta = FIRST_WAIT
    faults: Faults = field(default_factory=Faults)
    unmarked: set[tuple[int, str]] = field(default_factory=set)
    turn: Turn | None = None

    async def send_due(self) -> bool:
        """Some of what is due, side by side; whether there was any. While another process sends,
        that may do it for us."""
        if not self.pending.due(stamp(self.clock.now())):
            return False
        if self.turn is not None and not self.turn.take():
            await asyncio.sleep(TURN_S)
            return True
        try:
            rows = self.pending.due(stamp(self.clock.now()))  # the one before us may have sent some
            await _together(self._send(row) for row in rows)
        finally:
            if not self.unmarked:  # else another process would send it again
                self.end_turn()
        return True

    def end_turn(self) -> None:
        if self.turn is not None:
            self.turn.release()

    def try_again(self) -> None:
        """A new start: what failed before is due now. Read and written in one transaction: another
        process may send it this moment."""
        now = self.clock.now()

        def all_due() -> Iterable[Put]:
            return [Put(TABLE, row | {"next_at": stamp(now)}) for row in self.pending.failed()]

        if self.pending.failed():
            self.pending.store.move(at=now, then=all_due)

    def wait_s(self) -> float:
        at = self.pending.next_at()
        if at is None:
            return LOOK_EVERY_S
        left_s = (instant(at) - self.clock.now()).total_seconds()
        return min(max(left_s, 0.0), LOOK_EVERY_S)

    async def _send(self, row: Row) -> None:
        notice = self.pending.notice(row)
        if notice is None:
            self._keep(row, next_at=None)
            return
        over = quiet_ends(self.clock.now(), self.quiet, self.tz)
        if over is not None and notice.kind not in PRESSING:
            self._keep(row, next_at=stamp(over))
            return
        sent = json.loads(row["sent"])
        left = [notifier for notifier in self.notifiers if notifier.name not in sent]
        done = await _together(self._by(notifier, notice, row) for notifier in left)
        if all(done):
            self._keep(row, next_at=None)
            return
        tries = row["tries"] + 1
        if tries >= TRIES_MAX:
            self.faults.gave_up(notice)
            self._keep(row, tries=tries, next_at=None)
            return
        wait = min(self.first_wait * 3 ** (tries - 1), LONGEST_WAIT)
        self._keep(row, tries=tries, next_at=stamp(self.clock.now() + wait))

    async def _by(self, notifier: Notifier, notice: Notice, row: Row) -> bool:
        mark = row["id"], notifier.name
        try:
            if mark not in self.unmarked:
                await notifier.send(notice)
        except Undelivered as error:
            self.faults.failed(notice, notifier, error)
            return False
        self.unmarked.add(mark)
        self._keep(row, sent=json.dumps([*json.loads(row["sent"]), notifier.name]))
        self.unmarked.discard(mark)
        return True

    def _keep(self, row: Row, **changes: str | int | None) -> None:
        """Only the one whose turn it is writes these rows: what is known here is what is there."""
        row.update(changes)
        self.pending.store.move(Put(TABLE, row), at=self.clock.now())


class NoticeSender:
    """Sends what is due beside the work, and sleeps until the next is. `wake` it after a commit."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        outbox.try_again()
        self._news = asyncio.Event()
        self._ends_at: float | None = None  # by the loop's clock
        self._task = asyncio.create_task(self._run())

    def wake(self) -> None:
        self._news.set()

    async def close(self, within_s: float = LAST_S) -> None:
        """Send what is due, within bounds; what cannot be sent now is there for the next start."""
        self._ends_at = asyncio.get_running_loop().time() + within_s
        self._news.set()
        await asyncio.wait([self._task], timeout=within_s)
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        self._outbox.end_turn()

    async def _run(self) -> None:
        while True:
            self._news.clear()
            wait_s = await self._send()
            if self._ends_at is not None:
                left_s = self._ends_at - asyncio.get_running_loop().time()
                if wait_s > left_s:
                    return
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._news.wait()

    async def _send(self) -> float:
        """Send what is due; how long nothing is to be done then."""
        try:
            return 0.0 if await self._outbox.send_due() else self._outbox.wait_s()
        except UserError as error:  # a full disk, a locked database: it may pass
            self._outbox.faults.waits(error)
        except Exception as error:  # one that cannot be sent must not hold back the others
            logger.exception("notices: unexpected error")
            self._outbox.faults.waits(UserError("unexpected", repr(error)))
        return TROUBLE_S


async def _together(actions: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All of them to their end, also when one fails; then its error."""
    found = await asyncio.gather(*actions, return_exceptions=True)
    for result in found:
        if isinstance(result, BaseException):
            raise result
    return [result for result in found if not isinstance(result, BaseException)]
