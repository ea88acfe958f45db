"""Questions on a terminal, one after the other, while the work continues."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Protocol

from segue.cli import console
from segue.cli.typing_line import TypingLine
from segue.i18n import _

READ_BYTES = 64 * 1024
ABOUT = re.compile(r"(?:❓ )?([^\s:]{1,40}):")  # the task that a line begins with


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    options: tuple[str, ...]
    preset: str | None
    on_answer: Callable[[str | None], None]
    is_menu: bool = False  # its text shows the numbers to choose from
    by_hand: str | None = None  # the option that a person carries out first

    @property
    def lines(self) -> list[str]:
        """All that a person must know to answer."""
        numbers = () if self.is_menu else enumerate(self.options, 1)
        return [*self.text.splitlines(), *(f"  [{n}] {option}" for n, option in numbers)]

    @property
    def prompt(self) -> str:
        return f"[{self.preset}]> " if self.preset else "> "

    @property
    def brief(self) -> str:
        """What it is about and what can be chosen, for a line below everything else."""
        if self.is_menu:
            menu = [line for line in self.lines if line.startswith("[")]
            return "  ".join([self.about, *(line.partition(" - ")[0] for line in menu)])
        numbers = enumerate(self.options, 1)
        return "  ".join([self.about, *(f"[{n}] {option}" for n, option in numbers)])

    @property
    def about(self) -> str:
        """The task that asks, or is asked about."""
        found = (match[1] for line in self.lines if (match := ABOUT.match(line)))
        return f"❓ {next(found, '')}".rstrip()

    def named(self, answer: str) -> str:
        """An answer as a person reads it later: a number of a menu with its words."""
        if self.is_menu:
            return next((line for line in self.lines if line.startswith(f"[{answer}]")), answer)
        return answer


class Shown(Protocol):
    """Where questions are shown."""

    def question(self, question: Question | None) -> None:
        """This one's turn has come; None: nothing is asked now."""
        ...

    def typed(self, text: str) -> None:
        """What stands in the line that is being typed."""
        ...

    def refused(self, question: Question, hint: str) -> None:
        """What was typed is no answer."""
        ...

    def settled(self, question: Question, answer: str | None) -> None:
        """Answered here; None: answered elsewhere, or no person is present."""
        ...


class TerminalAsker:
    """Reads answers from standard input as they are typed; nothing blocks."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._waiting: deque[Question] = deque()
        self._current: Question | None = None
        self._line = TypingLine()
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
            self._shown.settled(self._current, None)
            self._next()

    def _nobody(self) -> None:
        """The terminal is gone: no question gets an answer."""
        unanswered = [*([self._current] if self._current else []), *self._waiting]
        self._current = None
        self._waiting.clear()
        for question in unanswered:
            question.on_answer(None)

    def _next(self) -> None:
        loop = asyncio.get_running_loop()
        self._line.text = ""  # what was half typed was meant for another question
        if not self._waiting:
            self._current = None
            loop.remove_reader(sys.stdin.fileno())
            self._shown.question(None)
            return
        if self._current is None:
            loop.add_reader(sys.stdin.fileno(), self._read)
        self._current = self._waiting.popleft()
        self._shown.question(self._current)

    def _read(self) -> None:
        try:
            data = os.read(sys.stdin.fileno(), READ_BYTES)
        except OSError:  # the terminal was closed
            data = b""
        # One by one: what follows an answer is for the next question.
        for part in data.splitlines(keepends=True):
            for line in self._line.feed(part):
                if self._current is not None:
                    self._take(self._current, line)
        if not data or self._line.is_over:
            self._leave()
        elif self._current is not None:
            self._shown.typed(self._line.text)

    def _leave(self) -> None:
        self._is_gone = True
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        if self._current is not None:
            self._shown.settled(self._current, None)
        self._nobody()
        self._shown.question(None)

    def _take(self, question: Question, typed: str) -> None:
        answer = chosen(typed, question.options, question.preset)
        if answer is None:
            close = get_close_matches(typed, question.options, 1)
            hint = " " + _("did you mean `{name}`?").format(name=close[0]) if close else ""
            self._shown.refused(question, _("choose one of them.") + hint)
            return
        self._shown.settled(question, answer)
        if answer == question.by_hand:
            text = _("Fix it now, then press Enter.")
            done = partial(_done, question, answer)
            self._waiting.appendleft(Question(text, (), "Enter", done))
            self._next()
            return
        question.on_answer(answer)
        self._next()


class PlainQuestions:
    """Questions between plain lines, on standard error; the terminal itself shows the typing."""

    def __init__(self) -> None:
        self._asked: Question | None = None

    def question(self, question: Question | None) -> None:
        self._asked = question
        if question is not None:
            console.echo("\n" + "\n".join(question.lines), err=True)
            self._prompt()

    def typed(self, text: str) -> None:
        pass

    def refused(self, question: Question, hint: str) -> None:
        console.echo(hint, err=True)
        self._prompt()

    def settled(self, question: Question, answer: str | None) -> None:
        if answer is None:
            console.echo("", err=True)

    def line(self, text: str) -> None:
        """A line of the run, which must not end up in the prompt."""
        is_between = self._asked is not None and sys.stdout.isatty()
        if is_between:
            console.echo("", err=True)
        console.echo(text)
        if is_between:
            self._prompt()

    def _prompt(self) -> None:
        if self._asked is not None:
            console.echo(self._asked.prompt, err=True, nl=False)


def _done(question: Question, answer: str, typed: str | None) -> None:
    """Any input means that it is done. None: the person has left, so it is unknown."""
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
