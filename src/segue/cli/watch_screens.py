"""How `segue watch` shows what happens: a live table, plain lines, JSON for programs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol

from segue.cli import console
from segue.work.panes.watcher import Watcher


class Screen(Protocol):
    def emit(self, event: dict[str, Any]) -> None:
        """Something happened, for programs."""
        ...

    def log(self, line: str) -> None:
        """Something happened, for people."""
        ...

    def show(self, watcher: Watcher, end: Callable[[int], None]) -> None:
        """The watcher begins. `end` ends it, with an exit code."""
        ...

    def pause(self) -> None:
        """The program is about to be suspended (Ctrl-Z): the terminal is the shell's."""
        ...

    def go_on(self) -> None:
        """The program was continued, in the foreground or not."""
        ...

    def close(self) -> None: ...


def choose_screen(*, as_json: bool) -> Screen:
    if as_json:
        return JsonScreen()
    if console.is_live() and sys.stdin.isatty() and console.is_foreground():
        from segue.cli.watch_table import TableScreen  # noqa: PLC0415 - a pipe needs no rich

        return TableScreen()
    return LineScreen()


class LineScreen:
    """Log lines to standard error; nothing is a result before it ends."""

    def emit(self, event: dict[str, Any]) -> None:
        pass

    def log(self, line: str) -> None:
        console.echo(line, err=True)

    def show(self, watcher: Watcher, end: Callable[[int], None]) -> None:
        pass

    def pause(self) -> None:
        pass

    def go_on(self) -> None:
        pass

    def close(self) -> None:
        pass


class JsonScreen(LineScreen):
    """An event per line on standard output."""

    def emit(self, event: dict[str, Any]) -> None:
        console.echo_json(event)
