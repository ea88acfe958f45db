"""What people hand over for agents, encrypted at rest.

The key is `SEGUE_KEY` (any text), else a file beside the data that only its owner can read. A
sealed value says which of the two opens it, so that a missing key is not taken for a wrong one.
"""

from __future__ import annotations

import errno
import os
import stat
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from hashlib import scrypt
from pathlib import Path
from secrets import token_bytes, token_hex
from types import ModuleType
from typing import TYPE_CHECKING

from segue.errors import UserError
from segue.i18n import _
from segue.store import files

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

VARIABLE = "SEGUE_KEY"
KEY_FILE = "secrets.key"
KEY_BYTES = 44  # 32 as base64
SALT_BYTES = 16
INSTALL = "pip install 'segue[server]'"

_BY_FILE = b"f1."
_BY_TEXT = b"t1."  # then the salt, a dot, and the token


class Secrets:
    """Seals texts and opens them again; the key file is made when it is first needed."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self.key_file = folder / KEY_FILE
        self._text = environ.get(VARIABLE, "")
        self._salt = urlsafe_b64encode(token_bytes(SALT_BYTES))

    def seal(self, text: str) -> bytes:
        data = text.encode("utf-8", "surrogatepass")
        if self._text:
            return _BY_TEXT + self._salt + b"." + self._derived(self._salt).encrypt(data)
        return _BY_FILE + self._filed(or_make=True).encrypt(data)

    def open(self, sealed: bytes) -> str:
        """The text again; a UserError if the key is wrong, or the value is damaged."""
        kind, rest = sealed[: len(_BY_FILE)], sealed[len(_BY_FILE) :]
        try:
            match kind:
                case b"f1.":
                    data = self._filed(or_make=False).decrypt(rest)
                case b"t1.":
                    salt, _dot, token = rest.partition(b".")
                    data = self._derived(salt).decrypt(token)
                case _:
                    raise _broken()
            return data.decode("utf-8", "surrogatepass")
        except (_library().InvalidToken, UnicodeDecodeError) as error:
            raise self._wrong_key(kind) from error

    def _derived(self, salt: bytes) -> Fernet:
        if not self._text:
            raise UserError(
                "key_missing",
                _("this was encrypted with the key in {variable}, which is not set").format(
                    variable=VARIABLE
                ),
                hint=_("export {wanted}=… before you start Segue").format(wanted=VARIABLE),
            )
        return _fernet(_derive(self._text, salt), None)

    def _filed(self, *, or_make: bool) -> Fernet:
        key = _read_key(self.key_file)
        if key is None and or_make:
            _make_key(self.key_file)
            key = _read_key(self.key_file)
        if key is None:
            raise UserError(
                "key_missing",
                _("the key that encrypted this is missing"),
                file=str(self.key_file),
                hint=_("restore the file, or provide the value again"),
            )
        return _fernet(key, self.key_file)

    def _wrong_key(self, kind: bytes) -> UserError:
        where = VARIABLE if kind == _BY_TEXT else str(self.key_file)
        text = _("cannot decrypt a value: the key is a different one, or the value was changed")
        return UserError(
            "wrong_key",
            text,
            file=where,
            hint=_("start Segue with the key that encrypted it, or provide the value again"),
        )


@lru_cache(maxsize=64)
def _derive(text: str, salt: bytes) -> bytes:
    """Slow on purpose: a text that people choose can be guessed."""
    raw = scrypt(text.encode("utf-8", "surrogateescape"), salt=salt, n=2**14, r=8, p=1, dklen=32)
    return urlsafe_b64encode(raw)


def _fernet(key: bytes, path: Path | None) -> Fernet:
    try:
        made: Fernet = _library().Fernet(key)
        return made
    except ValueError as error:
        raise UserError(
            "key_broken",
            _("this is not a key: another program wrote to it"),
            file=str(path),
            hint=_("restore the file; without it you must provide all encrypted values again"),
        ) from error


def _library() -> ModuleType:
    try:
        from cryptography import fernet  # noqa: PLC0415 - only servers need it
    except ImportError as error:
        raise UserError(
            "library_missing",
            _("storing secrets needs a library that is not installed: {why}").format(why=error),
            hint=_("install it: {command}").format(command=INSTALL),
        ) from error
    return fernet


def _broken() -> UserError:
    return UserError(
        "value_broken",
        _("cannot decrypt a value: it was not encrypted by Segue, or it was changed"),
        hint=_("provide the value again"),
    )


def _read_key(path: Path) -> bytes | None:
    """The key; None where there is none. Refused if anybody else could have read it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(error, path) from error
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise _unreadable(OSError(errno.EINVAL, os.strerror(errno.EINVAL)), path)
        if status.st_mode & 0o077:
            raise UserError(
                "key_exposed",
                _("other users can read the key, so it protects nothing"),
                file=str(path),
                hint=_("make it private: chmod 600 {path}").format(path=path),
            )
        return os.read(fd, KEY_BYTES + 1).strip()
    finally:
        os.close(fd)


def _unreadable(error: OSError, path: Path) -> UserError:
    return UserError(
        "key_unreadable",
        _("cannot read the key: {why}").format(why=error.strerror),
        file=str(path),
        hint=_("it must be a file of your own, not a link: chmod 600 {path}").format(path=path),
    )


def _make_key(path: Path) -> None:
    """A new key under its name at once, whole; if another process was first, theirs stands."""
    temporary = path.with_name(f".{path.name}.{token_hex(6)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(urlsafe_b64encode(token_bytes(32)))
            file.flush()
            os.fsync(fd)
        with suppress(FileExistsError):
            path.hardlink_to(temporary)
        files.sync_folder(path.parent)
    except OSError as error:
        raise files.in_words(error, path) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
