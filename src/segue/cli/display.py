"""What is drawn on a terminal: rich's console and text, through the same way out as lines."""

from __future__ import annotations

import sys
from typing import IO, Any, cast

from rich.console import Console
from rich.live import Live
from rich.style import StyleType
from rich.text import Text

from segue.cli import streams
from segue.cli.console import clean, is_ascii


class _Out:
    """Standard output for rich: it never fails."""

    @property
    def encoding(self) -> str:
        return "ascii" if is_ascii() else sys.stdout.encoding

    def write(self, text: str) -> int:
        with streams.guarded():
            sys.stdout.write(text)
        return len(text)

    def flush(self) -> None:
        with streams.guarded():
            sys.stdout.flush()

    def isatty(self) -> bool:
        return sys.stdout.isatty()

    def fileno(self) -> int:
        return sys.stdout.fileno()


def make_console(**how: Any) -> Console:
    return Console(file=cast("IO[str]", _Out()), highlight=False, **how)


def make_live(console: Console) -> Live:
    """A part of the screen that is drawn again and again; what is printed stays above it."""
    return Live(
        console=console,
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def text(said: str, style: StyleType = "") -> Text:
    """Untrusted text as display text: it carries no markup."""
    return Text(clean(said), style=style)


def assemble(*parts: str | tuple[str, StyleType]) -> Text:
    return Text.assemble(*(clean(p) if isinstance(p, str) else (clean(p[0]), p[1]) for p in parts))
