"""Standard streams that are closed, take nothing or lack signs: no command falls over them."""

from __future__ import annotations

import codecs
import io
import json
import os
import sys

import click

from segue.i18n import _

NAMES = ("stdin", "stdout", "stderr")

LENIENT = ("surrogateescape", "backslashreplace")  # with UTF-8 these can write everything
AS_JSON = "segue-json"

_lost: set[str] = set()


def open_missing() -> None:
    """What was closed before the start (as by cron and daemons) leads nowhere from now on."""
    for number, name in enumerate(NAMES):
        if getattr(sys, name) is not None:
            continue
        _lead_nowhere(number)  # the number, too: the next file that is opened would get it
        mode = "r" if number == 0 else "w"
        setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def write_anything(*, as_json: bool) -> None:
    """What the encoding of standard output does not have is shown as `?`, or escaped as in JSON:
    a sign that cannot be shown must not end the work."""
    stream = sys.stdout
    if not isinstance(stream, io.TextIOWrapper):
        return
    if codecs.lookup(stream.encoding).name != "utf-8" or stream.errors not in LENIENT:
        codecs.register_error(AS_JSON, _escaped)
        stream.reconfigure(errors=AS_JSON if as_json else "replace")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def has_lost() -> bool:
    """Whether there was output that nobody can ever read."""
    return bool(_lost)


def lost(error: OSError) -> bool:
    """Whether an output stream failed; that is told once, and what else goes there is dropped.

    A reader that went away (`| head`) wanted no more: nothing is told.
    """
    if isinstance(error, BrokenPipeError):
        _lead_nowhere(sys.stdout.fileno())
        return True
    name = next((name for name in NAMES[1:] if _fails(name)), None)
    if name is None:
        return False
    stream = getattr(sys, name)
    _lead_nowhere(stream.fileno())
    stream.flush()
    if name not in _lost:
        _lost.add(name)
        text = _("the output cannot be written: {why}").format(why=error.strerror or error)
        try:
            click.echo(click.style(_("error:"), fg="red", bold=True) + " " + text, err=True)
        except OSError:  # neither takes anything
            _lead_nowhere(sys.stderr.fileno())
    return True


def _lead_nowhere(number: int) -> None:
    opened = os.open(os.devnull, os.O_RDWR)
    if opened == number:
        os.set_inheritable(number, True)  # as standard streams are
    else:
        os.dup2(opened, number)
        os.close(opened)


def _fails(name: str) -> bool:
    """What could not be written is still to be written, and fails again; where nothing is kept
    (PYTHONUNBUFFERED), an empty line fails like it."""
    stream = getattr(sys, name)
    try:
        if getattr(stream, "write_through", False):
            stream.write("\n")
        stream.flush()
    except OSError:
        return True
    return False
