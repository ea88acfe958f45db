"""Who may come in: the token, the login cookie, the hosts we answer for, and where from.

The cookie does not hold the token: it holds an instant and a signature made with the token, so
that a browser's storage gives nothing away for ever.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from hashlib import sha256

COOKIE = "segue_login"
LOGIN_S = 30 * 24 * 3600
SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
Headers = Mapping[bytes, bytes]


_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.%]{1,60}\]|[A-Za-z0-9._-]{1,255})(?::[0-9]{1,5})?")


class By(StrEnum):
    """How a request showed that it may."""

    TOKEN = "token"  # noqa: S105 - the word, not a secret
    COOKIE = "cookie"


class Auth:
    """`hosts` are names without ports: forwarding may change the port, rebinding the name."""

    def __init__(self, token: str, hosts: Iterable[str], clock: Callable[[], float]) -> None:
        if not token:
            raise ValueError("an empty token opens to everyone")
        self._token = token.encode()
        self._hosts = frozenset(_bare(host) for host in hosts)
        self._clock = clock

    def answers_for(self, host: str) -> bool:
        found = _HOST.fullmatch(host)
        return found is not None and _bare(found["name"]) in self._hosts

    def is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), self._token)

    def seen(self, headers: Headers) -> By | None:
        """How this request may come in, if it may."""
        authorization = headers.get(b"authorization")
        if authorization is not None:
            scheme, _space, given = authorization.partition(b" ")
            is_right = hmac.compare_digest(given.strip(), self._token)
            return By.TOKEN if is_right and scheme.lower() == b"bearer" else None
        cookies = headers.get(b"cookie", b"")
        return By.COOKIE if any(map(self._is_login, _logins(cookies))) else None

    def may_change(self, by: By | None, headers: Headers) -> bool:
        """A browser says where a request comes from; by cookie it must be from our own page."""
        origin = headers.get(b"origin")
        if origin is None:
            return by is By.TOKEN
        _scheme, slashes, place = origin.partition(b"://")
        return bool(slashes) and place.lower() == headers.get(b"host", b"").lower()

    def login(self) -> str:
        """What a browser keeps once it has shown the token."""
        until = str(int(self._clock()) + LOGIN_S)
        return f"{until}.{self._sign(until)}"

    def mark(self, *parts: bytes) -> str:
        """A digest of a request that tells nothing of what was in it."""
        digest = hmac.new(self._token, digestmod=sha256)
        for part in parts:
            digest.update(len(part).to_bytes(8, "big") + part)
        return digest.hexdigest()

    def _is_login(self, given: str) -> bool:
        until, _dot, signature = given.partition(".")
        if not (until.isascii() and until.isdigit() and len(until) < 16 and signature.isascii()):
            return False
        is_ours = hmac.compare_digest(signature, self._sign(until))
        return is_ours and self._clock() < int(until)

    def _sign(self, until: str) -> str:
        return self.mark(b"login", until.encode())


def _logins(header: bytes) -> list[str]:
    """By hand: cookies of other programs on this host need not be well made."""
    pairs = (part.strip().partition("=") for part in header.decode("latin-1").split(";"))
    return [value for name, _equals, value in pairs if name == COOKIE]


def _bare(host: str) -> str:
    return host.strip("[]").lower().removesuffix(".")
