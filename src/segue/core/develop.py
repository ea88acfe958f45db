"""A feature on its way from design to merge: phases, checkpoints, what may run side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import combinations

from segue.core.globs import overlaps

ITERATIONS_MAX = 3


class Phase(StrEnum):
    DESIGN = "DESIGN"
    REVIEW = "REVIEW"
    IMPLEMENT = "IMPLEMENT"
    MERGE = "MERGE"
    DONE = "DONE"


class Strategy(StrEnum):
    """How the checkpoints are worked on; settled on entering IMPLEMENT."""

    DIRECT = "direct"  # one after the other, in one conversation
    SUBAGENT = "subagent"  # side by side, a run each
    AGENT_TEAMS = "agent-teams"  # the agent's own team, where it has such a thing


class Status(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    PASSED = "passed"
    ESCALATED = "escalated"


SETTLED = (Status.PASSED, Status.ESCALATED)  # MERGE has an escalated one that was passed over


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a checkpoint is. `iteration`: 0 (not begun) to 3."""

    status: Status = Status.PENDING
    iteration: int = 0


@dataclass(frozen=True, slots=True)
class Feature:
    """All that `.develop-workflow/state.yaml` says."""

    feature: str
    phase: Phase = Phase.DESIGN
    strategy: Strategy | None = None
    started_at: str = ""
    updated_at: str = ""
    checkpoints: Mapping[str, Progress] = field(default_factory=dict)

    @property
    def resumes_in(self) -> Phase:
        """The phase that has work to do: a checkpoint that is not done is work of IMPLEMENT,
        whatever later phase the file names beside it."""
        is_left = any(one.status not in SETTLED for one in self.checkpoints.values())
        return (
            Phase.IMPLEMENT if is_left and self.phase in (Phase.MERGE, Phase.DONE) else self.phase
        )

    def with_checkpoint(self, id: str, progress: Progress) -> Feature:
        return replace(self, checkpoints={**self.checkpoints, id: progress})


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One part of the work, as the design document states it."""

    id: str
    description: str
    validate: str
    depends: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    line: int = 0


def strategy_for(checkpoints: Sequence[Checkpoint]) -> Strategy:
    """One checkpoint, or all in the same files: in one conversation. Otherwise side by side."""
    if len(checkpoints) < 2:
        return Strategy.DIRECT
    if all(are_in_the_way(one, other) for one, other in combinations(checkpoints, 2)):
        return Strategy.DIRECT
    return Strategy.SUBAGENT


def are_in_the_way(one: Checkpoint, other: Checkpoint) -> bool:
    """Whether both may change the same file; one that names none may change any."""
    return not one.files or not other.files or overlaps(one.files, other.files)


def report(feature: Feature) -> str:
    """`cp-1 passed, cp-2 in_progress (iter 1/3), cp-3 pending`."""
    return ", ".join(_one(id, progress) for id, progress in feature.checkpoints.items())


def _one(id: str, progress: Progress) -> str:
    if progress.status is Status.IN_PROGRESS:
        return f"{id} {progress.status} (iter {progress.iteration}/{ITERATIONS_MAX})"
    return f"{id} {progress.status}"
