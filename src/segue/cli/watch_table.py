"""The live table of `segue watch`, and the keys that a person presses in it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from segue.cli import display
from segue.cli.console import is_foreground
from segue.cli.typing_line import KeyByKey
from segue.core.durations import format_duration
from segue.core.machines import PaneState
from segue.i18n import N_, _
from segue.work.panes.messages import limit_name
from segue.work.panes.watched_pane import WatchedPane
from segue.work.panes.watcher import Watcher

REFRESH_S = 0.5
LOOKS = {
    PaneState.IDLE: ("○", "dim"),
    PaneState.BUSY: ("●", "cyan"),
    PaneState.PAUSED: ("⏳", "yellow"),
    PaneState.ERROR: ("✘", "bold red"),
    PaneState.BLOCKED: ("❓", "bold magenta"),
    PaneState.DONE: ("✔", "green"),
    PaneState.DEAD: ("✝", "dim"),
}
STATES = {
    PaneState.IDLE: N_("idle"),
    PaneState.BUSY: N_("busy"),
    PaneState.PAUSED: N_("paused"),
    PaneState.ERROR: N_("error"),
    PaneState.BLOCKED: N_("waits for you"),
    PaneState.DONE: N_("done"),
    PaneState.DEAD: N_("dead"),
}
AGENT_FROM, ACCOUNT_FROM = 60, 90  # columns of the terminal
UP, DOWN = ("\x1b[A", "k"), ("\x1b[B", "j")


class TableScreen:
    def __init__(self) -> None:
        self._console = display.make_console()
        self._live = display.make_live(self._console)
        self._watcher: Watcher | None = None
        self._end: Callable[[int], None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._keys = KeyByKey(sys.stdin.fileno())
        self._chosen = 0

    def emit(self, event: dict[str, Any]) -> None:
        pass

    def log(self, line: str) -> None:
        self._console.print(display.text(line))

    def show(self, watcher: Watcher, end: Callable[[int], None]) -> None:
        self._watcher, self._end = watcher, end
        self.go_on()
        self._tick()

    def pause(self) -> None:
        """Give the screen back as it was: to the shell, or for good."""
        self._live.update(display.text(""))
        self._live.stop()
        self._live = display.make_live(self._console)  # a new one remembers no rows to erase
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        self._keys.stop()

    def go_on(self) -> None:
        """Draw again, unless another process has the terminal."""
        if is_foreground():
            self._keys.start()
            asyncio.get_running_loop().add_reader(sys.stdin.fileno(), self._on_key)
            self._live.start()
            self._draw()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self.pause()

    # Keys

    def _on_key(self) -> None:
        assert self._watcher is not None
        assert self._end is not None
        try:
            key = os.read(sys.stdin.fileno(), 16).decode("utf-8", "replace")
        except OSError:  # the terminal was closed
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            self._end(130)
            return
        panes = self._panes()
        if key in ("q", ""):
            self._end(0)
            return
        self._chosen = max(0, min(self._chosen + (key in DOWN) - (key in UP), len(panes) - 1))
        if panes and key in ("p", "r", "w"):
            pane = panes[self._chosen]
            if key == "w":
                self._watcher.wake(pane)
            else:
                self._watcher.hold(pane, is_held=key == "p")
        self._draw()

    def _panes(self) -> list[WatchedPane]:
        assert self._watcher is not None
        found = self._watcher.panes.values()
        return sorted(found, key=lambda pane: (":" in pane.place, int(pane.number)))

    # Drawing

    def _tick(self) -> None:
        self._draw()
        self._timer = asyncio.get_running_loop().call_later(REFRESH_S, self._tick)

    def _draw(self) -> None:
        if self._live.is_started:
            self._live.update(self._picture(), refresh=True)

    def _picture(self) -> RenderableType:
        panes = self._panes()
        keys = _("↑↓ select · p leave alone · r undo · w wake now · q quit")
        below = display.text(keys, "dim")
        if not panes:
            none = _("No pane runs an agent yet. Start one in tmux or WezTerm.")
            return Group(display.text(none), below)
        return Group(table_of(panes, self._chosen, self._console.width), display.text(""), below)


def table_of(panes: list[WatchedPane], chosen: int, width: int) -> Table:
    """The pane and its state are always there; what is next takes several lines where it must, and
    on a narrow terminal the account goes, then the agent."""
    has_agent, has_account = width >= AGENT_FROM, width >= ACCOUNT_FROM
    table = Table(box=None, padding=(0, 2 if has_agent else 1, 0, 0), expand=False)
    titles = [_("pane"), *([_("agent")] * has_agent), *([_("account")] * has_account), _("state")]
    for title in titles:
        table.add_column(title, header_style="dim", no_wrap=True)
    table.add_column(_("what is next"), header_style="dim", overflow="fold")
    for n, pane in enumerate(panes):
        sign, style = LOOKS[pane.state]
        table.add_row(
            display.text(pane.place, "reverse" if n == chosen else ""),
            *([display.text(pane.agent or "–")] * has_agent),
            *([display.text(pane.account)] * has_account),
            display.text(f"{sign} {_(STATES[pane.state])}", style),
            display.text(_next(pane)),
        )
    return table


def _next(pane: WatchedPane) -> str:
    if pane.holder is not None:
        return _("watched by another segue watch (process {pid})").format(pid=pane.holder)
    if pane.is_held:
        return _("left alone at your request (press r to undo)")
    if pane.is_attended:
        return _("someone is typing here; Segue leaves it alone")
    if pane.state is PaneState.PAUSED and pane.wakes_at is None:
        return _("{kind}, resumes by itself").format(kind=limit_name(pane.kind))
    if pane.state is PaneState.PAUSED and pane.wakes_at is not None:
        left = max(0, int((pane.wakes_at - datetime.now(UTC)).total_seconds()))
        time = pane.wakes_at.astimezone().strftime("%m/%d %H:%M:%S")
        text = _("{kind}, resumes at {time} (in {left})")
        return text.format(kind=limit_name(pane.kind), time=time, left=format_duration(left))
    if pane.state in (PaneState.ERROR, PaneState.BLOCKED):
        return pane.evidence
    return ""
