"""One reader of the journal for all clients of the event stream.

After a commit the hub reads the new rows once, makes the bytes of each event once, and keeps the
newest in a short list. Clients are woken and take what is after their own position: those that
keep up get the very same bytes; one that fell out of the list reads the journal by itself, in
small batches, one client at a time. Nothing is ever queued for a client, so a slow one costs
nobody anything. Under load many commits are handed over together (`PACE_S`).

Output of agents is sent beside it, without a number, to those who listen while it is said: it is
no part of the journal; a client that missed some of it reads the conversation.
"""

from __future__ import annotations

import asyncio
import json
import logging
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from segue.errors import UserError
from segue.server.commands import EventCommands

PACE_S = 0.05
HEARTBEAT_S = 15.0
RECENT_MAX = 1_024
RECENT_BYTES_MAX = 4_000_000
OUTPUT_BYTES_MAX = 4_000_000
PIECE_BYTES = 128_000  # what a client that reads nothing can make us hold
BATCH = 100
BATCHES_KEPT = 32
CLIENTS_MAX = 2_000
TROUBLE_S = 1.0

logger = logging.getLogger("segue.server")


@dataclass(frozen=True, slots=True)
class WireEvent:
    """An event as it goes over the wire."""

    seq: int
    task: str | None
    wire: bytes


@dataclass(eq=False, slots=True)
class Client:
    """One open stream: how far it has got, and whether it should end."""

    position: int
    task: str | None
    heard: int = 0  # how far it has got in the output
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    beats: int = 0  # heartbeats that are due
    is_gone: bool = False

    @property
    def progress(self) -> tuple[int, int]:
        return self.position, self.heard

    def end(self) -> None:
        self.is_gone = True
        self.wake.set()


def told(event: Mapping[str, Any]) -> WireEvent:
    data = json.dumps(event, ensure_ascii=False, separators=(",", ":"), default=str)
    wire = f"id: {event['seq']}\nevent: {event['type']}\ndata: {data}\n\n"
    return WireEvent(event["seq"], event.get("taskId"), wire.encode("utf-8", "replace"))


def said(item: Mapping[str, Any], number: int) -> WireEvent:
    data = json.dumps(item, ensure_ascii=False, separators=(",", ":"), default=str)
    wire = f"event: output\ndata: {data}\n\n".encode("utf-8", "replace")
    return WireEvent(number, item["taskId"], wire)


class Hub:
    def __init__(self, commands: EventCommands, *, heartbeat_s: float = HEARTBEAT_S) -> None:
        self._commands = commands
        self._heartbeat_s = heartbeat_s
        self._clients: set[Client] = set()
        self._recent: list[WireEvent] = []
        self._output: list[WireEvent] = []
        self._output_count = 0
        self._floor = self._last = commands.last_seq  # what is recent lies in between
        self._joined: dict[int, tuple[bytes, int]] = {}
        self._batches: OrderedDict[int, list[WireEvent]] = OrderedDict()
        self._catching_up = asyncio.Lock()
        self._due: asyncio.TimerHandle | None = None
        self._beat: asyncio.TimerHandle | None = None
        self._flushed_at = float("-inf")
        self.is_closed = False
        self.events_total = 0
        commands.on_commit(self.changed)

    @property
    def clients(self) -> int:
        return len(self._clients)

    def join(self, after: int | None, task: str | None) -> Client:
        """A new client, from now on or from a number that it has seen."""
        last = self._commands.last_seq
        if not self._clients:
            self._forget(last)
        position = last if after is None else min(after, last)
        client = Client(position, task, self._output_count)
        if self.is_closed:
            client.is_gone = True
            return client
        if not self._clients:
            self._commands.follow_output(self._heard)
        self._clients.add(client)
        if self._beat is None:
            self._beat = asyncio.get_running_loop().call_later(self._heartbeat_s, self._beats)
        return client

    def leave(self, client: Client) -> None:
        self._clients.discard(client)
        if not self._clients:
            self._commands.follow_output(None)
            self._cancel_timers()

    def close(self) -> None:
        """End all streams; their clients come back to the next server."""
        self.is_closed = True
        self._cancel_timers()
        for client in self._clients:
            client.end()

    def changed(self) -> None:
        """Something was committed: hand it over now, or soon if that was done just before."""
        if not self._clients or self._due is not None or self.is_closed:
            return
        loop = asyncio.get_running_loop()
        wait_s = max(0.0, self._flushed_at + PACE_S - loop.time())
        self._due = loop.call_later(wait_s, self._flush)

    async def after(self, client: Client) -> bytes:
        """What the client has not seen yet, a piece at a time; nothing if it has seen all."""
        if client.position >= self._last:
            return self._from_output(client)
        if client.position >= self._floor:
            found = self._from_recent(client)
        else:
            async with self._catching_up:
                found = self._from_journal(client)
                await asyncio.sleep(0)  # one batch for each turn of the loop
        wire, client.position = found
        return wire

    def _heard(self, items: Sequence[Mapping[str, Any]]) -> None:
        for item in items:
            self._output_count += 1
            self._output.append(said(item, self._output_count))
        size = sum(len(each.wire) for each in self._output)
        while size > OUTPUT_BYTES_MAX and len(self._output) > 1:
            size -= len(self._output.pop(0).wire)
        for client in self._clients:
            client.wake.set()

    def _from_output(self, client: Client) -> bytes:
        """What was said since, as far as it is kept: the oldest of it goes first."""
        wires: list[bytes] = []
        size = 0
        start = bisect_right(self._output, client.heard, key=lambda each: each.seq)
        client.heard = self._output_count
        for each in self._output[start:]:
            if client.task in (None, each.task):
                wires.append(each.wire)
                size += len(each.wire)
            if size >= PIECE_BYTES:
                client.heard = each.seq
                break
        return b"".join(wires)

    def _from_recent(self, client: Client) -> tuple[bytes, int]:
        position, task = client.position, client.task
        if task is None and position in self._joined:
            return self._joined[position]
        wires: list[bytes] = []
        size, upto = 0, self._last
        start = bisect_right(self._recent, position, key=lambda each: each.seq)
        for each in self._recent[start:]:
            if task is None or each.task == task:
                wires.append(each.wire)
                size += len(each.wire)
            if size >= PIECE_BYTES:
                upto = each.seq
                break
        found = b"".join(wires), upto
        if task is None:
            self._joined[position] = found
        return found

    def _from_journal(self, client: Client) -> tuple[bytes, int]:
        last = self._commands.last_seq
        events = self._batches.get(client.position)
        if events is None:
            found = self._commands.events_after(client.position, None, BATCH)
            events = [told(event) for event in found]
            if len(events) == BATCH:  # a full batch stays as it is for ever
                self._batches[client.position] = events
            if len(self._batches) > BATCHES_KEPT:
                self._batches.popitem(last=False)
        upto = events[-1].seq if len(events) == BATCH else max(last, client.position)
        return b"".join(e.wire for e in events if client.task in (None, e.task)), upto

    def _flush(self) -> None:
        loop = asyncio.get_running_loop()
        self._due = None
        self._flushed_at = loop.time()
        try:
            self._read()
        except UserError as error:  # the journal cannot be read now: it may pass
            logger.error("events are delayed: %s", error)
            self._due = loop.call_later(TROUBLE_S, self._flush)
        self._trim()
        self._joined.clear()
        for client in self._clients:
            client.wake.set()

    def _read(self) -> None:
        while True:
            events = self._commands.events_after(self._last, None, RECENT_MAX)
            self._recent.extend(map(told, events))
            self.events_total += len(events)
            if events:
                self._last = events[-1]["seq"]
            if len(events) < RECENT_MAX:
                return

    def _trim(self) -> None:
        """Keep the newest half once there are too many."""
        size = sum(len(each.wire) for each in self._recent)
        if len(self._recent) > RECENT_MAX or size > RECENT_BYTES_MAX:
            drop = max(len(self._recent) - RECENT_MAX // 2, len(self._recent) // 2)
            self._floor = self._recent[drop - 1].seq if drop else self._floor
            del self._recent[:drop]

    def _forget(self, last: int) -> None:
        """Without listeners nothing was read."""
        self._recent.clear()
        self._joined.clear()
        self._output.clear()
        self._floor = self._last = last

    def _beats(self) -> None:
        self._beat = asyncio.get_running_loop().call_later(self._heartbeat_s, self._beats)
        for client in self._clients:
            client.beats += 1
            client.wake.set()

    def _cancel_timers(self) -> None:
        for timer in (self._due, self._beat):
            if timer is not None:
                timer.cancel()
        self._due = self._beat = None
