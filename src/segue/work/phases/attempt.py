"""A run under way on the server, as its supervisor sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from segue.core.plan import Task
from segue.dialects.events import StepDone, TodosListed, Unsigned
from segue.engine import attempt as engine_attempt
from segue.work.agents.profiles import Profile


@dataclass(slots=True, kw_only=True)
class Attempt(engine_attempt.Attempt):
    """An attempt at a phase of a task, or at a check or a review of it."""

    task: Task  # as its agent is started for it
    profile: Profile
    workspace: Path
    heard: int = 0  # how many reports it made
    faults: set[str] = field(default_factory=set)  # in its reports, shown to people
    progress: StepDone | TodosListed | None = None  # its last report about its progress
    is_further: bool = False  # and that is not kept yet
    unsigned: list[Unsigned] = field(default_factory=list)  # markers that did not count
    is_ending: bool = False
    is_paused: bool = False
