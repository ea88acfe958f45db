"""A feature under way, as its tasks, marks, gates and validations see it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from segue.core.develop import Checkpoint, Feature, Strategy
from segue.core.plan import TaskState
from segue.engine.plan.plan_run import PlanRun
from segue.work.feature.folder import FeatureFolder


@dataclass(frozen=True, slots=True)
class FeatureOptions:
    """How a person wants a feature to be worked on."""

    agent: str
    agent_kind: str
    strategy: Strategy | None = None
    has_gates: bool = False
    is_approved: bool = False
    on_escalated: str = "ask"
    merge_command: str | None = None
    user_folder: Path | None = None  # with the user's own prompts
    repeated: str = ""  # what of the command line the next one must repeat


class FeatureWork(Protocol):
    """`by_hand`: checkpoints that a person did, which are only to be validated;
    `settled_by_choice`: those about which the command line has said what to do;
    `escalated_before`: before this run."""

    folder: FeatureFolder
    options: FeatureOptions
    state: Feature
    checkpoints: list[Checkpoint]
    by_hand: set[str]
    settled_by_choice: set[str]
    escalated_before: set[str]

    @property
    def run(self) -> PlanRun: ...

    @property
    def design(self) -> Path: ...

    @property
    def wanted(self) -> list[Checkpoint]: ...

    def state_of(self, id: str) -> TaskState: ...

    def is_passed_over(self, id: str) -> bool: ...

    def passed_over(self) -> None: ...

    def back_to_pending(self, key: str, error: str | None) -> None: ...

    def objection_to(self, task: str) -> str | None: ...

    def design_again(self, wish: str) -> None: ...

    def go_on_after_design(self) -> None: ...
