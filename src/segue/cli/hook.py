"""`segue hook EVENT`: what Claude Code runs, as `segue hooks install` set up.

It is not for people, so `--help` does not list it. It answers with exit code 0 whatever happens:
2 would hold the agent back.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from datetime import UTC, datetime

import click

STDIN, STDOUT, STDERR = 0, 1, 2
BYTES_MAX = 5 * 1024 * 1024  # more is not read, and what is cut off is no JSON
# Claude Code without a terminal ends with the limit, and its hooks with it: this needs longer.
IN_BACKGROUND = ("StopFailure",)
BACKGROUND_S_MAX = 60


@click.command(
    "hook", hidden=True, context_settings={"ignore_unknown_options": True}, add_help_option=False
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def command(ctx: click.Context, words: tuple[str, ...]) -> int:
    event = words[0] if words else ""
    data = _read()
    if event in IN_BACKGROUND and not _is_in_background():
        return 0
    from segue.work.hooks.answering import answer  # noqa: PLC0415 - not before the fork

    said = answer(event, data, ctx.obj["environ"], datetime.now(UTC))
    if said:
        with suppress(OSError):  # the agent is gone, or the disk is full: no one reads an answer
            os.write(sys.stdout.fileno(), f"{said}\n".encode("utf-8", "replace"))
    return 0


def _is_in_background() -> bool:
    """Continue as a detached process; False in the process that the caller waits for."""
    if os.fork():
        return False
    os.setsid()
    signal.alarm(BACKGROUND_S_MAX)  # whatever it waits for, it does not stay
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (STDIN, STDOUT, STDERR):
        os.dup2(nowhere, stream)
    return True


def _read() -> bytes:
    """What was piped in; a person at a terminal has no payload."""
    if os.isatty(STDIN):
        return b""
    data = bytearray()
    with suppress(OSError):  # as where the pipe ends early: the rest is no JSON, and that is logged
        while len(data) < BYTES_MAX and (piece := os.read(STDIN, BYTES_MAX - len(data))):
            data += piece
    return bytes(data)
