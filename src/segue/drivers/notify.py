"""How people outside are reached: on the desktop, by the bell, by webhook, by push, by a command.

Each way takes one notice and either has delivered it when it returns, or says why not
(`Undelivered`). None of them blocks the loop, and each gives up after a time of its own.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hmac
import json
import os
import signal
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import PurePath
from typing import Protocol
from urllib.parse import SplitResult, unquote, urlsplit

from segue.dialects.lines import plain_text

POST_WITHIN_S = 10.0
COMMAND_WITHIN_S = 30.0
STATUS_LINE_BYTES_MAX = 8_192
HEADLINE_CHARS_MAX = 120
TEXT_CHARS_MAX = 1_000  # of what is shown; a webhook gets all
STDERR_CHARS_SHOWN = 200
SIGNATURE = "X-Segue-Signature"
SECRETS = frozenset({"SEGUE_TOKEN", "SEGUE_KEY", "SEGUE_WEBHOOK_SECRET"})
URGENT = frozenset({"urgent", "escalate", "escalated", "failed", "error"})
PRESSING = URGENT | {"question", "dependency", "trouble"}  # they come in quiet hours, too
NOTICE_VARIABLE = "SEGUE_NOTICE"


class Undelivered(Exception):  # noqa: N818 - what happened to it
    """It did not arrive, as far as we know; it may be tried again."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What is needed of whom: a headline, the text, and where to go."""

    id: str  # the same whenever it is sent again
    kind: str
    task: str
    title: str  # of the task
    gate: str | None
    headline: str
    text: str
    link: str  # an address, or the place on this machine
    at: str
    outcome: str | None = None  # it was settled before it could be sent

    @property
    def url(self) -> str | None:
        return self.link if self.link.startswith(("http://", "https://")) else None

    @property
    def is_urgent(self) -> bool:
        return self.kind in URGENT

    def shown(self) -> tuple[str, str]:
        """Headline and text as they can be shown anywhere: short, without control characters."""
        return (
            _short(" ".join(plain_text(self.headline).split()), HEADLINE_CHARS_MAX),
            _short(plain_text(self.text).strip(), TEXT_CHARS_MAX),
        )

    def to_json(self) -> dict[str, str | None]:
        where = {"url": self.url} if self.url else {"url": None, "place": self.link}
        return {
            "id": self.id,
            "event": self.kind,
            "taskId": self.task,
            "taskTitle": self.title,
            "gateId": self.gate,
            "headline": self.headline,
            "text": self.text,
            **where,
            "createdAt": self.at,
            **({"outcome": self.outcome} if self.outcome else {}),
        }


class Notifier(Protocol):
    """`name` is kept and logged: it tells notifiers apart and gives no secret away."""

    @property
    def name(self) -> str: ...

    async def send(self, notice: Notice) -> None: ...


@dataclass(frozen=True, slots=True)
class Desktop:
    """A bubble on the screen of this machine."""

    name: str
    environ: Mapping[str, str]
    program: str = "notify-send"

    async def send(self, notice: Notice) -> None:
        headline, text = notice.shown()
        urgency = "critical" if notice.is_urgent else "normal"
        body = escape(f"{text}\n{notice.link}", quote=False)  # it is read as markup
        options = ("--app-name=Segue", f"--urgency={urgency}", "--", headline, body)
        await run((self.program, *options), "", self.environ)


@dataclass(frozen=True, slots=True)
class Webhook:
    """JSON to an address, signed: the receiver can tell that it is from us, and how old it is."""

    name: str
    url: str
    secret: str
    now: Callable[[], float]  # seconds since 1970

    async def send(self, notice: Notice) -> None:
        body = json.dumps(notice.to_json(), ensure_ascii=False).encode("utf-8", "replace")
        headers = {
            "Content-Type": "application/json",
            SIGNATURE: signature(self.secret, body, int(self.now())),
            "X-Segue-Notice": notice.id,
        }
        await post(self.url, body, headers)


@dataclass(frozen=True, slots=True)
class Ntfy:
    """Text to a push service that takes it as ntfy does."""

    name: str
    url: str

    async def send(self, notice: Notice) -> None:
        headline, text = notice.shown()
        headers = {
            "Content-Type": "text/plain; charset=utf-8",
            "Title": _header(headline),
            "Priority": "high" if notice.is_urgent else "default",
        }
        if notice.url is not None:
            headers["Click"] = _header(notice.url)
        await post(self.url, f"{text}\n{notice.link}\n".encode("utf-8", "replace"), headers)


@dataclass(frozen=True, slots=True)
class Command:
    """A program of the user's own, the text on its standard input: mail, for example."""

    name: str
    argv: tuple[str, ...]
    environ: Mapping[str, str]

    async def send(self, notice: Notice) -> None:
        headline, text = notice.shown()
        said = f"{headline}\n\n{text}\n\n{notice.link}\n\n[{notice.id}]\n"
        told = {**notice.to_json(), "text": text}
        environ = {**self.environ, NOTICE_VARIABLE: json.dumps(told, ensure_ascii=False)}
        await run(self.argv, said, environ)


@dataclass(frozen=True, slots=True)
class Bell:
    """The bell of the terminal that Segue was started on; none where there is none."""

    name: str
    fd: int = 2

    async def send(self, notice: Notice) -> None:
        try:
            if os.isatty(self.fd):
                os.write(self.fd, b"\a")
        except OSError as error:
            raise Undelivered(f"{error.strerror}") from error


def signature(secret: str, body: bytes, at_s: int) -> str:
    """`t=SECONDS,v1=HEX`: HMAC-SHA256 with the secret of the seconds, a dot, and the body."""
    signed = f"{at_s}.".encode() + body
    return f"t={at_s},v1={hmac.new(secret.encode(), signed, sha256).hexdigest()}"


async def run(
    argv: Sequence[str], said: str, environ: Mapping[str, str], within_s: float = COMMAND_WITHIN_S
) -> None:
    """Start a program, give it the text, wait for its end; nothing of it stays behind."""
    name = PurePath(argv[0]).name
    known = {key: value for key, value in environ.items() if key not in SECRETS}
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            env=known,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise Undelivered(f"{name}: {error.strerror or error}") from error
    try:
        async with asyncio.timeout(within_s):
            _out, told = await process.communicate(said.encode("utf-8", "replace"))
    except TimeoutError as error:
        raise Undelivered(f"{name}: no end after {within_s:g} s") from error
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.communicate()
    if process.returncode:
        why = plain_text(told.decode("utf-8", "replace")).strip()[:STDERR_CHARS_SHOWN]
        raise Undelivered(f"{name}: exit {process.returncode} {why}".rstrip())


async def post(
    url: str, body: bytes, headers: Mapping[str, str], within_s: float = POST_WITHIN_S
) -> None:
    """One POST of its own connection; anything but 2xx is a failure, redirections too."""
    parts = urlsplit(url)
    try:
        async with asyncio.timeout(within_s):
            status = await _exchange(parts, body, headers)
    except TimeoutError as error:
        raise Undelivered(f"{parts.hostname}: no answer within {within_s:g} s") from error
    except (OSError, ValueError, asyncio.IncompleteReadError) as error:
        raise Undelivered(f"{parts.hostname}: {error}") from error
    if not 200 <= status < 300:
        raise Undelivered(f"{parts.hostname}: HTTP {status}")


async def _exchange(parts: SplitResult, body: bytes, headers: Mapping[str, str]) -> int:
    assert parts.hostname is not None
    is_tls = parts.scheme == "https"
    reader, writer = await asyncio.open_connection(
        parts.hostname,
        parts.port or (443 if is_tls else 80),
        ssl=ssl.create_default_context() if is_tls else None,
        limit=STATUS_LINE_BYTES_MAX,
    )
    try:
        writer.write(_head(parts, len(body), headers) + body)
        await writer.drain()
        line = await reader.readuntil(b"\n")
        while line.split(b" ", 2)[1:2] == [b"100"]:  # a first word before the answer
            while (await reader.readuntil(b"\n")).strip():
                pass
            line = await reader.readuntil(b"\n")
    except asyncio.LimitOverrunError as error:
        raise ValueError("not an answer of HTTP") from error
    finally:
        writer.transport.abort()  # all is said: no farewell that could take long
    version, _space, rest = line.partition(b" ")
    if not version.startswith(b"HTTP/1.") or not rest[:3].isdigit():
        raise ValueError("not an answer of HTTP")
    return int(rest[:3])


def _head(parts: SplitResult, length: int, headers: Mapping[str, str]) -> bytes:
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    place = parts.netloc.rpartition("@")[2]
    lines = [f"POST {path} HTTP/1.1", f"Host: {place}", "User-Agent: segue", "Connection: close"]
    if parts.username is not None:
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        lines.append(f"Authorization: Basic {base64.b64encode(login).decode()}")
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join([*lines, f"Content-Length: {length}", "", ""])).encode("ascii")


def _header(text: str) -> str:
    """Text that a header can hold, whatever its letters (RFC 2047)."""
    one_line = " ".join(text.split())
    if one_line.isascii():
        return one_line
    return f"=?UTF-8?B?{base64.b64encode(one_line.encode('utf-8', 'replace')).decode()}?="


def _short(text: str, chars_max: int) -> str:
    return text if len(text) <= chars_max else text[: chars_max - 1] + "…"
