"""What tests of books and features share: a plan whose next tasks depend on what came before.

Everything is real but the processes, the clock and the engine, which are in the hands of the test.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any, Generic, TypeVar

import pytest
from work_kit import Bench, HandEngine

from segue.core.leash import Leash
from segue.engine.port import Recovered
from segue.store.conversations import Conversations
from segue.store.sqlite import Store
from segue.work import agents, recovery
from segue.work.accounts import Accounts
from segue.work.attempts import Workshop
from segue.work.finish import Result
from segue.work.ledger import Ledger
from segue.work.plan_run import PlanRun
from segue.work.project import Project
from segue.work.questions import Questions
from segue.work.runner import Cast, Conduct, Surroundings
from segue.work.source import Steps

S = TypeVar("S", bound=Steps)


class StepsBench(Bench, Generic[S]):
    """What would conduct a run (`conducted`, by its name) begins it here, up to its first jobs."""

    steps: S

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, conducted: str) -> None:
        super().__init__(folder)
        self.became: dict[str, Recovered] = {}  # what the next start finds of these jobs
        monkeypatch.setattr(conducted, self._conduct)

    def program(self, name: str) -> None:
        path = self.root / name
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)

    def around(self, command: str) -> Surroundings:
        """Where a command is given, a second after the last."""
        self.clock.pass_s(1)
        return Surroundings(
            environ={"HOME": str(self.home), "PATH": "/bin"},
            clock=self.clock,
            tz=UTC,
            command=["segue", command],
            emit=self._emit,
            asker=None,
        )

    def new_engine(self) -> HandEngine:
        return HandEngine()

    async def _conduct(
        self,
        source: S,
        project: Project,
        cast: Cast,
        settings: Any,
        around: Surroundings,
        how: Conduct,
        begin: Callable[[PlanRun], None],
    ) -> Result:
        self.close()  # the one before has died
        self._stores.clear()
        project.prepare()
        store = Store.open(project.database)
        self._stores.append(store)
        self.engine = self.new_engine()
        self.engine.became = self.became
        self.events = []
        self.steps, self._how = source, how
        self.run = PlanRun(
            file=source,
            ledger=Ledger(store, self.clock, source.path, source.kind),
            accounts=Accounts(store, self.clock),
            engine=self.engine,
            clock=self.clock,
            workshop=Workshop(
                project, around.environ, agents.passed_on(around.environ), None, "go on", how.place
            ),
            options=how.options,
            leash=Leash(),
            profile_for=cast.profile_for,
            profile_named=cast.profile_named,
            questions=Questions(None, self.engine.tell),
            held_conversations=Conversations(self.folder / "conversations", lambda claim: False),
            emit=self._emit,
            has_fallbacks=any(agent.fallback for agent in settings.agents.values()),
        )
        begin(self.run)
        recovery.recover(self.run, restart=how.restart)
        self.turn()
        return Result([], [], [], [], [], 0)

    def finish(self) -> int:
        """The run ends; its exit code."""
        return self._how.finish(self.run).exit
