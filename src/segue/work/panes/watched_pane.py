"""A pane that is watched, as its owner knows it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from segue.core.machines import PaneState
from segue.dialects.events import LimitHit
from segue.engine.canary import Proof
from segue.store.rows import PANES


@dataclass(slots=True, eq=False)
class WatchedPane:
    """A pane with an agent. What is below the blank line is not remembered."""

    id: str
    place: str  # `%3` of tmux, `wezterm:7`
    agent: str
    account: str
    state: PaneState
    version: int
    task: str  # its id among the tasks of all works
    kind: str | None = None
    evidence: str = ""
    resets_at: datetime | None = None
    wakes_at: datetime | None = None  # by its park
    refusals: int = 0  # in a row, each with a time of its own; by its park
    sends: int = 0
    sent_at: datetime | None = None
    step: str = ""
    windows: int = 0
    is_held: bool = False

    holder: int | None = None  # the process of another watcher that has it
    is_announced: bool = False  # an event said how it stands
    is_woken: bool = False  # by hand, before the reset of its account
    is_attended: bool = False  # a person is typing
    is_rehearsed: bool = False  # a dry run has said what it would do
    proof: Proof | None = None  # whether it works for real, once it was resumed
    resumed_at: datetime | None = None  # when the text was sent that it reacted to
    doubts: int = 0  # looks that showed no stop where one was
    suspect: str = ""  # a screen with a limit that is only probable, and since when it stands
    suspect_since: datetime | None = None

    @property
    def name(self) -> str:
        """What people call it in commands: its place, and more where two servers have that."""
        return self.task.removeprefix(f"{PANES}/")

    @property
    def number(self) -> str:
        """What people call it in the log: the number of its pane."""
        found = re.search(r"\d+", self.place)
        return found[0] if found else self.place

    @property
    def is_ours(self) -> bool:
        return self.holder is None

    @property
    def is_waiting(self) -> bool:
        """Whether it is to be resumed at its time, by us, and no person uses it."""
        is_parked = self.state is PaneState.PAUSED and self.wakes_at is not None
        return is_parked and self.is_ours and not self.is_left_alone

    @property
    def is_left_alone(self) -> bool:
        return self.is_held or self.is_attended or self.is_rehearsed

    @property
    def limit(self) -> LimitHit:
        """The stop that it is in."""
        return LimitHit(self.kind or "unknown", self.resets_at, text=self.evidence)
