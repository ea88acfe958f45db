"""How often a pane's output is told: at once after a silence, rarely while it goes on.

An agent at work repaints many times a second, a build prints megabytes; nobody needs to look as
often. After the first output a pane is told, then tmux is asked to hold back its output from us
(never from the pane: the program goes on, and so does whoever looks at it) for a while, which
grows as long as more comes. What was held back is not sent later, so at the end of each rest the
pane is told again, after tmux has said that it sends again: nothing can fall between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from segue.drivers.tmux_client import Replies

REST_S = 0.1
REST_S_MAX = 0.5
UNKNOWN = float("inf")

Order = Callable[[str], "asyncio.Future[Replies]"]


@dataclass(slots=True)
class _Beat:
    rest_s: float = REST_S
    told_at: float = float("-inf")
    rests_until: float | None = None


class Pace:
    """Tells of the panes that one client hears. `order` sends a command to tmux."""

    def __init__(self, tell: Callable[[str], None], order: Order) -> None:
        self._tell = tell
        self._order = order
        self._loop = asyncio.get_running_loop()
        self._beats: dict[str, _Beat] = {}
        self._timer: asyncio.TimerHandle | None = None

    def on_output(self, panes: Iterable[str]) -> None:
        now = self._loop.time()
        begun = []
        for pane in panes:
            beat = self._beats.setdefault(pane, _Beat())
            if beat.rests_until is not None:
                continue  # printed before tmux knew: told when the rest ends
            if now - beat.told_at >= REST_S_MAX:
                beat.rest_s, beat.told_at = REST_S, now
                self._tell(pane)
            else:
                beat.rest_s = min(2 * beat.rest_s, REST_S_MAX)
            beat.rests_until = now + beat.rest_s
            begun.append(pane)
        if begun:
            self._order(_command(begun, "pause"))
            self._set_timer()

    def on_paused(self, pane: str) -> None:
        """tmux itself stopped sending, because we took too little: begin again after a rest."""
        self.on_output([pane])

    def keep_only(self, panes: Iterable[str]) -> None:
        """Forget panes that are gone."""
        for pane in self._beats.keys() - set(panes):
            del self._beats[pane]

    def close(self) -> None:
        self._beats.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self) -> None:
        ends = [beat.rests_until or UNKNOWN for beat in self._beats.values()]
        nearest = min(ends, default=UNKNOWN)
        if nearest == UNKNOWN or (self._timer and self._timer.when() <= nearest):
            return
        if self._timer:
            self._timer.cancel()
        self._timer = self._loop.call_at(nearest, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        now = self._loop.time() + REST_S / 2  # those that are nearly due come along
        due = [
            pane
            for pane, beat in self._beats.items()
            if beat.rests_until is not None and beat.rests_until <= now
        ]
        for pane in due:
            self._beats[pane].rests_until = UNKNOWN  # until tmux has answered
        if due:
            self._order(_command(due, "continue")).add_done_callback(
                lambda done: self._on_continued(due, done.result())
            )
        self._set_timer()

    def _on_continued(self, panes: Iterable[str], replies: Replies) -> None:
        if replies is None:  # the client is closed: whoever attaches anew tells of all
            return
        now = self._loop.time()
        for pane in panes:
            if beat := self._beats.get(pane):
                beat.rests_until, beat.told_at = None, now
                self._tell(pane)


def _command(panes: Iterable[str], what: str) -> str:
    return "refresh-client " + " ".join(f'-A "{pane}:{what}"' for pane in panes)
