"""The line that a person types: bytes as the terminal sends them → text, with the usual keys.

On a terminal that edits lines itself only whole lines arrive here, and the keys never do.
"""

from __future__ import annotations

import codecs
import re
import termios
from typing import Any

LINE_CHARS_MAX = 16 * 1024
BACKSPACE, KILL_LINE, KILL_WORD, END = "\x7f\x08", "\x15", "\x17", "\x04"
# Keys that move, and what a terminal answers: nothing of them is text.
_KEYS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^\[O])?")


class TypingLine:
    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text = ""
        self.is_over = False  # the person pressed Ctrl-D

    def feed(self, data: bytes) -> list[str]:
        """What was typed since; the lines that are complete by it."""
        lines = []
        typed = self._decoder.decode(data.replace(b"\r\n", b"\n"))
        for sign in _KEYS.sub("", typed):
            if sign in "\r\n":
                lines.append(self.text.strip())
                self.text = ""
            elif sign in BACKSPACE:
                self.text = self.text[:-1]
            elif sign == KILL_LINE:
                self.text = ""
            elif sign == KILL_WORD:
                self.text = self.text.rstrip().rpartition(" ")[0]
            elif sign == END:
                self.is_over = self.is_over or not self.text
            elif sign.isprintable() or sign == "\t":
                self.text = (self.text + sign)[-LINE_CHARS_MAX:]
        return lines


class KeyByKey:
    """A terminal that sends each key at once and shows none by itself; Ctrl-C still interrupts."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._before: list[Any] | None = None

    def start(self) -> None:
        if self._before is not None:
            return
        try:
            before = termios.tcgetattr(self._fd)
            now = [*before]
            now[3] &= ~(termios.ECHO | termios.ICANON)
            termios.tcsetattr(self._fd, termios.TCSADRAIN, now)
        except termios.error:  # it is no terminal, or is gone
            return
        self._before = before

    def stop(self) -> None:
        before, self._before = self._before, None
        if before is None:
            return
        try:
            termios.tcsetattr(self._fd, termios.TCSADRAIN, before)
        except termios.error:  # it was closed
            return
