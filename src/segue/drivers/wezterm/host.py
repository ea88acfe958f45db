"""WezTerm's panes, by its command line: nothing is pushed there, so it is asked again and again.

How often depends on what happens: half a second after a change, from two to ten seconds while a
pane is quiet. One query reports all panes; a pane's text is asked for when it is due, or when
its title, its cursor or its size is another than before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass

from segue.dialects.screen import Screen
from segue.drivers.pane_host import PaneHost
from segue.drivers.panes import (
    HostGoneError,
    Pane,
    PaneAppeared,
    PaneChanged,
    PaneError,
    PaneGone,
    PaneGoneError,
    check_text,
    key_bytes,
)
from segue.drivers.wezterm.cli import Listed, WeztermCli, WeztermRefusedError
from segue.i18n import _

BUSY_S = 0.5
QUIET_S, QUIET_S_MAX = 2.0, 10.0
GROWTH = 1.5
NEARLY = 0.25  # of an interval: what is due so soon is asked for along with the others
RETRY_S, RETRY_S_MAX = 2.0, 60.0
HISTORY_LINES_MAX = 10_000


@dataclass(slots=True)
class _Watched:
    """A pane as it was seen last, and when it is looked at again."""

    listed: Listed
    text: str | None = None
    interval_s: float = 0.0
    due_at: float = 0.0


class WeztermPanes(PaneHost):
    """All panes of one WezTerm; see `Panes`."""

    def __init__(self, *, program: str = "wezterm", environ: Mapping[str, str]) -> None:
        super().__init__()
        self._cli = WeztermCli(program, environ)
        self._watched: dict[str, _Watched] = {}
        self._quiet_s = QUIET_S  # while there is no pane at all

    async def list(self) -> list[Pane]:
        return [listed.pane for listed in (await self._cli.panes()).values()]

    async def screen(self, pane_id: str, *, history_lines: int = 0) -> Screen:
        above = min(history_lines, HISTORY_LINES_MAX)
        listed = await self._find(pane_id)
        text = await self._do(pane_id, self._cli.text(listed.number, above))
        rows = listed.pane.rows
        lines = [line.rstrip() for line in text.split("\n")]
        lines = lines[: rows + above] if len(lines) > rows else lines + [""] * (rows - len(lines))
        scrolled = len(lines) - rows
        row, column = listed.cursor
        return Screen(
            lines=tuple(lines),
            joined=tuple(lines),
            styled=(),
            cursor=(scrolled + row, column),
            rows=rows,
            columns=listed.pane.columns,
            title=listed.pane.title,
            history=scrolled,
        )

    async def send_text(self, pane_id: str, text: str) -> None:
        check_text(text)
        if text:
            await self._type(pane_id, text)

    async def send_key(self, pane_id: str, key: str) -> None:
        await self._type(pane_id, key_bytes(key))

    async def _type(self, pane_id: str, text: str) -> None:
        listed = await self._find(pane_id)
        await self._do(pane_id, self._cli.send(listed.number, text))

    async def _find(self, pane_id: str) -> Listed:
        listed = (await self._cli.panes()).get(pane_id)
        if listed is None:
            raise PaneGoneError(_("no such pane: {pane}").format(pane=pane_id))
        return listed

    async def _do(self, pane_id: str, asked: Awaitable[str]) -> str:
        """What was asked of a pane. If WezTerm refused, the pane may be gone."""
        try:
            return await asked
        except WeztermRefusedError:
            await self._find(pane_id)
            raise

    # --- what keeps it going

    async def _keep(self) -> None:
        delay_s = RETRY_S
        while True:
            try:
                await self._look()
            except HostGoneError as error:
                self._watched.clear()
                self._lost(str(error))
                await asyncio.sleep(delay_s)
                delay_s = min(2 * delay_s, RETRY_S_MAX)
                continue
            except PaneError:  # it did not answer: nothing is known, so nothing is reported
                self._looked.set()
                await asyncio.sleep(RETRY_S)
                continue
            self._looked.set()
            delay_s = RETRY_S
            await asyncio.sleep(self._until_next_s())

    async def _look(self) -> None:
        """One question about all panes, and one about each that is due or looks different."""
        found = await self._cli.panes()
        self._found()
        for gone in self._watched.keys() - found.keys():
            del self._watched[gone]
            self._events.put(PaneGone(gone))
        now = asyncio.get_running_loop().time()
        for pane_id, listed in found.items():
            watched = self._watched.get(pane_id)
            if watched is None:
                watched = self._watched[pane_id] = _Watched(listed)
                self._events.put(PaneAppeared(listed.pane))
            is_due = watched.due_at - NEARLY * watched.interval_s <= now
            if is_due or watched.listed != listed:
                await self._compare(watched, listed, now)
        self._quiet_s = QUIET_S if found else min(GROWTH * self._quiet_s, QUIET_S_MAX)

    async def _compare(self, watched: _Watched, listed: Listed, now: float) -> None:
        try:
            text = await self._cli.text(listed.number, 0)
        except PaneError:  # gone meanwhile, or silent: the next look tells
            return
        if (watched.listed, watched.text) != (listed, text):
            watched.listed, watched.text = listed, text
            watched.interval_s = BUSY_S
            self._events.put(PaneChanged(listed.pane.id))
        else:
            watched.interval_s = min(max(QUIET_S, GROWTH * watched.interval_s), QUIET_S_MAX)
        watched.due_at = now + watched.interval_s

    def _until_next_s(self) -> float:
        now = asyncio.get_running_loop().time()
        dues = [watched.due_at - now for watched in self._watched.values()]
        return max(min(dues, default=self._quiet_s), BUSY_S / 2)
