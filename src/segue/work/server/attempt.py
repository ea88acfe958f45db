"""A run under way on the server, as its supervisor sees it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from segue.core.plan import Task
from segue.dialects.events import (
    Asked,
    ConversationLost,
    DependencyAsked,
    ErrorTold,
    Finished,
    LimitHit,
    PhaseDone,
    StepDone,
    TaskDone,
    TodosListed,
    Unsigned,
    Used,
    by_importance,
)
from segue.work.agents import Profile
from segue.work.server.rows import RunRow

LINES_KEPT = 400
Told = ErrorTold | PhaseDone | TaskDone | DependencyAsked | Asked


@dataclass(slots=True)
class Attempt:
    run: RunRow
    profile: Profile
    task: Task  # as the workshop wants it
    workspace: Path
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=LINES_KEPT))
    told: list[Told] = field(default_factory=list)  # and not acted on yet
    heard: int = 0  # how many such things it told
    limit: LimitHit | None = None
    used: Used | None = None
    finished: Finished | None = None
    lost: ConversationLost | None = None
    permission: dict[str, Any] = field(default_factory=dict)  # what it asks leave for
    faults: set[str] = field(default_factory=set)  # of how it reports, told to people
    progress: StepDone | TodosListed | None = None  # the last that it told of how far it is
    is_further: bool = False  # and that is not kept yet
    unsigned: list[Unsigned] = field(default_factory=list)  # markers that did not count
    is_ending: bool = False
    is_paused: bool = False

    def ranked(self) -> list[Told]:
        """What it told, each thing once: what counts most comes first."""
        return cast("list[Told]", list(dict.fromkeys(by_importance(self.told))))
