"""Questions on a terminal, one after the other, while work goes on."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial

from segue.cli import console
from segue.i18n import _

LINE_BYTES_MAX = 64 * 1024


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    options: tuple[str, ...]
    preset: str | None
    on_answer: Callable[[str | None], None]
    is_menu: bool = False  # its text shows the numbers to choose from
    by_hand: str | None = None  # the option that a person carries out first


class TerminalAsker:
    """Reads answers from standard input as they are typed; nothing blocks."""

    def __init__(self, pause: Callable[[], None], go_on: Callable[[], None]) -> None:
        self._pause = pause  # the live display makes room
        self._go_on = go_on
        self._waiting: deque[Question] = deque()
        self._current: Question | None = None
        self._typed = b""
        self._is_gone = False

    def ask(
        self,
        text: str,
        options: tuple[str, ...],
        preset: str | None,
        on_answer: Callable[[str | None], None],
        *,
        is_menu: bool = False,
        by_hand: str | None = None,
    ) -> None:
        self._waiting.append(Question(text, options, preset, on_answer, is_menu, by_hand))
        if self._is_gone:
            self._nobody()
        elif self._current is None:
            self._next()

    def withdraw(self, on_answer: Callable[[str | None], None]) -> None:
        """A question waits no longer; the next one is shown, if it was this one's turn."""
        self._waiting = deque(q for q in self._waiting if q.on_answer is not on_answer)
        if self._current is not None and self._current.on_answer is on_answer:
            self._typed = b""
            console.echo("", err=True)
            self._next()

    def _nobody(self) -> None:
        """Whoever was there is gone: nothing that is asked gets an answer."""
        unanswered = [*([self._current] if self._current else []), *self._waiting]
        self._current = None
        self._waiting.clear()
        for question in unanswered:
            question.on_answer(None)

    def _next(self) -> None:
        loop = asyncio.get_running_loop()
        if not self._waiting:
            self._current = None
            loop.remove_reader(sys.stdin.fileno())
            self._go_on()
            return
        if self._current is None:
            self._pause()
            loop.add_reader(sys.stdin.fileno(), self._read)
        self._current = self._waiting.popleft()
        self._show(self._current)

    def _show(self, question: Question) -> None:
        console.echo("\n" + question.text, err=True)
        if question.options and not question.is_menu:
            for number, option in enumerate(question.options, 1):
                console.echo(f"  [{number}] {option}", err=True)
        preset = f" [{question.preset}]" if question.preset else ""
        console.echo(f"{preset}> ", err=True, nl=False)

    def _read(self) -> None:
        try:
            data = os.read(sys.stdin.fileno(), LINE_BYTES_MAX)
        except OSError:  # the terminal was closed
            data = b""
        if not data:
            self._is_gone = True
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            self._nobody()
            self._go_on()
            return
        self._typed = (self._typed + data)[-LINE_BYTES_MAX:]
        while b"\n" in self._typed and self._current is not None:
            line, _end, self._typed = self._typed.partition(b"\n")
            self._take(self._current, line.decode("utf-8", "replace").strip())

    def _take(self, question: Question, typed: str) -> None:
        answer = chosen(typed, question.options, question.preset)
        if answer is None:
            close = get_close_matches(typed, question.options, 1)
            hint = _("did you mean `{name}`?").format(name=close[0]) if close else ""
            console.echo(_("please choose one of them.") + f" {hint}\n> ", err=True, nl=False)
            return
        if answer == question.by_hand:
            text = _("Mend it now; press Enter when it is done.")
            done = partial(_done, question, answer)
            self._waiting.appendleft(Question(text, (), "Enter", done))
            self._next()
            return
        question.on_answer(answer)
        self._next()


def _done(question: Question, answer: str, typed: str | None) -> None:
    """Whatever was typed: it is done. None: the person is gone, and nobody knows."""
    question.on_answer(None if typed is None else answer)


def chosen(typed: str, options: tuple[str, ...], preset: str | None) -> str | None:
    """The option that was meant: exact, by case, by number; None where none was."""
    if not typed and preset is not None:
        return preset
    if not options:
        return typed or None
    by_case = {option.lower(): option for option in options}
    if typed in options:
        return typed
    if typed.lower() in by_case:
        return by_case[typed.lower()]
    if typed.isascii() and typed.isdigit() and len(typed) < 5 and 1 <= int(typed) <= len(options):
        return options[int(typed) - 1]
    return None
