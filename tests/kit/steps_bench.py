"""What tests of books and features share: a plan whose next tasks depend on what came before.

Everything is real but the processes, the clock and the engine, which are in the hands of the test.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Generic, TypeVar

import pytest

from kit.bench import RunBench
from segue.engine.plan import recovery
from segue.engine.plan.environment import Environment, RunPolicy
from segue.engine.plan.finish import Result
from segue.engine.plan.plan_run import PlanRun
from segue.engine.plan.source import Source
from segue.work.project import Project
from segue.work.roster import AgentRoster
from segue.work.settings.config import Config

S = TypeVar("S", bound=Source[PlanRun])


class StepsBench(RunBench, Generic[S]):
    """What would conduct a run (`conducted`, by its name) begins it here, up to its first jobs."""

    steps: S

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, conducted: str) -> None:
        super().__init__(folder)
        monkeypatch.setattr(conducted, self._conduct)

    def environment(self, command: str) -> Environment:
        """Where a command is given, a second after the last."""
        self.clock.pass_s(1)
        return Environment(
            environ=self.environ,
            clock=self.clock,
            tz=UTC,
            command=["segue", command],
            emit=self._emit,
            asker=None,
        )

    async def _conduct(
        self,
        source: S,
        project: Project,
        roster: AgentRoster,
        settings: Config,
        environment: Environment,
        how: RunPolicy,
        begin: Callable[[PlanRun], None],
    ) -> Result:
        self.steps, self._how = source, how
        self.make_run(source, project, roster, settings, how.options, how.place)
        begin(self.run)
        await recovery.recover(self.run, restart=how.restart)
        self.turn()
        return Result([], [], [], [], [], 0)

    def finish(self) -> int:
        """The run ends; its exit code."""
        return self._how.finish(self.run).exit
