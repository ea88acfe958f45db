"""A feature as a plan of steps: design, review, the checkpoints, the merge.

The state file shows the checkpoints' marks as a task list shows those of its tasks: the tables are
written first, then the file, then processes begin; a person's own change of a mark counts. It is
written at a phase's beginning and at an iteration's, and at no other time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from segue.core.develop import (
    ITERATIONS_MAX,
    Checkpoint,
    Feature,
    Phase,
    Progress,
    Status,
    Strategy,
    strategy_for,
)
from segue.core.machines import Trigger
from segue.core.plan import Task, TaskState
from segue.engine.plan import context_note
from segue.engine.plan.attempts import Attempt
from segue.engine.plan.plan_run import PlanRun
from segue.engine.plan.source import Source
from segue.i18n import _
from segue.plans import checkpoints as document
from segue.plans import develop_state
from segue.plans.checkpoints import CheckpointsError
from segue.store.changes import Note
from segue.work.feature import gates, git, marks, reconciling, tasks, validations
from segue.work.feature.feature_work import FeatureOptions
from segue.work.feature.folder import FeatureFolder
from segue.work.feature.tasks import BY_COMMAND, DESIGN, MERGE, REVIEW, STATES
from segue.work.feature.validations import CHECK

if TYPE_CHECKING:
    from segue.store.rows import GateRow, RunRow


class FeatureSteps(Source[PlanRun]):
    kind = "develop"
    retries_conflicts = True

    def __init__(self, folder: FeatureFolder, options: FeatureOptions) -> None:
        super().__init__(folder.state_file, str(folder.state_file.relative_to(folder.root)))
        self.folder = folder
        self.options = options
        self._run: PlanRun | None = None
        self.state = Feature("")
        self._data = b""
        self.checkpoints: list[Checkpoint] = []
        self.by_hand: set[str] = set()  # a person did them: only to be validated
        self._has_moved = False
        self._uses_worktrees = False
        self.settled_by_choice: set[str] = set()  # by what the command line said, once each
        self.escalated_before: set[str] = set()  # before this run

    @property
    def run(self) -> PlanRun:
        assert self._run is not None, "a feature's steps belong to a run"
        return self._run

    @property
    def design(self) -> Path:
        return self.folder.design(self.state.feature)

    def begin(self, run: PlanRun, feature: Feature, data: bytes | None) -> None:
        """From this state on; without `data` the feature is new."""
        self._run, self.state = run, feature
        shown = feature.checkpoints.items()
        self.escalated_before = {id for id, one in shown if one.status is Status.ESCALATED}
        if data is None:
            self._forget_all()
            self._data = develop_state.render(feature)
            self.folder.save(self._data)
            run.publish("phase_entered", phase=feature.phase, strategy=None)
        else:
            self._data = data
        has_checkpoints = feature.resumes_in in (Phase.IMPLEMENT, Phase.MERGE)
        if has_checkpoints:
            self._read_checkpoints()
            reconciling.check(feature, self._data, self.checkpoints, self.folder)
            self._tell_differences(feature)
        marks.take_in(self)
        run.ledger.commit()  # tables first
        if self.state.phase is not self.state.resumes_in:
            self._save(replace(self.state, phase=self.state.resumes_in))
        if has_checkpoints:
            self._uses_worktrees = self._wants_worktrees()
        for id, progress in self.state.checkpoints.items():
            if progress.status is Status.ESCALATED and self.state_of(id) is TaskState.SKIPPED:
                run.skipped_here.add(id)
        self._advance()
        self._has_moved = False

    def _forget_all(self) -> None:
        """What the tables know of an earlier feature does not count for this one."""
        ledger = self.run.ledger
        for key, row in ledger.tasks.items():
            if row.state is not TaskState.PENDING:
                self.back_to_pending(key, None)
        if DESIGN in ledger.tasks:  # its title is where the journal has the feature's name
            name = {"title": self.state.feature}
            ledger.stage(Note("task", ledger.tasks[DESIGN].id, name))

    def back_to_pending(self, key: str, error: str | None) -> None:
        """A step is to be done from its beginning."""
        self.run.ledger.move_task(
            key,
            TaskState.PENDING,
            Trigger.EDIT,
            mark=TaskState.PENDING,
            retries_used=0,
            error=error,
            summary=None,
        )

    def _read_checkpoints(self) -> None:
        self.checkpoints = reconciling.checkpoints_in(self.design)
        known = {one.id: Progress() for one in self.checkpoints}
        shown = self.state.checkpoints
        marks = {id: shown.get(id, progress) for id, progress in known.items()}
        self.state = replace(self.state, checkpoints=marks)

    def _tell_differences(self, feature: Feature) -> None:
        for text in reconciling.differences(feature, self.checkpoints):
            self.run.publish("notice", text=text)

    # The tasks of the phase

    def tasks(self) -> tuple[Task, ...]:
        return tasks.of_phase(self)

    def state_of(self, id: str) -> TaskState:
        row = self.run.ledger.tasks.get(id)
        return row.state if row else TaskState.PENDING

    def is_passed_over(self, id: str) -> bool:
        """A person said to continue without it."""
        return id in self.run.skipped_here

    @property
    def wanted(self) -> list[Checkpoint]:
        """Those that were not skipped."""
        return [one for one in self.checkpoints if not self.is_passed_over(one.id)]

    # How they run

    def is_isolated(self, task: str) -> bool:
        if task in self.by_hand:
            return False  # what a person fixes is in the project folder
        return self._uses_worktrees and any(one.id == task for one in self.checkpoints)

    def goes_on_from(self, run: PlanRun, task: Task) -> RunRow | None:
        """Checkpoints one after the other are worked on in one conversation."""
        is_one = self.state.strategy in (Strategy.DIRECT, Strategy.AGENT_TEAMS)
        if not is_one or self.state.phase is not Phase.IMPLEMENT or task.agent == BY_COMMAND:
            return None
        done = [one.id for one in self.checkpoints if self.state_of(one.id) is TaskState.COMPLETED]
        runs = [run.ledger.last_run(id) for id in (*done[-1:], task.id)]
        last = max((one for one in runs if one), key=lambda one: one.created_at, default=None)
        return last if last is not None and last.agent == task.agent else None

    def object_to(self, attempt: Attempt) -> str | None:
        return self.objection_to(attempt.task.id)

    def objection_to(self, task: str) -> str | None:
        """What is missing of a design or a review, in words."""
        if task not in (DESIGN, REVIEW):
            return None
        shown = self.design.relative_to(self.folder.root)
        try:
            text = self.design.read_text("utf-8", "replace")
        except OSError:
            text = ""
        if not text.strip():
            return _("the agent ended without an error but did not write {path}").format(path=shown)
        if task == REVIEW:
            try:
                document.read(text)
            except CheckpointsError as error:
                where = f"{shown}:{error.line}" if error.line else str(shown)
                return f"{where}: {error}"
        return None

    def place(self, attempt: Attempt) -> str:
        """Feature, phase, checkpoint and iteration, and what to read again."""
        one = next((one for one in self.checkpoints if one.id == attempt.task.id), None)
        reread = [str(self.design), *(one.files if one else ())]
        following = _("finish the phase {phase} as your task says").format(phase=self.state.phase)
        if one is not None:
            text = _("make this pass: {validate}; Segue runs it when you finish")
            following = text.format(validate=one.validate)
        plan = _("the feature '{feature}', phase {phase}").format(
            feature=self.state.feature, phase=self.state.phase
        )
        return context_note.described(attempt, plan, reread=reread, following=following)

    # What came of them

    def mark(self, task: str, state: TaskState) -> None:
        """The tables say it all: the file is brought to them at the next write."""
        if task == CHECK and state is TaskState.FAILED:
            validations.send_back(self)
        elif task == MERGE and state is TaskState.PENDING:  # cut off: the phase from its beginning
            self.run.move_task(CHECK, TaskState.PENDING, Trigger.EDIT, mark=TaskState.PENDING)

    def write(self, taken_in: Callable[[], None]) -> bool:
        self._has_moved = self._advance() or self._has_moved
        return True

    def has_moved_on(self) -> bool:
        has_moved, self._has_moved = self._has_moved, False
        return has_moved

    def followed(self, run: PlanRun) -> None:
        """What a checkpoint held back may be free now."""
        gates.reopen_free(self)

    def _advance(self) -> bool:
        """Bring the file to what the tables say, one boundary a write; True: another phase."""
        phase = self.state.phase
        while self._one_boundary():
            pass
        return self.state.phase is not phase

    def _one_boundary(self) -> bool:
        match self.state.phase:
            case Phase.DESIGN if self.state_of(DESIGN) is TaskState.COMPLETED:
                if gates.holds_design(self):
                    return False
                self._save(replace(self.state, phase=Phase.REVIEW))
            case Phase.REVIEW if self.state_of(REVIEW) is TaskState.COMPLETED:
                self._implement()
            case Phase.IMPLEMENT:
                return self._checkpoint_boundary()
            case Phase.MERGE if broken := self._broken():
                shown = {**self.state.checkpoints, **broken}
                self._save(replace(self.state, phase=Phase.IMPLEMENT, checkpoints=shown))
            case Phase.MERGE if self._is_merged():
                self._save(replace(self.state, phase=Phase.DONE))
            case _:
                return False
        return True

    def _is_merged(self) -> bool:
        """And all validations have passed before."""
        return all(self.state_of(key) is TaskState.COMPLETED for key in (CHECK, MERGE))

    def _broken(self) -> dict[str, Progress]:
        """Checkpoints that are not done, although the merge was reached; as the file shows them."""
        found = {}
        for one in self.checkpoints:
            state = self.state_of(one.id)
            if state is TaskState.COMPLETED or self.is_passed_over(one.id):
                continue
            found[one.id] = self._progress(one.id)
            if state is TaskState.PENDING:
                used = self.run.ledger.tasks[one.id].retries_used
                found[one.id] = Progress(Status.IN_PROGRESS, used + 1)
        return found

    def _implement(self) -> None:
        before = self.state
        self._read_checkpoints()
        marks.take_in_checkpoints(self)
        self._tell_differences(before)
        strategy = self.options.strategy or strategy_for(self.checkpoints)
        if strategy is Strategy.AGENT_TEAMS and self.options.agent_kind != "claude":
            text = _(
                "{agent} has no agent teams; Segue runs the checkpoints in "
                "parallel instead (subagent)"
            )
            self.run.publish("notice", text=text.format(agent=self.options.agent))
            strategy = Strategy.SUBAGENT
        self._save(replace(self.state, phase=Phase.IMPLEMENT, strategy=strategy))
        self._uses_worktrees = self._wants_worktrees()

    def _wants_worktrees(self) -> bool:
        """Side by side in a git repository: each checkpoint in a worktree of its own."""
        worktrees = self.run.job_factory.worktrees
        if self.state.strategy is not Strategy.SUBAGENT or worktrees is None:
            return False
        if any(worktrees.is_there(one.id) for one in self.checkpoints):
            return True  # work lies in them; a merge that was cut off leaves the folder changed
        dirty = git.changed(self.folder.root, besides=self.design)
        if dirty:
            text = _(
                "{file} is not committed, so the checkpoints share the project folder; "
                "each changes only its own files"
            )
            self.run.publish("notice", text=text.format(file=dirty[0]))
            return False
        git.commit_design(self.folder.root, self.design, self.state.feature)
        return True

    def _checkpoint_boundary(self) -> bool:
        for one in self.checkpoints:
            wanted = self._progress(one.id)
            if wanted != self.state.checkpoints[one.id]:
                self._save(self.state.with_checkpoint(one.id, wanted))
                return True
        settled = [
            self.state_of(one.id) is TaskState.COMPLETED or self.is_passed_over(one.id)
            for one in self.checkpoints
        ]
        if all(settled):
            for key in (CHECK, MERGE):
                if self.state_of(key) is not TaskState.PENDING:
                    self.back_to_pending(key, None)
            self._save(replace(self.state, phase=Phase.MERGE))
            return True
        return False

    def _progress(self, id: str) -> Progress:
        """What the tables say of a checkpoint, as the file shows it."""
        shown = self.state.checkpoints[id]
        row = self.run.ledger.tasks.get(id)
        if row is None or row.state in (TaskState.PENDING, TaskState.SKIPPED):
            return shown
        iteration = min(ITERATIONS_MAX, row.retries_used + 1)
        match row.state:
            case TaskState.IN_PROGRESS:
                return Progress(Status.IN_PROGRESS, iteration)
            case TaskState.FAILED:
                return Progress(Status.ESCALATED, max(iteration, shown.iteration))
            case _:
                if shown.status is Status.PASSED:
                    return shown
                return Progress(Status.PASSED, max(1, iteration))

    def _save(self, feature: Feature) -> None:
        at = self.run.clock.now().astimezone()
        feature = replace(feature, updated_at=f"{at:%Y-%m-%dT%H:%M:%S}")
        self._take_theirs()
        self._data = develop_state.edit(self._data, feature)
        self.folder.save(self._data)
        before, self.state = self.state, feature
        self._note_what_is_shown(before)
        if feature.phase is not before.phase:
            is_implement = feature.phase is Phase.IMPLEMENT
            strategy = feature.strategy if is_implement else None
            self.run.publish("phase_entered", phase=feature.phase, strategy=strategy)

    def _note_what_is_shown(self, before: Feature) -> None:
        """At once: a person may change the file as soon as it is there."""
        ledger = self.run.ledger
        for id, progress in self.state.checkpoints.items():
            if id in ledger.tasks and progress != before.checkpoints.get(id):
                ledger.note_mark(id, STATES[progress.status])
        for key, phase in marks.PHASE_OF.items():
            if key in ledger.tasks and phase is before.phase is not self.state.phase:
                ledger.note_mark(key, self.state_of(key))
        ledger.flush()

    def _take_theirs(self) -> None:
        """Comments and keys that a person wrote meanwhile are kept; a broken file is not read."""
        try:
            found = self.folder.load()
        except develop_state.BrokenError as error:
            backups = self.run.job_factory.project.memory / "backups"
            kept = self.folder.keep_copy(backups, self.run.clock.now())
            where = f"{self.shown}:{error.line}:{error.column}" if error.line else self.shown
            text = _("{where} was damaged during the run ({why}); your version is kept in {kept}")
            self.run.publish("notice", text=text.format(where=where, why=error, kept=kept))
            return
        if found is None:
            return
        self._data = found[0]
        if changed := reconciling.changed_meanwhile(self.state, found[1]):
            text = _(
                "{file} changed during the run ({what}); Segue ignores such changes "
                "while checkpoints run"
            )
            self.run.publish("notice", text=text.format(file=self.shown, what=changed))

    # People

    def answered(self, run: PlanRun, gate: GateRow, answer: str) -> bool:
        has_moved = gates.answered(self, gate, answer)
        if has_moved is None:
            return False
        self._has_moved = True
        return True

    def decide(self, run: PlanRun, task: str, verb: str, take: Callable[[], None]) -> bool:
        return gates.decide(self, task, verb, take)

    def at_rest(self, run: PlanRun) -> bool:
        return gates.ask_about_escalated(self)

    def design_again(self, wish: str) -> None:
        """A person asks for changes of the design."""
        self.back_to_pending(DESIGN, wish)
        self._has_moved = True

    def passed_over(self) -> None:
        """A person has settled a checkpoint: what waited for it is looked at again."""
        self._has_moved = True

    def go_on_after_design(self) -> None:
        self._save(replace(self.state, phase=Phase.REVIEW))
        self._has_moved = True

    def progress(self, run: PlanRun) -> tuple[int, int]:
        passed = [p for p in self.state.checkpoints.values() if p.status is Status.PASSED]
        return len(passed), len(self.state.checkpoints)
