"""What the run of a plan gets from its caller, and by what rules it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from segue.engine.clock import Clock
from segue.engine.plan.finish import Result, finish
from segue.engine.plan.plan_run import Options, PlanRun
from segue.engine.plan.questions import Asker
from segue.engine.worktree import Worktrees

Emit = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Environment:
    """What a run of any plan gets from its caller."""

    environ: Mapping[str, str]
    clock: Clock
    tz: tzinfo
    command: Sequence[str]
    emit: Emit
    asker: Asker | None
    show: Callable[[PlanRun], None] = lambda run: None
    pause: Callable[[], None] = lambda: None  # pauses the display when the program is suspended
    go_on: Callable[[], None] = lambda: None
    background: tuple[str, ...] | None = None  # the command, of an owner without a terminal


@dataclass(frozen=True, slots=True)
class RunPolicy:
    """How one plan is run. `place`: where its agents work, if not in the project's folder."""

    options: Options
    restart: bool = False
    worktrees: Worktrees | None = None
    isolates: Callable[[str], bool] = lambda task: True
    place: Path | None = None
    finish: Callable[[PlanRun], Result] = finish
