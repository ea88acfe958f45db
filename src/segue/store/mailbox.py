"""Answers that came by another way than the terminal of the run: one file for each gate.

Whoever answers leaves a letter; whoever runs the plan takes it, now or at its next start.
A letter appears whole or not at all, and the first one for a gate stands: a hard link
never replaces a name. Names that begin with a dot are letters being written.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from segue.errors import UserError
from segue.i18n import _
from segue.store import files
from segue.store.changes import instant, stamp

ANSWER_BYTES_MAX = 64 * 1024
LETTER_BYTES_MAX = 8 * ANSWER_BYTES_MAX  # escaped as JSON, with room for who and when
LETTERS_MAX = 10_000

_GATE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class Letter:
    """One answer, and where it lies."""

    path: Path
    gate: str
    answer: str
    by: str
    at: datetime


def post(folder: Path, gate: str, answer: str, by: str, at: datetime) -> Letter:
    """Leave an answer; told in words if the gate has one already."""
    _check(gate, answer)
    letter = Letter(folder / f"{gate}{_SUFFIX}", gate, answer, by, at)
    told = {"gate": gate, "answer": answer, "by": by, "at": stamp(at)}
    data = json.dumps(told).encode()
    temporary = folder / f".{gate}.{secrets.token_hex(6)}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        _write(temporary, data)
        _name(temporary, letter)
    except OSError as error:
        raise files.in_words(error, folder) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    _sync(folder)
    return letter


def take(folder: Path) -> list[Letter]:
    """All letters, the oldest first; they stay until they are done with.

    What is none is put aside, so that it cannot hold the place of an answer.
    """
    letters = []
    for path in _paths(folder):
        try:
            data = _read(path)
        except OSError:
            continue  # taken by somebody else, or not ours to read
        letter = None if data is None else _letter(path, data)
        if letter is None:
            with suppress(OSError):
                path.rename(path.with_name(f".{path.name}.unreadable"))
        else:
            letters.append(letter)
    return sorted(letters, key=lambda letter: (letter.at, letter.gate))


def done(letter: Letter) -> None:
    """The answer is in the tables (or came too late): the letter has served."""
    letter.path.unlink(missing_ok=True)


def _check(gate: str, answer: str) -> None:
    if not _GATE.fullmatch(gate):
        raise UserError(
            "bad_gate",
            _("`{gate}` cannot be the id of a question").format(gate=gate[:64]),
            hint=_("segue status --json shows the ids"),
        )
    if len(answer.encode("utf-8", "replace")) > ANSWER_BYTES_MAX:
        raise UserError(
            "answer_too_long",
            _("the answer is too long: at most {n} bytes").format(n=ANSWER_BYTES_MAX),
            hint=_("put it into a file of the project and name the file"),
        )


def _answered(gate: str) -> UserError:
    return UserError(
        "already_answered",
        _("the question {gate} is already answered").format(gate=gate),
        hint=_("the first answer counts; the run takes it up by itself"),
    )


def _name(temporary: Path, letter: Letter) -> None:
    try:
        os.link(temporary, letter.path)
    except FileExistsError:
        raise _answered(letter.gate) from None


def _write(path: Path, data: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.fsync(fd)
    finally:
        os.close(fd)


def _sync(folder: Path) -> None:
    """Not through the shared descriptor of `files`: letters are posted by any thread."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _paths(folder: Path) -> list[Path]:
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - names are all that is needed
    except OSError:
        return []
    return [
        folder / name
        for name in names
        if name.endswith(_SUFFIX) and _GATE.fullmatch(name.removesuffix(_SUFFIX))
    ][:LETTERS_MAX]


def _read(path: Path) -> bytes | None:
    """A letter's bytes; None for what is no file, or too big to be a letter."""
    # A pipe would wait for a writer, a link could lead anywhere.
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            return None
        raise
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LETTER_BYTES_MAX:
            return None
        data = b""
        while more := os.read(fd, LETTER_BYTES_MAX + 1 - len(data)):
            data += more
        return data
    finally:
        os.close(fd)


def _letter(path: Path, data: bytes) -> Letter | None:
    try:
        told = json.loads(data)
        match told:
            case {"gate": str(gate), "answer": str(answer), "by": str(by), "at": str(at)}:
                when = instant(at)
                is_good = gate == path.stem and when.tzinfo is not None
                return Letter(path, gate, _sound(answer), _sound(by), when) if is_good else None
    except (ValueError, RecursionError):
        pass
    return None


def _sound(text: str) -> str:
    """Text that every encoder takes: JSON can carry halves of characters."""
    return text.encode("utf-8", "replace").decode()
