"""Standard streams that are closed, take nothing or lack signs: no command falls over them."""

from __future__ import annotations

import codecs
import io
import json
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

from segue.i18n import _

NAMES = ("stdin", "stdout", "stderr")

LENIENT = ("surrogateescape", "backslashreplace")  # with UTF-8 these can write everything
AS_JSON = "segue-json"

_lost: set[str] = set()  # streams that failed: their output is lost
_left: set[str] = set()  # streams whose reader is gone


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
    """Whether some output was lost."""
    return bool(_lost)


def is_read() -> bool:
    """Whether anybody may still read standard output: who shows things without an end, ends."""
    return "stdout" not in _left | _lost


@contextmanager
def guarded() -> Iterator[None]:
    """Write something; if the stream fails, the work continues without it."""
    try:
        yield
    except OSError as error:
        if not lost(error):
            raise


def lost(error: OSError) -> bool:
    """Whether an output stream failed. Later output to it is dropped, with one message.

    A reader that went away (`| head`) wanted no more, and a terminal that was closed shows
    nothing: no message.
    """
    left = [name for name in NAMES[1:] if _has_left(name)]
    _left.update(left)
    failing = left or list(islice(filter(_fails, NAMES[1:]), 1))
    for name in failing:
        stream = getattr(sys, name)
        _lead_nowhere(stream.fileno())
        stream.flush()
        if name not in _left | _lost:
            _lost.add(name)
            _tell(error)
    return bool(failing)


def _tell(error: OSError) -> None:
    from segue.cli import console  # noqa: PLC0415 - it prints through this module

    text = _("cannot write the output: {why}").format(why=error.strerror or error)
    console.echo(console.Styled(_("error:"), "red", bold=True), f" {text}", err=True)


def _lead_nowhere(number: int) -> None:
    opened = os.open(os.devnull, os.O_RDWR)
    if opened == number:
        os.set_inheritable(number, True)  # as standard streams are
    else:
        os.dup2(opened, number)
        os.close(opened)


def _has_left(name: str) -> bool:
    """The other end of a pipe or a terminal is closed."""
    poll = select.poll()
    try:
        poll.register(getattr(sys, name).fileno(), 0)
    except (OSError, ValueError):  # it is none of the system's
        return False
    return any(event & (select.POLLERR | select.POLLHUP) for _fd, event in poll.poll(0))


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
