"""Questions on a terminal, one after the other, while work goes on."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

import click

from segue.i18n import _

LINE_BYTES_MAX = 64 * 1024


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    options: tuple[str, ...]
    preset: str | None
    on_answer: Callable[[str], None]


class TerminalAsker:
    """Reads answers from standard input as they are typed; nothing blocks."""

    def __init__(self, pause: Callable[[], None], go_on: Callable[[], None]) -> None:
        self._pause = pause  # the live display makes room
        self._go_on = go_on
        self._waiting: deque[Question] = deque()
        self._current: Question | None = None
        self._typed = b""

    def ask(
        self,
        text: str,
        options: tuple[str, ...],
        preset: str | None,
        on_answer: Callable[[str], None],
    ) -> None:
        self._waiting.append(Question(text, options, preset, on_answer))
        if self._current is None:
            self._next()

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
        click.echo("\n" + question.text, err=True)
        if question.options and not _is_menu(question):
            for number, option in enumerate(question.options, 1):
                click.echo(f"  [{number}] {option}", err=True)
        preset = f" [{question.preset}]" if question.preset else ""
        click.echo(f"{preset}> ", err=True, nl=False)

    def _read(self) -> None:
        data = os.read(sys.stdin.fileno(), LINE_BYTES_MAX)
        if not data:  # end of input: whoever was there is gone
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
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
            click.echo(_("please choose one of them.") + f" {hint}\n> ", err=True, nl=False)
            return
        if _is_menu(question) and answer == "3" and question.preset is None:
            text = _("Mend it now; press Enter when it is done.")
            self._waiting.appendleft(Question(text, (), "1", question.on_answer))
            self._next()
            return
        question.on_answer(answer)
        self._next()


def _is_menu(question: Question) -> bool:
    """The options are numbers already shown in the text."""
    return bool(question.options) and all(option.isdigit() for option in question.options)


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
    if typed.isdigit() and 1 <= int(typed) <= len(options):
        return options[int(typed) - 1]
    return None
