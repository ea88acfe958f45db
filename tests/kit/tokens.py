"""Tokens and logins in memory: what `store.tokens.Tokens` keeps in tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from segue.store.tokens import Grant


@dataclass(slots=True)
class TokensInMemory:
    granted: dict[str, Grant] = field(default_factory=dict)
    logins: dict[str, tuple[Grant, datetime]] = field(default_factory=dict)
    _made: int = 0

    def find(self, token: str) -> Grant | None:
        return self.granted.get(token)

    def log_in(self, grant: Grant, until: datetime, now: datetime) -> str:
        self._made += 1
        value = f"login-{self._made}"
        self.logins[value] = (grant, until)
        return value

    def find_login(self, value: str, now: datetime) -> Grant | None:
        grant, until = self.logins.get(value, (None, now))
        return grant if until > now else None

    def log_out(self, value: str, now: datetime) -> None:
        self.logins.pop(value, None)
