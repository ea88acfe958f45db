"""A host of panes in memory, and a watcher on it whose waits take no time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from datetime import UTC, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kit.clock import LoopClock
from kit.waiting import until_async
from segue.core.limits import Waits
from segue.dialects.claude_transcript import TranscriptStop
from segue.dialects.records import STOPPED, Record
from segue.dialects.screen import Screen
from segue.drivers.panes import (
    KEYS,
    Pane,
    PaneAppeared,
    PaneChanged,
    PaneEvents,
    PaneGone,
    PaneGoneError,
)
from segue.engine import outage
from segue.engine.accounts import Accounts
from segue.engine.executors.pane import PaneExecutor, ScreenRules
from segue.store.sqlite import Store
from segue.work.panes.messages import PaneMessages
from segue.work.panes.options import CommandOptions
from segue.work.panes.pane_notices import People
from segue.work.panes.pane_records import PaneRecords
from segue.work.panes.watcher import Watcher

ROWS, COLUMNS = 30, 80
RULE = "─" * 60


@dataclass(slots=True)
class FakePane:
    """A pane with an agent like Claude Code: `body` above, an input line below."""

    pane: Pane
    body: list[str] = field(default_factory=list)
    draft: str = ""
    is_busy: bool = False
    status: str = ""
    title: str = ""
    is_at_shell: bool = False  # the agent has ended
    reacts: Callable[[FakePane, str], None] | None = None  # to what was submitted
    sent: list[str] = field(default_factory=list)

    def text(self) -> str:
        rows = list(self.body)
        if self.is_busy:
            rows += ["", "✻ Thinking… (3s · esc to interrupt)"]
        end = ["user@host:~$"] if self.is_at_shell else []
        return "\n".join([*rows, "", RULE, f"❯ {self.draft}".rstrip(), RULE, self.status, *end])

    def take(self, text: str) -> None:
        self.sent.append(text)
        if text != KEYS["Enter"]:
            self.draft += text
        elif self.draft:
            said, self.draft = self.draft, ""
            (self.reacts or works)(self, said)


def works(pane: FakePane, said: str) -> None:
    """It goes on."""
    pane.body += ["", f"❯ {said}"]
    pane.is_busy = True


def ignores(pane: FakePane, said: str) -> None:
    """Nothing happens."""


class FakeHost:
    """All panes of a terminal that exists in memory only."""

    def __init__(self, socket: str) -> None:
        self._events = PaneEvents()
        self.socket = socket
        self.panes: dict[str, FakePane] = {}
        self.before_send: Callable[[str], Awaitable[None]] | None = None

    def add(self, id: str, *body: str) -> FakePane:
        pane = Pane(id, "tmux", self.socket, ROWS, COLUMNS, pid=None, tty=f"/dev/pts/{id[1:]}")
        self.panes[id] = FakePane(pane, list(body))
        self._events.put(PaneAppeared(pane))
        return self.panes[id]

    def change(self, pane: FakePane) -> None:
        self._events.put(PaneChanged(pane.pane.id))

    def kill(self, pane: FakePane) -> None:
        del self.panes[pane.pane.id]
        self._events.put(PaneGone(pane.pane.id))

    async def __aenter__(self) -> Self:
        self._events = PaneEvents()
        for pane in self.panes.values():
            self._events.put(PaneAppeared(pane.pane))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._events.close()

    def events(self) -> PaneEvents:
        return self._events

    async def list(self) -> list[Pane]:
        return [pane.pane for pane in self.panes.values()]

    async def screen(self, pane_id: str, *, history_lines: int = 0) -> Screen:
        pane = self._find(pane_id)
        lines = tuple(pane.text().split("\n"))
        return Screen(lines, lines, (), None, ROWS, COLUMNS, title=pane.title)

    async def send_text(self, pane_id: str, text: str) -> None:
        await self._send(pane_id, text)

    async def send_key(self, pane_id: str, key: str) -> None:
        await self._send(pane_id, KEYS[key])

    async def _send(self, pane_id: str, text: str) -> None:
        if self.before_send is not None:
            await self.before_send(text)
        pane = self._find(pane_id)
        pane.take(text)
        self.change(pane)

    def _find(self, pane_id: str) -> FakePane:
        if pane_id not in self.panes:
            raise PaneGoneError(f"no such pane: {pane_id}")
        return self.panes[pane_id]


@dataclass(slots=True)
class Bench:
    """A project's memory, a host, and what a watcher said."""

    folder: Path
    host: FakeHost
    options: CommandOptions
    events: list[dict[str, Any]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    transcript: TranscriptStop | None = None
    store: Store | None = None

    @asynccontextmanager
    async def watching(self, **changes: Any) -> AsyncIterator[Watcher]:
        """A watcher at work; a second one afterwards finds what the first one left."""
        store = Store.open(self.folder / "segue.db")
        self.store = store
        clock = LoopClock()
        options = replace(self.options, **changes)
        rules = ScreenRules(options.tz, options.extra, lambda pid, now: self.record)
        messages = PaneMessages(
            clock, UTC, self.lines.append, self.events.append, is_dry=options.is_dry
        )
        watcher = Watcher(
            PaneExecutor(
                {"tmux": self.host}, clock, rules, named=options.panes, agent=options.agent
            ),
            PaneRecords(store, clock, People()),
            Accounts(store, clock),
            messages,
            options,
            clock,
            account_of=lambda agent: agent,
        )
        watcher.can_write = lambda: outage.can_write(store, self.folder, clock.now())
        task = asyncio.create_task(watcher.run())
        try:
            yield watcher
        finally:
            watcher.stop()
            await task
            store.close()

    @property
    def record(self) -> Record | None:
        """What the agent has written down: why it is stopped, where a scene says so."""
        return Record(STOPPED, stop=self.transcript, is_sure=True) if self.transcript else None

    until = staticmethod(until_async)

    async def state(self, pane: FakePane, state: str, within_s: float = 60.0) -> None:
        await self.until(lambda: self.last(pane).get("state") == state, state, within_s)

    def sends(self) -> int:
        """How many tries are written down, for all panes."""
        assert self.store is not None
        return sum(row["sends"] for row in self.store.all("SELECT sends FROM panes"))

    def notices(self) -> list[dict[str, Any]]:
        """What people outside are to be told."""
        with closing(Store.open(self.folder / "segue.db")) as store:
            return [dict(row) for row in store.all("SELECT * FROM notices ORDER BY id")]

    def last(self, pane: FakePane) -> dict[str, Any]:
        return next((e for e in reversed(self.events) if e["pane"] == pane.pane.id), {})

    def actions(self, pane: FakePane) -> list[str]:
        return [e["action"] for e in self.events if e["pane"] == pane.pane.id and e["action"]]


def make_bench(folder: Path) -> Bench:
    waits = Waits(weekly_s=1.0, rate_s=0.2, context_s=0.1, margin_s=0.05)
    options = CommandOptions(agent="claude", resume_text="계속", recheck_s=0.1, waits=waits)
    return Bench(folder, FakeHost(str(folder / "socket")), options)


def in_s(seconds: float) -> str:
    """An instant as a banner that names the second."""
    at = LoopClock().now() + timedelta(seconds=seconds)
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")
