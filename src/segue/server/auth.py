"""Who may come in: tokens, the login cookie, the hosts we answer for, and where from.

The cookie holds a random value and nothing else. The server keeps its hash in a list (`Tokens`),
so a logout ends it, and so does revoking the token by which the browser came in. A browser sends
a cookie to every port of its host: so the page has a host name of its own (`PAGE_HOST`) where that
resolves, and the prefix `__Host-` under TLS.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Protocol

from segue.store.tokens import OWNER, Grant

COOKIE = "segue_login"
SECURE_COOKIE = f"__Host-{COOKIE}"
PAGE_HOST = "segue.localhost"
LOGIN_S = 7 * 24 * 3600
SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
Headers = Mapping[bytes, bytes]


_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.%]{1,60}\]|[A-Za-z0-9._-]{1,255})(?::[0-9]{1,5})?")


class By(StrEnum):
    """How a request showed that it may."""

    TOKEN = "token"  # noqa: S105 - the word, not a secret
    COOKIE = "cookie"


@dataclass(frozen=True, slots=True)
class Pass:
    """What a request has shown: by which way, by which token, and what that allows."""

    by: By
    grant: Grant


class KnownTokens(Protocol):
    """Tokens besides the server's own, and browsers that are logged in."""

    def find(self, token: str) -> Grant | None: ...
    def log_in(self, grant: Grant, until: datetime, now: datetime) -> str: ...
    def find_login(self, value: str, now: datetime) -> Grant | None: ...
    def log_out(self, value: str, now: datetime) -> None: ...


class Auth:
    """`hosts` are names without ports: forwarding may change the port, rebinding the name."""

    def __init__(
        self,
        token: str,
        hosts: Iterable[str],
        now: Callable[[], datetime],
        known: KnownTokens,
    ) -> None:
        if not token:
            raise ValueError("an empty token opens to everyone")
        self._token = token.encode()
        self._hosts = frozenset(_bare(host) for host in hosts)
        self._now, self._known = now, known

    def answers_for(self, host: str) -> bool:
        found = _HOST.fullmatch(host)
        return found is not None and _bare(found["name"]) in self._hosts

    def grant(self, given: str) -> Grant | None:
        """What a token allows; None: it is none."""
        if hmac.compare_digest(given.encode("utf-8", "surrogatepass"), self._token):
            return Grant(OWNER)
        return self._known.find(given)

    def seen(self, headers: Headers) -> Pass | None:
        """What this request has shown, if that lets it in."""
        authorization = headers.get(b"authorization")
        if authorization is not None:
            scheme, _space, given = authorization.partition(b" ")
            grant = self.grant(given.strip().decode("utf-8", "surrogateescape"))
            is_right = grant is not None and scheme.lower() == b"bearer"
            return Pass(By.TOKEN, grant) if grant and is_right else None
        for value in logins(headers):
            if grant := self._known.find_login(value, self._now()):
                return Pass(By.COOKIE, grant)
        return None

    def may_change(self, by: By | None, headers: Headers) -> bool:
        """A browser says where a request comes from; by cookie it must be from our own page."""
        origin = headers.get(b"origin")
        if origin is None:
            return by is By.TOKEN
        _scheme, slashes, place = origin.partition(b"://")
        return bool(slashes) and place.lower() == headers.get(b"host", b"").lower()

    def login(self, grant: Grant) -> str:
        """What a browser keeps once it has shown a token."""
        now = self._now()
        return self._known.log_in(grant, now + timedelta(seconds=LOGIN_S), now)

    def log_out(self, headers: Headers) -> None:
        """End the browser's login, also for copies of its cookie."""
        for value in logins(headers):
            self._known.log_out(value, self._now())

    def mark(self, *parts: bytes) -> str:
        """A digest of a request that tells nothing of what was in it."""
        digest = hmac.new(self._token, digestmod=sha256)
        for part in parts:
            digest.update(len(part).to_bytes(8, "big") + part)
        return digest.hexdigest()


LOGINS_SEEN_MAX = 4  # of one request: each is looked up
VALUE_CHARS_MAX = 128


def logins(headers: Headers) -> list[str]:
    """By hand: cookies of other programs on this host need not be well made."""
    header = headers.get(b"cookie", b"")
    pairs = (part.strip().partition("=") for part in header.decode("latin-1").split(";"))
    found = [value for name, _equals, value in pairs if name in (COOKIE, SECURE_COOKIE)]
    return [value for value in found if 0 < len(value) <= VALUE_CHARS_MAX][-LOGINS_SEEN_MAX:]


def _bare(host: str) -> str:
    return host.strip("[]").lower().removesuffix(".")
