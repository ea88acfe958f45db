"""A person at the terminal picks one of several."""

from __future__ import annotations

import os
import select
import signal
import sys

import click

from segue.cli import console
from segue.i18n import _


def choose(question: str, most: int) -> int:
    """A number from 1 on; Enter alone takes the first, Ctrl-C and the end of input none."""
    while True:
        console.echo(f"{question} [1]: ", nl=False)
        try:
            line = _line()
        except KeyboardInterrupt:
            console.echo()
            raise click.Abort from None
        if not line:
            console.echo()
            raise click.Abort
        text = line.strip() or "1"
        if text.isdecimal() and 1 <= int(text) <= most:
            return int(text)
        console.echo(_("Enter a number from 1 to {most}.").format(most=most))


def _line() -> str:
    """What is typed next. A signal that comes before the read begins is not slept through, as it
    would be by `input`."""
    if not sys.stdin.isatty():
        return sys.stdin.readline()
    seen, tell = os.pipe()
    os.set_blocking(tell, False)
    before = signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    ctrl_c = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may have been ignored
    try:
        select.select([sys.stdin, seen], [], [])
        return sys.stdin.readline()
    finally:
        signal.signal(signal.SIGINT, ctrl_c)
        signal.set_wakeup_fd(before)
        os.close(seen)
        os.close(tell)
