"""Limits, as a library: what stopped an agent's screen, until when, and how to go on.

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
from segue.core.limits import is_far
from segue.dialects.limits import Detection, detect, read_limit, reset_time
from segue.dialects.limits.recovery import (
    RecoveryConfig,
    Wait,
    family_of,
    is_same_stop,
    keys_to_wait,
    remedy,
    wait_for,
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
REMEDY_LOOKS_MAX = 100

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


if i18n.language() == "en":  # nobody has chosen another one: a library has no command line
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
    enter_after_s: float = 0.5  # a paste is not a submission


async def extract_reset_time(
    output: str, *, now: datetime | None = None, tz: tzinfo | None = None
) -> datetime | None:
    """When the limit is over that an output tells of, in UTC; None where it cannot be read."""
    at, zone = now or _now(), tz or local_zone()
    found = detect(output, tool=None, now=at, tz=zone)
    return found.resets_at or reset_time(output, at, zone)


def calculate_wait_seconds(reset_time: datetime, *, now: datetime | None = None) -> int:
    """Whole seconds until then, never too few, at least 0. Without a zone it is the machine's."""
    left = (reset_time.astimezone(UTC) - (now or _now())).total_seconds()
    return max(0, -int(-left // 1))


def detect_paused_type(output: str) -> PausedType:
    """Which family of limits stopped a worker whose output this is."""
    return _FAMILIES.get(family_of(_kind(output, _now(), local_zone())), "unknown")


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
    except PaneGone:
        worker.state = "dead"
        recovery.log(_("[ERROR] pane {id} cannot be reached").format(id=worker.id))
        return False


class _Recovery:
    """One worker being brought back."""

    def __init__(self, worker: Worker, config: RecoveryConfig, environment: Environment) -> None:
        self._worker, self._config, self._around = worker, config, environment

    def log(self, text: str) -> None:
        at = self._around.now().astimezone(self._around.tz)
        self._around.log(f"[{at:%Y-%m-%d %H:%M:%S}] {text}")

    async def run(self) -> bool:
        self._config.tell(self.log)
        found, is_sent = await self._look(), False
        for _window in range(WINDOWS_MAX):
            if not found.paused:
                return self._settled(found, is_sent=is_sent)
            if found.state == "paused_self_resuming":  # hands off, or it is done twice
                text = _("⏳ Worker {id}: {kind}, resumes by itself: left alone")
                self.log(text.format(id=self._worker.id, kind=self._name(found)))
                return False
            if self._is_for_a_person(found):
                return False
            await self._wait(found)
            again = await self._look()
            if not is_same_stop(found, again) or self._is_another(again, found):
                found, is_sent = again, False
                continue
            if not await self._resume(again):
                return False
            is_sent = True
            await self._around.sleep(self._config.recheck_after)
            found = await self._look()
            if found.paused and not self._is_new(found, again) and not self._failed():
                return False
        return self._settled(found, is_sent=is_sent)

    async def _look(self) -> Detection:
        screen = await self._worker.read_screen()
        now, tz = self._around.now(), self._around.tz
        found = detect(screen, tool=self._around.tool, now=now, tz=tz)
        if found.state != "unknown" or self._worker.state != "paused" or not screen.strip():
            return found
        # Whoever calls says that it is stopped; the screen neither tells why nor contradicts.
        kind = _kind(screen, now, tz)
        at = None if kind == "unknown" else reset_time(screen, now, tz)
        return replace(found, state="paused", kind=kind, resets_at=at, evidence=screen.strip())

    def _is_for_a_person(self, found: Detection) -> bool:
        """Whether waiting does not help, or nobody would want to wait so long unasked."""
        if family_of(found.kind) == "person":
            text = _("⏸ Worker {id}: {kind}, needs a person")
        elif is_far(found.resets_at, self._around.now()):
            text = _("⏸ Worker {id}: {kind}, needs a person: {why}")
        else:
            return False
        self._worker.state = "blocked"
        self.log(text.format(id=self._worker.id, kind=found.kind, why=found.evidence))
        return True

    def _is_another(self, found: Detection, before: Detection) -> bool:
        """Whether the stop that was waited for has given way to one of the same kind."""
        if found.evidence == before.evidence:
            return False
        if found.kind == "unknown":  # all there is to compare: something moves
            return True
        return found.resets_at is not None and found.resets_at > self._around.now()

    def _is_new(self, found: Detection, before: Detection) -> bool:
        """Whether this is another limit: its time is to come. "In 5 minutes" always is to come."""
        if found.resets_at is None or found.resets_at <= self._around.now():
            return False
        return found.time_form != "span" or found.evidence != before.evidence

    def _settled(self, found: Detection, *, is_sent: bool) -> bool:
        """It is not stopped: it works, is done already with what it was sent, or asks."""
        is_busy = found.state in ("busy", "self_retrying")
        if not is_busy:
            self._worker.state = "blocked" if found.state == "asks" else "idle"
            if found.state == "asks" or not is_sent or found.paused:
                return False
        else:
            self._worker.state = "busy"
        self._worker.retry_count = 0
        self.log(_("✅ Worker {id}: works again").format(id=self._worker.id))
        return True

    def _failed(self) -> bool:
        """One more try was in vain. Whether there may be another."""
        worker, most = self._worker, self._config.max_retries
        worker.retry_count += 1
        text = _("⚠️ Worker {id}: could not be resumed ({n}/{most})")
        self.log(text.format(id=worker.id, n=worker.retry_count, most=most))
        if worker.retry_count < most:
            return True
        worker.state = "error"
        self.log(_("❌ Worker {id}: too many tries, its state is now error").format(id=worker.id))
        return False

    async def _wait(self, found: Detection) -> None:
        now, sent = self._around.now(), self._worker.retry_count
        wait = wait_for(found, self._config, now, sent=sent, chance=self._around.chance())
        family = family_of(found.kind)
        if wait.is_guess and family == "weekly":
            text = _("[WARN] could not read the reset time; waiting {seconds} s")
            self.log(text.format(seconds=wait.seconds))
        self.log(self._announced(wait, family, found.resets_at))
        await self._around.sleep((wait.until - now).total_seconds())

    @staticmethod
    def _name(found: Detection) -> str:
        return _(_NAMES.get(family_of(found.kind), _NAMES["unknown"]))

    def _announced(self, wait: Wait, family: str, resets_at: datetime | None) -> str:
        name, id_ = _(_NAMES.get(family, _NAMES["unknown"])), self._worker.id
        if resets_at is None or family == "context":
            text = _("⏳ Worker {id}: {kind}, waits {seconds} s")
            return text.format(id=id_, kind=name, seconds=wait.seconds)
        time = resets_at.astimezone(self._around.tz).strftime("%m/%d %H:%M")
        text = _("⏳ Worker {id}: {kind}, waits until {time} ({seconds} s)")
        return text.format(id=id_, kind=name, time=time, seconds=wait.seconds)

    async def _resume(self, found: Detection) -> bool:
        """Say the resume text, once. False where somebody else must act."""
        worker, text = self._worker, self._config.resume_text
        if found.draft and found.draft != text:
            self.log(_("✋ Worker {id}: someone is typing; left alone").format(id=worker.id))
            return False
        try:
            if found.state == "paused_menu":
                keys = keys_to_wait(found.menu)
                if keys is None:
                    worker.state = "blocked"
                    text = _("⏸ Worker {id}: no entry of the menu only waits")
                    self.log(text.format(id=worker.id))
                    return False
                await worker.send_keys(*keys)
                await self._around.sleep(self._around.enter_after_s)
            await self._against_full(found)
            if found.draft != text:
                await worker.send_text(text)
                await self._around.sleep(self._around.enter_after_s)
            await worker.send_keys("Enter")
        except OSError as error:
            self.log(_("[ERROR] the text could not be sent: {error}").format(error=error))
            return True  # one of the tries
        self.log(_("▶️ Worker {id}: '{text}' sent").format(id=worker.id, text=text))
        return True

    async def _against_full(self, found: Detection) -> None:
        """The agent's own remedy against a full conversation first."""
        cure = remedy(found, (self._around.tool or "").split("-")[0])
        if cure is None or found.draft:
            return
        await self._worker.send_text(cure)
        await self._around.sleep(self._around.enter_after_s)
        await self._worker.send_keys("Enter")
        for _n in range(REMEDY_LOOKS_MAX):
            await self._around.sleep(self._config.recheck_after)
            if (await self._look()).state != "busy":
                return
