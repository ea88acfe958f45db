"""Typing a prompt into a terminal whose agent is stopped by a limit, once.

The screen is read again first: only if it still shows the stop that was waited for is anything
sent. The try is claimed before it is made. Text and Enter are sent apart, with a look in between,
so that after a death the next owner finds the text in the input line and presses Enter alone. A
menu is left by the entry that waits, found by its words, with a look after each key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from segue.core.machines import PaneState
from segue.dialects.events import LimitHit
from segue.dialects.limits.recovery import keys_to_wait, remedy
from segue.drivers.panes import PaneError, PaneGoneError
from segue.engine.executors.pane_screen import ScreenReading, is_same_limit

ENTER_AFTER_S = 0.5  # a paste is not a submission
KEY_S = 0.5  # for a menu to react
PIECES_S = 0.1  # what is painted may come in pieces
MENU_KEYS_MAX = 40
SHOWN = timedelta(seconds=2)  # for a text to appear in the input line, for a menu to go
REMEDY_MAX = timedelta(minutes=15)
REMEDY_LOOK_S = 30.0
COMPACT, TEXT = "compact", "text"


class Terminal(Protocol):
    """A place with a screen and a keyboard. Everything raises PaneError where it cannot be done,
    and PaneGoneError where the place is not there any more."""

    shows_typing: bool  # what is typed can be seen in the input line
    enter_after_s: float

    def now(self) -> datetime: ...

    def has_agent(self) -> bool:
        """Whether what is typed goes to the agent, as of the last reading."""
        ...

    async def read(self) -> ScreenReading: ...

    async def send_text(self, text: str) -> None:
        """Without Enter."""
        ...

    async def send_key(self, key: str) -> None: ...

    async def sleep(self, seconds: float) -> None: ...

    async def changed(self, within_s: float) -> None:
        """Return when the screen has changed since the last key or reading, or after that time."""
        ...


class TypingLog(Protocol):
    """The owner's side: what it writes down before something is sent, and after."""

    def claim(self, step: str, *, is_new: bool) -> bool:
        """Before anything is sent. `is_new`: a try of its own, not the rest of one that was cut
        off. False: another owner was faster."""
        ...

    def begun(self) -> None:
        """The wait is over: the first try begins."""
        ...

    def typed(self, action: str, text: str) -> None:
        """`compact`, `send`, `enter` (the text stood there already) or `choose` (in a menu)."""
        ...

    def not_typed(self, error: PaneError) -> None: ...


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is typed, and the stop that it ends. `sends`: the tries before this one; `step`: what
    was claimed of a try that was cut off."""

    text: str
    stop: LimitHit
    agent: str = ""
    sends: int = 0
    step: str = ""
    recheck_s: float = 3.0
    is_dry: bool = False


@dataclass(frozen=True, slots=True)
class NothingSent:
    """The screen shows something else, or (`is_expected`) another program has the terminal."""

    reading: ScreenReading
    is_expected: bool


@dataclass(frozen=True, slots=True)
class Attended:
    """A person is typing there."""


@dataclass(frozen=True, slots=True)
class WouldSend:
    """A dry run."""


@dataclass(frozen=True, slots=True)
class NoWaitEntry:
    """The menu about the limit has no entry that only waits."""

    reading: ScreenReading


@dataclass(frozen=True, slots=True)
class Resumed:
    """The agent reacted."""

    reading: ScreenReading


@dataclass(frozen=True, slots=True)
class Settled:
    """The agent asks something now, or will continue by itself."""

    reading: ScreenReading


@dataclass(frozen=True, slots=True)
class InVain:
    """The stop is still there. `is_refused`: the agent answered with it; else it did not react."""

    reading: ScreenReading
    is_refused: bool


TypingOutcome = NothingSent | Attended | WouldSend | NoWaitEntry | Resumed | Settled | InVain


async def type_prompt(terminal: Terminal, prompt: Prompt, log: TypingLog) -> TypingOutcome | None:
    """None: another owner was faster."""
    reading = await terminal.read()
    is_expected = _is_expected(prompt, reading)
    if not (is_expected and terminal.has_agent()):
        return NothingSent(reading, is_expected)
    if _is_attended(prompt, reading):
        return Attended()
    if not prompt.sends:
        log.begun()
    if prompt.is_dry:
        log.typed("send", prompt.text)
        return WouldSend()
    return await _Typing(terminal, prompt, log).run(reading)


def _is_expected(prompt: Prompt, reading: ScreenReading) -> bool:
    """Whether this is what the prompt is for: the stop, our text that got no answer, or what a
    try left that was cut off."""
    limit = reading.limit
    if prompt.step and reading.is_typed(prompt.text):
        return _may_enter(reading, prompt.text)
    if prompt.step == COMPACT and reading.state is PaneState.IDLE and limit is None:
        return True
    if prompt.sends and reading.is_unanswered(prompt.text):
        return True
    if limit is None or reading.is_self_resuming:
        return False
    return is_same_limit(prompt.stop, limit)


def _is_attended(prompt: Prompt, reading: ScreenReading) -> bool:
    """Whether a person has typed something that is not ours."""
    ours = (prompt.text, remedy(reading.found, prompt.agent) or prompt.text)
    return bool(reading.found.draft) and not any(map(reading.is_typed, ours))


def _may_enter(reading: ScreenReading, text: str) -> bool:
    """Only what stood there before, and our text in its input line, is confirmed; where no input
    line can be made out, the stop itself must still be there."""
    if reading.found.draft is None:
        return reading.found.state == "paused"
    return reading.is_typed(text) and reading.found.state in ("paused", "idle", "unknown")


class _Typing:
    """One try."""

    def __init__(self, terminal: Terminal, prompt: Prompt, log: TypingLog) -> None:
        self._terminal, self._prompt, self._log = terminal, prompt, log
        self._text, self._step = prompt.text, prompt.step

    async def run(self, before: ScreenReading) -> TypingOutcome | None:
        is_rest = bool(self._prompt.step) and before.is_typed(self._text)
        self._step = self._prompt.step or TEXT
        if not self._log.claim(self._step, is_new=not is_rest):
            return None
        try:
            outcome = await self._send(before)
        except PaneGoneError:
            raise
        except PaneError as error:  # it may have arrived, so what the screen shows decides
            self._log.not_typed(error)
            outcome = None
        if outcome is not None:
            return outcome
        await self._terminal.sleep(self._prompt.recheck_s)
        return self._judge(before, await self._terminal.read())

    async def _send(self, reading: ScreenReading) -> TypingOutcome | None:
        """An outcome where that is known already, without the text."""
        if reading.has_menu:
            left = await self._leave_menu(reading)
            if not isinstance(left, ScreenReading):
                return left
            reading = left
            if reading.has_menu:
                return None  # it stays: a failed attempt
        is_there = reading.is_typed(self._text)
        cure = remedy(reading.found, self._prompt.agent) if reading.limit else None
        if cure is not None and self._prompt.step != COMPACT and not is_there:
            self._claim_step(COMPACT)
            await self._submit(reading, cure)
            self._log.typed("compact", cure)
            reading = await self._until_not_busy()
            if _is_attended(self._prompt, reading):
                return Attended()
        self._claim_step(TEXT)
        if await self._submit(reading, self._text):
            self._log.typed("enter" if is_there else "send", self._text)
        return None

    def _claim_step(self, step: str) -> None:
        """The next part of a try that is ours already."""
        if step != self._step:
            self._step = step
            self._log.claim(step, is_new=False)

    async def _submit(self, reading: ScreenReading, text: str) -> bool:
        """Type a text, unless it stands there already, and press Enter if nothing else is there."""
        if not reading.is_typed(text):
            await self._terminal.send_text(text)
            await self._terminal.sleep(self._terminal.enter_after_s)
            if not await self._is_ready_for_enter(text):
                return False  # swallowed, or something else asks: Enter would answer that
        await self._terminal.send_key("Enter")
        return True

    async def _is_ready_for_enter(self, text: str) -> bool:
        if self._terminal.shows_typing:
            seen = await self._until(lambda now: now.is_typed(text) or now.found.draft is None)
            return _may_enter(seen, text)
        seen = await self._terminal.read()
        is_foreign = bool(seen.found.draft) and not seen.is_typed(text)
        return not is_foreign and seen.found.state not in ("asks", "paused_menu")

    async def _leave_menu(self, reading: ScreenReading) -> ScreenReading | TypingOutcome:
        """Choose the entry that waits, once; what the screen shows then, or how that came out."""
        for _n in range(MENU_KEYS_MAX):
            keys = keys_to_wait(reading.found.menu)
            if keys is None:
                return NoWaitEntry(reading)
            await self._terminal.send_key(keys[0])
            if keys[0] == "Enter":
                self._log.typed("choose", "")
                reading = await self._until(lambda seen: not seen.has_menu)
                break
            await self._terminal.changed(KEY_S)
            await self._terminal.sleep(PIECES_S)
            reading = await self._terminal.read()
            if not reading.has_menu:
                break
        if reading.is_self_resuming:
            return Settled(reading)
        if reading.state is PaneState.BUSY and reading.limit is None:
            return Resumed(reading)
        return reading

    async def _until(self, is_so: Callable[[ScreenReading], bool]) -> ScreenReading:
        """The screen as soon as it is so, or after a while."""
        until = self._terminal.now() + SHOWN
        while True:
            reading = await self._terminal.read()
            left_s = (until - self._terminal.now()).total_seconds()
            if is_so(reading) or left_s <= 0:
                return reading
            await self._terminal.changed(left_s)
            await self._terminal.sleep(PIECES_S)

    async def _until_not_busy(self) -> ScreenReading:
        """The agent makes its conversation smaller; that takes its time."""
        until = self._terminal.now() + REMEDY_MAX
        await self._terminal.sleep(self._prompt.recheck_s)
        while True:
            reading = await self._terminal.read()
            is_over = reading.limit is not None or reading.state is not PaneState.BUSY
            if is_over or self._terminal.now() >= until:
                return reading
            await self._terminal.changed(REMEDY_LOOK_S)

    def _judge(self, before: ScreenReading, after: ScreenReading) -> TypingOutcome:
        """How it came out. A text that still waits for its Enter changed nothing, neither did one
        that stands there with nothing below it."""
        is_unanswered = after.is_unanswered(self._text)
        is_open = is_unanswered or after.is_typed(self._text)
        if after.limit is None and (after.state is PaneState.BUSY or not is_open):
            is_blocked = after.state is PaneState.BLOCKED
            return Settled(after) if is_blocked else Resumed(after)
        if after.is_self_resuming:
            return Settled(after)
        is_refused = not is_unanswered and after.has_moved_since(before, self._text)
        return InVain(after, is_refused)
