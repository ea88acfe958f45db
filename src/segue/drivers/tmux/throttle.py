"""How often a pane's output is reported: at once after a silence, rarely while it continues.

An agent at work repaints many times a second, a build prints megabytes; no one needs to look as
often. After the first output a pane is reported, then it rests; a rest is longer the longer it goes
on, and at its end the pane is reported again if it printed meanwhile. A word about a limit ends the
rest: what stops an agent is seen at once.

Where a pane prints very much, tmux is asked to hold back its output from us (never from the pane:
the program continues, and so does its viewer). What was held back is not sent later, so at
the end of such a rest the pane is reported after tmux confirms that it sends: nothing can fall
between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from segue.drivers.tmux.client import Replies
from segue.drivers.tmux.control_mode import Printed

REST_S = 0.1
REST_S_MAX = 0.8
CLUE_S = 0.04  # until a look because of a word; longer if such words keep coming
HELD_FROM_BYTES = 64 * 1024  # in one rest
UNKNOWN = float("inf")

Order = Callable[[str], "asyncio.Future[Replies]"]


@dataclass(slots=True)
class _PaneOutput:
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


class OutputThrottle:
    """Tells of the panes that one client hears. `order` sends a command to tmux."""

    def __init__(self, tell: Callable[[str], None], order: Order) -> None:
        self._tell = tell
        self._order = order
        self._loop = asyncio.get_running_loop()
        self._panes: dict[str, _PaneOutput] = {}
        self._timer: asyncio.TimerHandle | None = None

    def on_output(self, panes: Mapping[str, Printed]) -> None:
        now = self._loop.time()
        loud = []
        for pane, printed in panes.items():
            output = self._panes.setdefault(pane, _PaneOutput())
            if output.rests_until is None:
                self._begin(pane, output, now)
            elif printed.has_clue:
                self._hasten(output, now)
            output.printed_bytes += printed.size
            if output.printed_bytes > HELD_FROM_BYTES and not output.is_held:
                output.is_held = True
                loud.append(pane)
        if loud:
            self._order(_command(loud, "pause"))
        self._set_timer()

    def _begin(self, pane: str, output: _PaneOutput, now: float) -> None:
        """Output after a silence is reported; the longer it was, the shorter the rest behind it."""
        is_long = now - output.told_at >= REST_S_MAX
        output.rest_s = REST_S if is_long else min(2 * output.rest_s, REST_S_MAX)
        output.told_at = now
        output.begin_rest(now)
        self._tell(pane)

    def _hasten(self, output: _PaneOutput, now: float) -> None:
        """A word about a limit: the rest ends soon, once."""
        if not (output.has_clue or output.is_held):
            output.has_clue = True
            assert output.rests_until is not None
            output.rests_until = min(output.rests_until, max(now, output.told_at + output.clue_s))

    def on_paused(self, pane: str) -> None:
        """tmux itself stopped sending, because we took too little: begin again after a rest."""
        output = self._panes.setdefault(pane, _PaneOutput())
        output.is_held = True
        output.printed_bytes += 1
        if output.rests_until is None:
            output.rests_until = self._loop.time() + output.rest_s
        self._set_timer()

    def keep_only(self, panes: Iterable[str]) -> None:
        """Forget panes that are gone."""
        for pane in self._panes.keys() - set(panes):
            del self._panes[pane]

    def close(self) -> None:
        self._panes.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self) -> None:
        ends = [output.rests_until or UNKNOWN for output in self._panes.values()]
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
        for pane, output in self._panes.items():
            if output.rests_until is None or output.rests_until > now:
                continue
            if output.is_held:
                output.rests_until = UNKNOWN  # until tmux has answered
                held.append(pane)
            elif output.printed_bytes:
                output.told_at = now
                output.rest_s = min(2 * output.rest_s, REST_S_MAX)
                output.begin_rest(now)
                self._tell(pane)
            else:
                output.rests_until = None
        if held:
            self._order(_command(held, "continue")).add_done_callback(
                lambda done: self._on_continued(held, done.result())
            )
        self._set_timer()

    def _on_continued(self, panes: Iterable[str], replies: Replies) -> None:
        if replies is None:  # the client is closed: the next attach reports all panes
            return
        now = self._loop.time()
        for pane in panes:
            if output := self._panes.get(pane):
                output.is_held, output.told_at = False, now
                output.rest_s = REST_S_MAX
                output.begin_rest(now)
                self._tell(pane)
        self._set_timer()


def _command(panes: Iterable[str], what: str) -> str:
    return "refresh-client " + " ".join(f'-A "{pane}:{what}"' for pane in panes)
