"""How often a pane's output is told: at once after a silence, rarely while it goes on.

An agent at work repaints many times a second, a build prints megabytes; nobody needs to look as
often. After the first output a pane is told, then it rests; a rest is longer the longer it goes
on, and at its end the pane is told again if it printed meanwhile. A word about a limit ends the
rest: what stops an agent is seen at once.

Where a pane prints very much, tmux is asked to hold back its output from us (never from the pane:
the program goes on, and so does whoever looks at it). What was held back is not sent later, so at
the end of such a rest the pane is told after tmux has said that it sends again: nothing can fall
between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from segue.drivers.tmux_client import Replies
from segue.drivers.tmux_control import Printed

REST_S = 0.1
REST_S_MAX = 0.8
CLUE_S = 0.04  # until a look because of a word; longer if such words keep coming
HELD_FROM_BYTES = 64 * 1024  # in one rest
UNKNOWN = float("inf")

Order = Callable[[str], "asyncio.Future[Replies]"]


@dataclass(slots=True)
class _Beat:
    rest_s: float = REST_S
    told_at: float = float("-inf")
    rests_until: float | None = None
    printed_bytes: int = 0  # in this rest
    has_clue: bool = False
    clue_s: float = CLUE_S
    is_held: bool = False

    def begin_rest(self, now: float) -> None:
        self.clue_s = min(2 * self.clue_s, REST_S_MAX) if self.has_clue else CLUE_S
        self.rests_until = now + self.rest_s
        self.printed_bytes, self.has_clue = 0, False


class Pace:
    """Tells of the panes that one client hears. `order` sends a command to tmux."""

    def __init__(self, tell: Callable[[str], None], order: Order) -> None:
        self._tell = tell
        self._order = order
        self._loop = asyncio.get_running_loop()
        self._beats: dict[str, _Beat] = {}
        self._timer: asyncio.TimerHandle | None = None

    def on_output(self, panes: Mapping[str, Printed]) -> None:
        now = self._loop.time()
        loud = []
        for pane, printed in panes.items():
            beat = self._beats.setdefault(pane, _Beat())
            if beat.rests_until is None:
                self._begin(pane, beat, now)
            elif printed.has_clue:
                self._hasten(beat, now)
            beat.printed_bytes += printed.size
            if beat.printed_bytes > HELD_FROM_BYTES and not beat.is_held:
                beat.is_held = True
                loud.append(pane)
        if loud:
            self._order(_command(loud, "pause"))
        self._set_timer()

    def _begin(self, pane: str, beat: _Beat, now: float) -> None:
        """Output after a silence is told; the longer it was, the shorter the rest behind it."""
        is_long = now - beat.told_at >= REST_S_MAX
        beat.rest_s = REST_S if is_long else min(2 * beat.rest_s, REST_S_MAX)
        beat.told_at = now
        beat.begin_rest(now)
        self._tell(pane)

    def _hasten(self, beat: _Beat, now: float) -> None:
        """A word about a limit: the rest ends soon, once."""
        if not (beat.has_clue or beat.is_held):
            beat.has_clue = True
            assert beat.rests_until is not None
            beat.rests_until = min(beat.rests_until, max(now, beat.told_at + beat.clue_s))

    def on_paused(self, pane: str) -> None:
        """tmux itself stopped sending, because we took too little: begin again after a rest."""
        beat = self._beats.setdefault(pane, _Beat())
        beat.is_held = True
        beat.printed_bytes += 1
        if beat.rests_until is None:
            beat.rests_until = self._loop.time() + beat.rest_s
        self._set_timer()

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
        now = self._loop.time()
        held = []
        for pane, beat in self._beats.items():
            if beat.rests_until is None or beat.rests_until > now:
                continue
            if beat.is_held:
                beat.rests_until = UNKNOWN  # until tmux has answered
                held.append(pane)
            elif beat.printed_bytes:
                beat.told_at = now
                beat.rest_s = min(2 * beat.rest_s, REST_S_MAX)
                beat.begin_rest(now)
                self._tell(pane)
            else:
                beat.rests_until = None
        if held:
            self._order(_command(held, "continue")).add_done_callback(
                lambda done: self._on_continued(held, done.result())
            )
        self._set_timer()

    def _on_continued(self, panes: Iterable[str], replies: Replies) -> None:
        if replies is None:  # the client is closed: whoever attaches anew tells of all
            return
        now = self._loop.time()
        for pane in panes:
            if beat := self._beats.get(pane):
                beat.is_held, beat.told_at = False, now
                beat.rest_s = REST_S_MAX
                beat.begin_rest(now)
                self._tell(pane)
        self._set_timer()


def _command(panes: Iterable[str], what: str) -> str:
    return "refresh-client " + " ".join(f'-A "{pane}:{what}"' for pane in panes)
