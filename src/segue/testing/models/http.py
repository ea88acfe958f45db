"""As much of an HTTP/1.1 server as a program that asks a model needs.

Requests with a length or in chunks, connections that are kept, answers in one piece or as a
stream of server-sent events. Loopback only: nothing here is hardened for strangers.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

HEAD_BYTES_MAX = 64 * 1024
BODY_BYTES_MAX = 256 * 1024 * 1024


class ClientGoneError(Exception):
    """The program on the other side closed its connection."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request, read to its end."""

    method: str
    target: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def url(self) -> SplitResult:
        return urlsplit(self.target)

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(self.url.query)

    @property
    def body(self) -> Any:
        """Its JSON; nothing where there is none."""
        try:
            return json.loads(self.raw) if self.raw else None
        except ValueError:
            return None


class Connection:
    """The two directions of one client's connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def request(self) -> Request | None:
        """The next request; None once the client has no more."""
        try:
            return await self._read_request()
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        except (asyncio.LimitOverrunError, ValueError):
            return None  # not HTTP, or more of it than anybody needs

    async def _read_request(self) -> Request:
        head = await self._reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")[:-2]
        method, target, _version = first.split(" ")
        pairs = (line.split(":", 1) for line in lines)
        headers = {name.strip().lower(): value.strip() for name, value in pairs}
        if headers.get("expect", "").lower() == "100-continue":
            self._writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return Request(method, target, headers, await self._read_body(headers))

    async def _read_body(self, headers: Mapping[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() != "chunked":
            return await self._reader.readexactly(_bounded(int(headers.get("content-length", "0"))))
        body = bytearray()
        while size := int((await self._reader.readline()).split(b";")[0], 16):
            _bounded(len(body) + size)
            body += await self._reader.readexactly(size)
            await self._reader.readline()
        while (await self._reader.readline()).strip():
            pass  # trailers
        return bytes(body)

    async def answer(self, status: int, headers: Mapping[str, str], body: Any = None) -> None:
        """A whole answer, as JSON."""
        raw = b"" if body is None else json.dumps(body, ensure_ascii=False).encode()
        sized = {"content-type": "application/json", "content-length": str(len(raw)), **headers}
        await self._send(_head(status, sized) + raw)

    async def begin_stream(self, headers: Mapping[str, str]) -> None:
        kind = {"content-type": "text/event-stream", "cache-control": "no-cache"}
        await self._send(_head(200, {**kind, "transfer-encoding": "chunked", **headers}))

    async def send_piece(self, text: str) -> None:
        """A part of the stream, at once."""
        raw = text.encode()
        if raw:
            await self._send(b"%x\r\n%s\r\n" % (len(raw), raw))

    async def end_stream(self) -> None:
        await self._send(b"0\r\n\r\n")

    async def wait_for_end(self) -> None:
        """Wait until the client goes; what it still sends is not read by anybody."""
        with contextlib.suppress(ConnectionError):
            while await self._reader.read(HEAD_BYTES_MAX):
                pass
        raise ClientGoneError

    async def pause(self, wait_s: float) -> None:
        """Wait, but no longer than the client does."""
        if wait_s <= 0:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await self.wait_for_end()

    def drop(self) -> None:
        """Close without a word: the client sees its connection reset or cut off."""
        self._writer.transport.abort()

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()

    async def _send(self, raw: bytes) -> None:
        if self._writer.is_closing():
            raise ClientGoneError
        try:
            self._writer.write(raw)
            await self._writer.drain()
        except ConnectionError as error:
            raise ClientGoneError from error


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:  # 529 is one vendor's own status
        phrase = "Overloaded"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {text}" for name, text in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _bounded(size: int) -> int:
    if not 0 <= size <= BODY_BYTES_MAX:
        raise ValueError(size)
    return size
