"""Runs as they are known outside their keepers: what was ordered, what became of it.

The truth about a run is in its two files (`records`): who linked the claim decides whether it
starts at all, the end record says how it ended. Everything here works for any supervisor, the
one that ordered the run or one that comes after its death.
"""

from __future__ import annotations

import asyncio
import binascii
import fcntl
import json
import os
import signal
import struct
import sys
import termios
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from segue.drivers import living, processes, records
from segue.drivers.keeper import OVER
from segue.errors import AgentError, Bug
from segue.i18n import _

RUN_VARIABLE = "SEGUE_RUN"
CLAIMED = ("pid", "started", "boot")  # what a claim says of its keeper
ORPHANS_S = 5.0
SETTLE_S = 0.05


@dataclass(frozen=True, slots=True)
class Order:
    """One run to start. `env` is the agent's whole environment, with SEGUE_RUN in it.

    `stdin`: a file (None: nothing to read); with `interactive` the FIFO that the keeper makes
    there, for `send`, with the bytes of the file `first` in it. `err`: where stderr goes if not
    into the log. `pty`: rows and columns. Bytes of a `stdin` file are typed into a pty as they
    are, without an end of file. `masks`: secrets that no log may show. An order is never
    written to a file: its secrets are in memory alone.
    """

    run: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    cwd: Path
    log: Path
    claim: Path
    end: Path
    stdin: Path | None = None
    first: Path | None = None
    err: Path | None = None
    interactive: bool = False
    pty: tuple[int, int] | None = None
    grace_s: float = 5.0
    log_bytes_max: int = 2**30
    spare: Path | None = None  # the record of a settled run, to be used again
    masks: tuple[str, ...] = field(default=(), repr=False)
    layers: int = 0  # how many processes of a sandbox stand above the agent's own

    def __post_init__(self) -> None:
        if not self.argv:
            raise Bug("a run needs a command")
        if self.interactive and self.stdin is None:
            raise Bug("an interactive run needs a path for its stdin")

    def to_line(self, keeper: int) -> bytes:
        """As the nursery reads it. Paths keep their bytes: the nursery speaks UTF-8 mode."""
        order: dict[str, Any] = {
            "run": self.run,
            "argv": self.argv if IS_UTF8 else [_text(word) for word in self.argv],
            "env": dict(self.env)
            if IS_UTF8
            else {_text(name): _text(value) for name, value in self.env.items()},
            "interactive": self.interactive,
            "pty": self.pty,
            "grace_s": self.grace_s,
            "log_bytes_max": self.log_bytes_max,
            "layers": self.layers,
            "masks": self.masks if IS_UTF8 else [_text(value) for value in self.masks],
        }
        for name in ("cwd", "stdin", "first", "log", "err", "claim", "end", "spare"):
            path: Path | None = getattr(self, name)
            order[name] = None if path is None else _absolute(_text(path))
        return b"%d %s\n" % (keeper, json.dumps(order).encode())


@dataclass(frozen=True, slots=True)
class Live:
    """A run whose keeper was started or adopted, and which may have ended meanwhile.

    The nursery that started it reports `ending`; for an adopted run, the keeper's own end does.
    """

    run: str
    keeper: int
    started: int
    ending: asyncio.Future[bool] | None = field(default=None, compare=False, repr=False)

    @property
    def is_over(self) -> bool:
        """It has ended, and its keeper may have another run: there is nothing to signal."""
        return self.ending is not None and self.ending.done() and self.ending.result()


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run's agent could not be started."""

    errno: int | None
    strerror: str
    path: str | None


@dataclass(frozen=True, slots=True)
class End:
    """How a run ended. `by` is "itself" or "keeper" (on request); `survivors` could not be ended:
    processes of another user."""

    code: int | None
    signal: int | None
    by: str
    ended_at: float
    error: Failure | None = None
    leftovers: int = 0
    survivors: int = 0
    log_bytes: int = 0
    lost_bytes: int = 0
    lost_tail: bytes = b""  # the end of what was lost, to be read behind the log


@dataclass(frozen=True, slots=True)
class Revoked:
    """The run never started and never will."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The run was started, its keeper was killed or the machine rebooted; nothing of it is left."""


def read_end(path: Path) -> End | None:
    """A run's end record; None: it still runs, or its keeper was killed."""
    data = _bytes(path)
    if data is None:
        return None
    try:
        return _end(_parsed(data), data)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        text = _("{path} is not an end record: another program wrote to it")
        raise AgentError(text.format(path=path)) from error


def read_outcome(claim: Path, end: Path) -> End | None:
    """How a run ended: its end record, or what a keeper that was killed while it cleaned up had
    noted before. None: unknown."""
    record = read_end(end)
    if record is not None or not claim.exists() or records.is_revoked(str(claim)):
        return record
    held, data = _read_claim(claim)
    return _end(held, data) if "ended_at" in held else None


def _parsed(data: bytes) -> Any:
    """The record, which other bytes may follow."""
    return json.JSONDecoder().raw_decode(data.decode("utf-8", "replace"))[0]


def _end(record: dict[str, Any], data: bytes) -> End:
    """`data`: all of its file. What no log could take stands in the record or behind it."""
    told = {name: value for name, value in record.items() if name not in CLAIMED}
    error, tail = told.pop("error"), binascii.a2b_base64(told.pop("lost_tail", ""))
    behind = data[records.RECORD_BYTES :][: told.pop("tail_bytes", 0)]
    tail = behind or tail  # none behind a record that was rewritten
    return End(**told, lost_tail=tail, error=Failure(**error) if error else None)


def _bytes(path: Path) -> bytes | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)  # a file object costs several times as much
    except FileNotFoundError:
        return None
    try:
        return os.read(fd, records.RECORD_BYTES + records.TAIL_BYTES_MAX)
    finally:
        os.close(fd)


def recover(claim: Path, end: Path, run: str) -> Live | End | Revoked | Lost:
    """What became of a run that an earlier supervisor ordered; safe at any moment, any number of
    times. Afterwards either its keeper lives, or nothing of it does and nothing ever will."""
    try:
        if record := read_end(end):
            return record
        try:
            records.revoke(str(claim.absolute()))
        except FileExistsError:
            pass  # by a keeper, or revoked before
        except FileNotFoundError:  # the whole folder was removed
            _kill_orphans(run)
            return Lost()
        if records.is_revoked(str(claim)):
            # A keeper that has ended took its claim away: then there is a record now.
            return read_end(end) or _without_claim(claim, end, run)
        held, data = _read_claim(claim)
        pid, started = held.get("pid", 0), held.get("started", 0)
        if held.get("boot") == processes.boot_id() and processes.is_alive(pid, started):
            return Live(run, pid, started)
        if record := read_end(end):  # left between the two looks
            return record
        if "ended_at" in held:  # the claim is just becoming the record, or its keeper was killed
            if pid:
                _kill_orphans(run)
            return _end(held, data)
    except AgentError:
        pass  # a record that says nothing is no record
    _kill_orphans(run)
    return Lost()


def _without_claim(claim: Path, end: Path, run: str) -> Live | Revoked | Lost:
    """It never started, unless its claim was removed under it: then its processes live."""
    keeper = living.keeper_of(run)
    if keeper is None:
        if processes.find_by_environ(RUN_VARIABLE, run):  # no process is left to report its end
            _kill_orphans(run)
            return Lost()
        return Revoked()
    claim.unlink(missing_ok=True)  # the revocation
    live = Live(run, *keeper)
    claim_again(claim, end, live)
    return live


def claim_again(claim: Path, end: Path, live: Live) -> None:
    """Rewrite the claim of a run whose file was removed; its keeper will still leave its end."""
    if claim.exists() or end.exists():
        return
    held = {"pid": live.keeper, "started": live.started, "boot": processes.boot_id()}
    with suppress(FileExistsError):
        os.close(records.claim(str(claim), held))


def is_under_way(claim: Path) -> bool | None:
    """Whether the run of this claim is kept by a living keeper; None: there is no claim (yet, or
    any more). A look: nothing is changed."""
    if not claim.exists():
        return None
    held, _data = _read_claim(claim)
    is_ours = held.get("boot") == processes.boot_id()
    return is_ours and processes.is_alive(held.get("pid", 0), held.get("started", 0))


def _read_claim(path: Path) -> tuple[dict[str, Any], bytes]:
    """The claim, and all of its file; empty where it was damaged, or it is gone: then no
    keeper can be found."""
    until = time.monotonic() + SETTLE_S
    while (data := _bytes(path)) == b"" and time.monotonic() < until:
        time.sleep(SETTLE_S / 10)  # made, and about to be written
    try:
        content = _parsed(data or b"")
    except ValueError:
        return {}, b""
    return (content, data or b"") if isinstance(content, dict) else ({}, b"")


def _kill_orphans(run: str) -> None:
    until = time.monotonic() + ORPHANS_S
    looks = 2  # a keeper killed while it started the agent: that shows its environment a bit later
    while looks and time.monotonic() < until:
        looks = 2 if processes.kill_by_environ(RUN_VARIABLE, run) else looks - 1
        time.sleep(SETTLE_S if looks else 0)


def send(stdin: Path, data: bytes) -> None:
    """Hand bytes to an interactive run, all or nothing, without waiting.

    AgentError: the run has ended, or the agent has not read what it was sent before.
    """
    try:
        if not stdin.is_fifo():
            raise FileNotFoundError(stdin)
        fd = os.open(stdin, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        raise AgentError(_("the agent no longer reads its input")) from error
    try:
        (queued_bytes,) = struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))
        page_bytes = os.sysconf("SC_PAGE_SIZE")
        # Half-filled pages count whole in a pipe: two neighbours hold a page's worth at least.
        needed_bytes = 2 * queued_bytes + len(data) + 3 * page_bytes
        if needed_bytes > fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ):
            raise AgentError(_("the agent does not read its input"))
        written_bytes = os.write(fd, data)
        if written_bytes != len(data):
            raise Bug(f"{stdin} took {written_bytes} of {len(data)} bytes")
    except (BlockingIOError, BrokenPipeError) as error:
        raise AgentError(_("the agent does not read its input")) from error
    finally:
        os.close(fd)


def unread(stdin: Path) -> int:
    """How much of what was sent to an interactive run it has not read yet."""
    try:
        fd = os.open(stdin, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return 0
    try:
        (queued_bytes,) = struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))
        return int(queued_bytes)
    finally:
        os.close(fd)


def end_input(live: Live, stdin: Path) -> None:
    """Let an interactive run find the end of its input; its keeper must be asked for it."""
    if stdin.is_fifo():
        stdin.with_name(stdin.name + OVER).touch()
        processes.send_signals((live.keeper, live.started), signal.SIGUSR1)


def _absolute(path: str) -> str:
    return path if path.startswith("/") else os.path.abspath(path)  # noqa: PTH100 - of a text


IS_UTF8 = sys.getfilesystemencoding() == "utf-8"


def _text(value: str | os.PathLike[str]) -> str:
    if IS_UTF8:  # then it is what it would become
        return os.fspath(value)
    return os.fsencode(value).decode("utf-8", "surrogateescape")
