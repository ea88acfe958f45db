"""Limits, as a library: what stopped an agent's screen, until when, and how to continue.

    from segue.limits import detect_paused_type, extract_reset_time, handle_paused_worker

`handle_paused_worker` brings one stopped worker back: it waits, looks again, and says the resume
text once. It works on anything that can show its screen and be typed into (`Worker`); all waiting
is asyncio.

Its log lines are in the language that SEGUE_LANG or the locale asks for. A program that wants
another one says so after the import: `segue.i18n.use("en")`.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from random import random
from typing import Literal, Protocol

from segue import i18n
from segue.core.limits import UNKNOWN, family
from segue.core.machines import PaneState
from segue.dialects.events import LimitHit
from segue.dialects.limits import detect, read_limit, reset_time
from segue.dialects.limits.recovery import RecoveryConfig
from segue.drivers.panes import PaneError, PaneGoneError
from segue.engine import limits
from segue.engine.executors.pane_screen import ScreenReading, is_later_limit
from segue.engine.executors.pane_typing import (
    ENTER_AFTER_S,
    TEXT,
    InVain,
    NothingSent,
    NoWaitEntry,
    Prompt,
    Resumed,
    Settled,
    TypingOutcome,
    type_prompt,
)
from segue.i18n import N_, _

__all__ = [
    "Environment",
    "PaneGone",
    "PausedType",
    "RecoveryConfig",
    "Worker",
    "calculate_wait_seconds",
    "detect_paused_type",
    "extract_reset_time",
    "handle_paused_worker",
]

PausedType = Literal["weekly_limit", "rate_limit", "context_limit", "unknown"]
WINDOWS_MAX = 50  # limits waited through, one after the other
LOOK_S = 0.5  # between two looks at a screen that is waited for

_FAMILIES: dict[str, PausedType] = {
    "weekly": "weekly_limit",
    "rate": "rate_limit",
    "context": "context_limit",
}
# Asked about a worker that is known to be stopped, a single word is enough where nothing better is
# found.
_PLAIN: tuple[tuple[PausedType, re.Pattern[str]], ...] = (
    ("weekly_limit", re.compile(r"weekly.*limit|resets.*at", re.IGNORECASE)),
    ("rate_limit", re.compile(r"rate.*limit|please.*wait", re.IGNORECASE)),
    ("context_limit", re.compile(r"context.*limit|conversation.*too.*long", re.IGNORECASE)),
)
_NAMES = {
    "weekly": N_("Weekly limit"),
    "rate": N_("Rate limit"),
    "context": N_("Context limit"),
    "unknown": N_("Unknown limit"),
}


if i18n.language() == "en":  # no other one was chosen: a library has no command line
    i18n.use(i18n.choose(None, os.environ))


class PaneGone(Exception):  # noqa: N818 - what happened to it
    """The worker's pane is not there any more."""


class Worker(Protocol):
    """A pane with an agent: what is shown in it, and how to type into it.

    `state` is one of idle, busy, paused, error, blocked, done, dead.
    """

    id: int | str
    state: str
    retry_count: int

    async def read_screen(self) -> str:
        """What is shown now. Raises PaneGone."""
        ...

    async def send_text(self, text: str) -> None:
        """Type a text, without Enter. Raises PaneGone, or OSError where it cannot be typed."""
        ...

    async def send_keys(self, *keys: str) -> None:
        """Press keys: Enter, Up, Down. Raises like `send_text`."""
        ...


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - log lines go to standard error


def _now() -> datetime:
    return datetime.now(UTC)


def local_zone() -> tzinfo:
    """The zone of this machine."""
    zone = datetime.now(UTC).astimezone().tzinfo
    assert zone is not None
    return zone


@dataclass(frozen=True, slots=True)
class Environment:
    """Clock, waiting, log and chance, so that a test can bring its own."""

    now: Callable[[], datetime] = _now
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    log: Callable[[str], None] = _print
    tz: tzinfo = field(default_factory=local_zone)
    chance: Callable[[], float] = random
    tool: str | None = None
    enter_after_s: float = ENTER_AFTER_S


async def extract_reset_time(
    output: str, *, now: datetime | None = None, tz: tzinfo | None = None
) -> datetime | None:
    """When the limit is over that an output reports, in UTC; None where it cannot be read."""
    at, zone = now or _now(), tz or local_zone()
    found = detect(output, tool=None, now=at, tz=zone)
    return found.resets_at or reset_time(output, at, zone)


def calculate_wait_seconds(reset_time: datetime, *, now: datetime | None = None) -> int:
    """Whole seconds until then, never too few, at least 0. Without a zone it is the machine's."""
    left = (reset_time.astimezone(UTC) - (now or _now())).total_seconds()
    return max(0, -int(-left // 1))


def detect_paused_type(output: str) -> PausedType:
    """Which family of limits stopped a worker whose output this is."""
    return _FAMILIES.get(family(_kind(output, _now(), local_zone())), "unknown")


def _kind(output: str, now: datetime, tz: tzinfo) -> str:
    """The kind of limit that stopped a worker of which it is known that it is stopped."""
    kind = detect(output, tool=None, now=now, tz=tz).kind
    if kind is None:
        told = read_limit(output, None, now, tz)
        kind = told.kind if told else None
    return kind or next((plain for plain, words in _PLAIN if words.search(output)), "unknown")


async def handle_paused_worker(
    worker: Worker, config: RecoveryConfig, environment: Environment | None = None
) -> bool:
    """Bring a stopped worker back. Whether it works again."""
    recovery = _Recovery(worker, config, environment or Environment())
    try:
        return await recovery.run()
    except PaneGoneError:
        worker.state = "dead"
        recovery.log(_("[ERROR] cannot reach pane {id}").format(id=worker.id))
        return False


class _Recovery:
    """One worker being brought back, with the looks of `segue watch` before anything is sent."""

    def __init__(self, worker: Worker, config: RecoveryConfig, environment: Environment) -> None:
        self._worker, self._config, self._around = worker, config, environment
        self._terminal = _WorkerTerminal(worker, environment)
        self._agent = (environment.tool or "").split("-")[0]

    def log(self, text: str) -> None:
        at = self._around.now().astimezone(self._around.tz)
        self._around.log(f"[{at:%Y-%m-%d %H:%M:%S}] {text}")

    async def run(self) -> bool:
        self._config.tell(self.log)
        reading = await self._terminal.read()
        for _window in range(WINDOWS_MAX):
            limit = reading.limit
            if limit is None:
                return self._settled(reading, is_sent=False)
            if reading.is_self_resuming:  # hands off, or it is done twice
                self._say(_("⏳ Worker {id}: {kind}, resumes by itself; left alone"), limit)
                return False
            if not await self._wait(limit):
                return False
            again = await self._terminal.read()
            if again.limit and limit.kind == UNKNOWN and again.limit.text != limit.text:
                reading = again  # all there is to compare: something moves
                continue
            outcome = await self._type(limit)
            match outcome:
                case NothingSent(shown, _):
                    reading = shown
                case Resumed(shown) | Settled(shown):
                    return self._settled(shown, is_sent=True)
                case InVain(shown, is_refused):
                    reading, now = shown, self._around.now()
                    is_new = is_refused and shown.limit and is_later_limit(limit, shown.limit, now)
                    if not is_new and not self._failed():
                        return False
                case NoWaitEntry():
                    self._worker.state = "blocked"
                    self._say(_("⏸ Worker {id}: no menu entry just waits for the reset"), limit)
                    return False
                case _:
                    self._say(_("✋ Worker {id}: someone is typing; left alone"), limit)
                    return False
        return self._settled(reading, is_sent=False)

    async def _type(self, limit: LimitHit) -> TypingOutcome | None:
        prompt = Prompt(
            self._config.resume_text,
            limit,
            agent=self._agent,
            sends=self._worker.retry_count,
            step=TEXT,  # the process that typed the text may have died before Enter
            recheck_s=self._config.recheck_after,
        )
        return await type_prompt(self._terminal, prompt, self)

    # What a try says (`TypingLog`): a library keeps no record of it

    def claim(self, step: str, *, is_new: bool) -> bool:
        return True

    def begun(self) -> None:
        """The log says what is sent."""

    def typed(self, action: str, text: str) -> None:
        if action in ("send", "enter"):
            line = _("▶️ Worker {id}: '{text}' sent")
            self.log(line.format(id=self._worker.id, text=text))

    def not_typed(self, error: PaneError) -> None:
        self.log(_("[ERROR] could not send the text: {error}").format(error=error))

    # What follows

    async def _wait(self, limit: LimitHit) -> bool:
        """Wait for the end of a limit. False: a person must see to it."""
        now, refusals = self._around.now(), self._worker.retry_count
        jitter = self._around.chance() if refusals else 0.0
        before = limits.Before(refusals=refusals)
        verdict = limits.judge(
            limit, self._agent, now, limits.Policy(self._config.waits), before, jitter
        )
        if not isinstance(verdict, limits.Park):
            self._worker.state = "blocked"
            text = _("⏸ Worker {id}: {kind}, needs a person: {why}")
            self.log(text.format(id=self._worker.id, kind=limit.kind, why=limit.text))
            return False
        wait_s = (verdict.wakes_at - now).total_seconds()
        seconds = -int(-wait_s // 1)  # never a second too short
        if verdict.is_guess:
            text = _("[WARN] could not read the reset time; waiting {seconds} s")
            self.log(text.format(seconds=seconds))
        if limit.resets_at is None or family(limit.kind) == "context":
            self._say(_("⏳ Worker {id}: {kind}, waiting {seconds} s"), limit, seconds=seconds)
        else:
            time = limit.resets_at.astimezone(self._around.tz).strftime("%m/%d %H:%M")
            text = _("⏳ Worker {id}: {kind}, waiting until {time} ({seconds} s)")
            self._say(text, limit, time=time, seconds=seconds)
        await self._around.sleep(wait_s)
        return True

    def _say(self, text: str, limit: LimitHit, **facts: object) -> None:
        kind = _(_NAMES.get(family(limit.kind), _NAMES["unknown"]))
        self.log(text.format(id=self._worker.id, kind=kind, **facts))

    def _settled(self, reading: ScreenReading, *, is_sent: bool) -> bool:
        """It is not stopped: it works, is done already with what it was sent, or asks."""
        self._worker.state = reading.state
        is_busy = reading.state is PaneState.BUSY
        if not is_busy and (reading.state is PaneState.BLOCKED or not is_sent or reading.limit):
            return False
        self._worker.retry_count = 0
        self.log(_("✅ Worker {id}: working again").format(id=self._worker.id))
        return True

    def _failed(self) -> bool:
        """One more attempt failed. Whether there may be another."""
        worker, most = self._worker, self._config.max_retries
        worker.retry_count += 1
        text = _("⚠️ Worker {id}: could not be resumed ({n}/{most})")
        self.log(text.format(id=worker.id, n=worker.retry_count, most=most))
        if worker.retry_count < most:
            return True
        worker.state = "error"
        self.log(
            _("❌ Worker {id}: too many attempts, its state is now error").format(id=worker.id)
        )
        return False


class _WorkerTerminal:
    """A worker as `type_prompt` sees it. Not every worker shows on its screen what is typed."""

    shows_typing = False

    def __init__(self, worker: Worker, around: Environment) -> None:
        self._worker, self._around = worker, around
        self.enter_after_s = around.enter_after_s

    def now(self) -> datetime:
        return self._around.now()

    def has_agent(self) -> bool:
        return True

    async def read(self) -> ScreenReading:
        try:
            screen = await self._worker.read_screen()
        except PaneGone as error:
            raise PaneGoneError(str(error)) from error
        now, tz = self._around.now(), self._around.tz
        found = detect(screen, tool=self._around.tool, now=now, tz=tz)
        if found.state != "unknown" or self._worker.state != "paused" or not screen.strip():
            return ScreenReading(found, screen)
        # Whoever calls says that it is stopped; the screen neither tells why nor contradicts.
        kind = _kind(screen, now, tz)
        at = None if kind == UNKNOWN else reset_time(screen, now, tz)
        stopped = replace(found, state="paused", kind=kind, resets_at=at, evidence=screen.strip())
        return ScreenReading(stopped, screen)

    async def send_text(self, text: str) -> None:
        await self._do(self._worker.send_text(text))

    async def send_key(self, key: str) -> None:
        await self._do(self._worker.send_keys(key))

    async def _do(self, sending: Awaitable[None]) -> None:
        try:
            await sending
        except PaneGone as error:
            raise PaneGoneError(str(error)) from error
        except OSError as error:
            raise PaneError(str(error)) from error

    async def sleep(self, seconds: float) -> None:
        await self._around.sleep(seconds)

    async def changed(self, within_s: float) -> None:
        """Nothing tells: it is looked at again soon."""
        await self._around.sleep(min(within_s, LOOK_S))
