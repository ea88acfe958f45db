"""Tokens with names and scopes, and browsers that are logged in.

A token is shown once and kept as its hash: 32 random bytes need no slow hash. The one that the
server makes for itself, or that `SEGUE_TOKEN` holds, is not here: it is called `OWNER`.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from segue.errors import UserError
from segue.i18n import _
from segue.store.changes import Drop, Put, Record, stamp
from segue.store.sqlite import Store

OWNER = "owner"
READ, ACT = "read", "act"
SCOPES = (READ, ACT)
TOKEN_CHARS_MIN = 32
TOKENS_MAX = 1_000
LOGINS_MAX = 10_000
_NAME = re.compile(r"[A-Za-z0-9가-힣][A-Za-z0-9가-힣._@-]{0,63}")
ENTITY = "token"


@dataclass(frozen=True, slots=True)
class Grant:
    """What a caller has proved, and therefore may do."""

    name: str
    scope: str = ACT

    @property
    def may_act(self) -> bool:
        return self.scope == ACT


@dataclass(frozen=True, slots=True)
class Token:
    name: str
    scope: str
    created_at: str


def fingerprint(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def check_length(token: str, file: str | None = None) -> None:
    if len(token) < TOKEN_CHARS_MIN:
        text = _("the token is too short: {n} characters, at least {least} are required")
        raise UserError(
            "token_too_short",
            text.format(n=len(token), least=TOKEN_CHARS_MIN),
            file=file,
            hint=_("create one: {command}").format(command="openssl rand -hex 32"),
        )


class Tokens:
    """The tokens of one database; changes of other processes are visible at once."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, name: str, scope: str, now: datetime) -> str:
        """The new token, which cannot be read again."""
        if not _NAME.fullmatch(name) or name == OWNER:
            raise UserError(
                "bad_name",
                _("`{name}` is not a valid token name").format(name=name),
                hint=_("use at most 64 letters, digits, `.`, `_`, `@` and `-`, and not `owner`"),
            )
        known = [token.name for token in self.all()]
        if name in known:
            raise UserError(
                "token_exists",
                _("a token `{name}` already exists").format(name=name),
                hint=_("revoke it first: {command}").format(command=f"segue token revoke {name}"),
            )
        if len(known) >= TOKENS_MAX:
            raise UserError(
                "too_many", _("the limit of {n} tokens is reached").format(n=len(known))
            )
        token = f"segue_{secrets.token_urlsafe(32)}"
        row = {"name": name, "scope": scope, "sha256": fingerprint(token), "created_at": stamp(now)}
        self._store.move(
            Put("tokens", row), Record(ENTITY, name, "added", "add", {"scope": scope}), at=now
        )
        return token

    def all(self) -> list[Token]:
        rows = self._store.all("SELECT name, scope, created_at FROM tokens ORDER BY name")
        return [Token(*row) for row in rows]

    def revoke(self, name: str, now: datetime) -> None:
        """Also for the browsers that came in by it."""
        if name not in (token.name for token in self.all()):
            raise UserError(
                "unknown_token",
                _("no such token: `{name}`").format(name=name),
                hint=_("see: {command}").format(command="segue token list"),
            )
        self._store.move(
            Drop("tokens", {"name": name}),
            Drop("logins", {"token": name}),
            Record(ENTITY, name, "revoked", "revoke"),
            at=now,
        )

    def find(self, token: str) -> Grant | None:
        sql = "SELECT name, scope FROM tokens WHERE sha256 = ?"
        row = self._store.one(sql, fingerprint(token))
        return None if row is None else Grant(*row)

    # Browsers

    def log_in(self, grant: Grant, until: datetime, now: datetime) -> str:
        """What the browser keeps."""
        value = secrets.token_urlsafe(32)
        row = {
            "sha256": fingerprint(value),
            "token": grant.name,
            "scope": grant.scope,
            "until": stamp(until),
            "created_at": stamp(now),
        }
        old = self._store.all("SELECT sha256 FROM logins WHERE until <= ? LIMIT 50", stamp(now))
        gone = [Drop("logins", {"sha256": each["sha256"]}) for each in old]
        self._store.move(*gone, *self._oldest(), Put("logins", row), at=now)
        return value

    def _oldest(self) -> list[Drop]:
        """What makes room for one more."""
        sql = "SELECT sha256 FROM logins ORDER BY created_at DESC LIMIT -1 OFFSET ?"
        rows = self._store.all(sql, LOGINS_MAX - 1)
        return [Drop("logins", {"sha256": row["sha256"]}) for row in rows]

    def find_login(self, value: str, now: datetime) -> Grant | None:
        sql = "SELECT token, scope FROM logins WHERE sha256 = ? AND until > ?"
        row = self._store.one(sql, fingerprint(value), stamp(now))
        return None if row is None else Grant(*row)

    def log_out(self, value: str, now: datetime) -> None:
        self._store.move(Drop("logins", {"sha256": fingerprint(value)}), at=now)
