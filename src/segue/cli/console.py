"""The way out: everything that a command prints, and every question that it asks.

Titles, file names, errors and the words of agents are other people's text. Nothing in it may act
on the terminal, and nothing that the terminal does (it is closed, its disk is full) may end the
work. Where the terminal has no Unicode, Segue's marks are words of ASCII.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import click

from segue.cli import streams
from segue.dialects.lines import plain_text

PLAIN = "--plain"
# JSON escapes the other control characters itself.
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
ASCII = str.maketrans(
    {
        "✔": "ok", "✅": "ok", "✘": "FAILED", "❌": "FAILED", "⛔": "DENIED", "⊘": "-",
        "▶": ">", "▷": ">", "⏵": ">", "→": "->", "←": "<-", "↔": "<->", "⇄": "<->",
        "○": "o", "●": "*", "◆": "*", "•": "*", "✎": "*", "¤": "$", "×": "x", "✝": "x",
        "⏳": "...", "…": "...", "⏸": "||", "⏹": "!", "⏰": "!", "⚠": "!", "✋": "!", "❓": "?",
        "↻": "+", "↺": "+", "⚯": "&", "⚖": "=", "✉": "=", "👤": "@", "⚙": "#",
        "–": "-", "—": "-", "·": "-", "“": '"', "”": '"', "‘": "'", "’": "'",
        "━": "#", "█": "#", "┄": ".", "░": ".", "─": "-", "│": "|", "↑": "^", "↓": "v",
        "🔑": "*", "\ufe0f": "",
        **dict(zip("▁▂▃▄▅▆▇", "_.:-=+*", strict=True)),
        **dict(zip("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\|/-\\|/", strict=True)),
    }
)  # fmt: skip


@dataclass(slots=True)
class _Mode:
    is_ascii: bool = False
    is_lines: bool = False


_mode = _Mode()


class Styled(NamedTuple):
    """A part of a line that has a colour where there are colours."""

    text: str
    fg: str
    bold: bool = False


def set_up(args: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """How this process prints: `--plain` and a locale without Unicode mean ASCII marks; `--plain`
    and a terminal that cannot move its cursor mean lines as in a pipe. The other arguments."""
    end = args.index("--") if "--" in args else len(args)
    others = [arg for arg in args[:end] if arg != PLAIN]
    is_plain = len(others) < end
    _mode.is_ascii = is_plain or not _has_unicode(environ)
    _mode.is_lines = is_plain or environ.get("TERM") == "dumb"
    return [*others, *args[end:]]


def _has_unicode(environ: Mapping[str, str]) -> bool:
    """What the locale says, where one is set. Python itself writes UTF-8 in the locale C."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    if codecs.lookup(encoding).name != "utf-8":
        return False
    names = ("LC_ALL", "LC_CTYPE", "LANG")
    locale = next((environ[name] for name in names if environ.get(name)), "C.UTF-8")
    return locale.lower().replace("-", "").partition("@")[0].endswith(".utf8") or (
        "." not in locale and locale not in ("C", "POSIX")
    )


def is_ascii() -> bool:
    return _mode.is_ascii


def is_live() -> bool:
    """Whether standard output is a terminal on which things can be drawn again and again."""
    return sys.stdout.isatty() and not _mode.is_lines


def is_foreground() -> bool:
    """Whether this program has the terminal: one in the background draws nothing and asks
    nobody. Without job control it has."""
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError:
        return True


def clean(text: str) -> str:
    """Text that only shows: no control characters, no escape sequences, nothing that turns the
    order of other signs around; in ASCII marks where the terminal has no others."""
    if not text.isprintable():
        text = plain_text(text)
    return text.translate(ASCII) if _mode.is_ascii else text


def echo(*parts: str | Styled, err: bool = False, nl: bool = True) -> None:
    """Print a line, or several. That the reader is gone, or the disk is full, is not an error
    of what is printed."""
    shown = "".join(
        click.style(clean(part.text), fg=part.fg, bold=part.bold or None)
        if isinstance(part, Styled)
        else clean(part)
        for part in parts
    )
    with streams.guarded():
        click.echo(shown, err=err, nl=nl, color=False if _mode.is_lines else None)


def echo_json(value: object, *, indent: int | None = None, err: bool = False) -> None:
    """Print a value for programs: the same value, whatever the terminal does with its text."""
    with streams.guarded():
        click.echo(to_json(value, indent=indent), err=err, color=True)


def to_json(value: object, *, indent: int | None = None) -> str:
    return safe_json(json.dumps(value, ensure_ascii=False, indent=indent))


def safe_json(text: str) -> str:
    """The same JSON, with what acts on a terminal escaped."""
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def write_bytes(data: bytes) -> None:
    """Print bytes as they are: only where a person or a program asked for exactly them."""
    with streams.guarded():
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def confirm(question: str, *, default: bool = False) -> bool:
    return click.confirm(clean(question), default=default)


def prompt(
    question: str, *, default: str | None = None, hide_input: bool = False, err: bool = False
) -> str:
    shown = question if default is None else f"{question} [{default}]"
    said: Any = click.prompt(
        clean(shown), default=default, show_default=False, hide_input=hide_input, err=err
    )
    return str(said)
