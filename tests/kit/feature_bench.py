"""What tests of features share: `develop` as it is, with an engine and a clock in our hands.

Everything is real but the processes: settings, state file, design document, tables. A test says what
the agent wrote and how it ended, and what the validation said, and looks at what follows.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kit.steps_bench import StepsBench
from segue.core.develop import Feature, Progress
from segue.dialects.events import Finished, Said
from segue.engine.executors import Ended, Heard, Job, Started
from segue.engine.plan.attempts import Attempt
from segue.engine.plan.beginning import go_on_with
from segue.engine.plan.plan_run import PlanRun
from segue.plans import develop_state
from segue.work.feature.developing import CommandOptions, develop
from segue.work.feature.folder import FeatureFolder
from segue.work.feature.steps import FeatureSteps
from segue.work.project import Project

MINE = 'agent = "dev"\n[agents.dev]\nkind = "command"\ncommand = ["./dev"]\n'
APART = """\
- {id: cp-1, description: The store, validate: check store, files: [store.py]}
- {id: cp-2, description: The page, validate: check page, files: [page.py]}
"""
TOGETHER = APART.replace("page.py", "store.py")


class FeatureBench(StepsBench[FeatureSteps]):
    """`develop` begins or goes on with a feature, as `segue develop` does, up to its first jobs."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(folder, monkeypatch, "segue.work.feature.developing.runner.run_work")
        self.program("dev")
        self.settings(MINE)
        self.place = FeatureFolder(self.root)
        self.saved: list[bytes] = []  # every write of the state file
        save = FeatureFolder.save

        def note(place: FeatureFolder, data: bytes) -> None:
            self.saved.append(data)
            save(place, data)

        monkeypatch.setattr(FeatureFolder, "save", note)

    def develop(self, feature: str | None = "real-time chat", **options: Any) -> PlanRun:
        """With `feature` a new one, with None the one that is there."""
        wanted = CommandOptions(self.root, feature, is_fresh=feature is not None, **options)
        asyncio.run(develop(wanted, self.environment("develop")))
        return self.run

    def turn(self) -> None:
        """The loop turns until it would wait."""
        self.is_over = False
        while True:
            super().turn()
            if self.driver._has_followed():
                continue
            self.is_over = self.driver.is_over()
            if self.is_over or not self.driver._has_followed():
                break
        self.clock.pass_s(1)

    # What is under way

    def attempt_of(self, task: str) -> Attempt:
        """The attempt at a task that was begun last, and runs."""
        found = [one for one in self.run.jobs.values() if one.task.id == task]
        assert found, f"{task} is not running; these do: {sorted(self.running)}"
        return found[-1]

    def job_of(self, task: str) -> Job:
        return self.engine.jobs[self.attempt_of(task).run.id]

    def told_to(self, task: str) -> str:
        """The prompt of the attempt that runs."""
        return (self.job_of(task).stdin or b"").decode()

    @property
    def running(self) -> list[str]:
        return sorted({one.task.id for one in self.run.jobs.values()})

    @property
    def begun_tasks(self) -> list[str]:
        """Every start of an agent, in order; Segue's own checks are not among them."""
        return [id.rsplit("-", 2)[0] for id in self.engine.begun if ".verify" not in id]

    # One step

    def ends_well(self, task: str, code: int = 0) -> None:
        run = self.attempt_of(task).run
        self.happens(Started(run.id))
        if self.attempt_of(task).profile.is_structured:
            self.happens(Heard(run.id, Finished(False, "done")))
        self.happens(Ended(run.id, code))

    def validated(self, task: str, code: int = 0, said: str = "") -> None:
        """Segue's own check of a task ends."""
        attempt = self.attempt_of(task)
        job = attempt.run.verify_job
        assert job is not None, f"{task} is not checked"
        self.happens(Started(job))
        self.happens(*(Heard(job, Said(line)) for line in said.splitlines()))
        self.happens(Ended(job, code))

    def passes(self, *tasks: str) -> None:
        for task in tasks:
            self.ends_well(task)
            self.validated(task)

    def fails(self, task: str, times: int = 1) -> None:
        for _time in range(times):
            self.ends_well(task)
            self.validated(task, 1, "it is not there")

    def write_design(self, block: str = "") -> None:
        design = self.steps.design
        design.parent.mkdir(parents=True, exist_ok=True)
        text = f"```yaml checkpoints\n{block}```\n" if block else ""
        design.write_text(f"# Design\n\n{text}", "utf-8")

    def designs(self) -> None:
        self.write_design()
        self.ends_well("design")

    def reviews(self, block: str = APART) -> None:
        self.write_design(block)
        self.ends_well("review")

    def to_implement(self, block: str = APART, **options: Any) -> None:
        """A new feature up to its checkpoints."""
        self.develop(**options)
        self.designs()
        self.reviews(block)

    def says_failed(self, *checkpoints: str, output: str = "") -> None:
        """All validations run together, and these fail."""
        log = self.job_of("check").log
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"{output}failed: {' '.join(checkpoints)}\n")
        self.ends_well("check", 1)

    def forget_mark(self, task: str, mark: str) -> None:
        """As if Segue had died before it noted what the file shows."""
        self.run.ledger.note_task(task, mark=mark)
        self.run.ledger.flush()

    def lose_memory(self) -> None:
        """The database is removed, as by `git clean`."""
        self.close()
        self._stores.clear()
        for path in Project(self.root).state.glob("segue.db*"):
            path.unlink()

    def answers(self, text: str) -> None:
        """A person answers the one question that is open."""
        (gate,) = self.run.ledger.gates.values()
        go_on_with(self.run, gate, text)
        self.happens()

    # What is there

    @property
    def state(self) -> Feature:
        """As the file has it."""
        return develop_state.parse(self.place.state_file.read_bytes())

    @property
    def marks(self) -> dict[str, tuple[str, int]]:
        return {id: _mark(one) for id, one in self.state.checkpoints.items()}


def _mark(one: Progress) -> tuple[str, int]:
    return str(one.status), one.iteration
