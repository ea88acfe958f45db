"""One run of one task: what it is started with, what was heard of it, how it ended."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from segue.core.plan import Task
from segue.core.variables import decides_what_runs
from segue.engine import attempt as engine_attempt
from segue.engine import evidence, prompts
from segue.engine.agent import Facts, Wanted
from segue.engine.confine import can_write
from segue.engine.evidence import Check
from segue.engine.executors import Ended, Job
from segue.engine.launch import JobBuilder, Launch
from segue.engine.run_files import Folders, RunFiles
from segue.engine.worktree import Worktrees
from segue.store.changes import Record
from segue.store.rows import RunRow

ATTEMPT = "\ue000attempt\ue000"  # which try it is, in a task's prompt and environment
TAIL_LINES = 40
LINE_CHARS_MAX = 2_000  # of what a failed try said, as the next one gets it
ERROR_CHARS_MAX = 12_000
MARKER = re.compile(  # an old nonce misleads
    r"\s*(===.*===|\[/?(?:USER_QUESTION|DEPENDENCY_REQUEST|ERROR)(?:_JSON)?\b.*)\s*$"
)


@dataclass(slots=True, kw_only=True)
class Attempt(engine_attempt.Attempt):
    """An attempt at a task of a plan."""

    task: Task
    answer: str | None = None
    before: str = ""  # what was done in a conversation that is lost
    summary: str = ""
    steps_done: set[int] = field(default_factory=set)  # those it reported
    question: str = ""  # the gate whose answer it gets
    provided: Sequence[str] = ()  # variables that a person says to be there for it
    can_edit_plan: bool = True  # what runs of it now can write the plan's file
    is_new: bool = False  # its task began with it, and that was not reported yet

    @property
    def has_place(self) -> bool:
        """A task's own command has no context to lose."""
        return not self.profile.needs_command


@dataclass(frozen=True, slots=True)
class JobFactory:
    """Makes the jobs of a plan's runs."""

    project: Folders
    environ: Mapping[str, str]
    base: Mapping[str, str]  # what every agent gets of it
    worktrees: Worktrees | None
    resume_text: str
    place: Path | None = None  # where the agents work, if that is not the project's folder
    isolates: Callable[[str], bool] = lambda task: True  # which tasks get a worktree
    plan: Path | None = None
    files: RunFiles = field(init=False)
    builder: JobBuilder = field(init=False)

    def __post_init__(self) -> None:
        # Made once: every start and every end of a run needs them.
        files = RunFiles.of(self.project)
        object.__setattr__(self, "files", files)
        object.__setattr__(self, "builder", JobBuilder(files, self.environ, self.base))

    def worktrees_of(self, task: str) -> Worktrees | None:
        return self.worktrees if self.isolates(task) else None

    def folder(self, task: str) -> Path:
        worktrees = self.worktrees_of(task)
        return worktrees.workspace(task) if worktrees else self.place or self.project.root

    def log(self, run: RunRow) -> Path:
        return self.files.log(run.id)

    def place_of(self, run: RunRow) -> Path:
        return self.files.place(run.id)

    def agent_job(self, attempt: Attempt, prompt: str | None) -> Job:
        """The agent itself. Without a prompt: to take up again one that was started."""
        run, task = attempt.run, attempt.task
        env = self._own_env(attempt)
        if attempt.has_place:
            env["SEGUE_PLACE"] = str(self.place_of(run))
        deadline = None
        if task.timeout_s is not None:
            deadline = run.created_at + timedelta(seconds=task.timeout_s)
        return self.builder.agent_job(
            Launch(
                attempt.profile,
                self._facts(attempt, run.id),
                self.folder(task.id),
                env,
                self._provided(attempt),
                deadline,
            ),
            Wanted(task, prompt or "", run.resume_id),
            line=_line(attempt, prompt or ""),
            is_adopted=prompt is None,
        )

    def verify_job(self, attempt: Attempt, deadline: datetime | None) -> Job:
        """Segue's own check of the work."""
        run, task = attempt.run, attempt.task
        launch = Launch(
            attempt.profile,
            self._facts(attempt, run.verify_job or ""),
            self.folder(task.id),
            self._own_env(attempt),
            deadline=deadline,
        )
        return self.builder.check_job(launch, task.verify or "", run.id)

    def can_write(self, attempt: Attempt, job: str, path: Path) -> bool:
        """Whether a job of this attempt, the agent or its check, can write a file."""
        is_check = job == attempt.run.verify_job
        access = attempt.profile.check_access if is_check else attempt.profile.access
        return access is None or can_write(access, self.folder(attempt.task.id), path)

    def keep_evidence(self, attempt: Attempt, ended: Ended, at: datetime) -> Record:
        """What was checked, and what came of it, beside the check's output; its row."""
        run, task = attempt.run, attempt.task
        folder = self.folder(task.id)
        check = Check(task.id, run.id, run.attempt, task.verify or "", folder)
        return evidence.keep(self.files, check, ended, at)

    def first_prompt(
        self, attempt: Attempt, produced: list[tuple[str, str]], error: str | None
    ) -> str:
        text = prompts.first(
            attempt.task,
            produced=produced,
            error=error,
            nonce=attempt.run.nonce,
            before=attempt.before,
            answer=attempt.answer,
            has_tools=attempt.profile.has_tools,
            purpose=attempt.run.purpose,
        )
        return text.replace(ATTEMPT, str(attempt.run.attempt))

    def prompt(
        self,
        task: Task,
        nonce: str,
        produced: list[tuple[str, str]],
        error: str | None,
        number: int,
    ) -> str:
        """The first prompt of a task that begins in a conversation that is there already."""
        text = prompts.first(task, produced=produced, error=error, nonce=nonce)
        return text.replace(ATTEMPT, str(number))

    def resume_prompt(self, attempt: Attempt) -> str:
        return prompts.resumed(self.resume_text, answer=attempt.answer, purpose=attempt.run.purpose)

    def _own_env(self, attempt: Attempt) -> dict[str, str]:
        n = str(attempt.run.attempt)
        return {name: value.replace(ATTEMPT, n) for name, value in attempt.task.env}

    def _provided(self, attempt: Attempt) -> dict[str, str]:
        """What an agent asked for and finds where Segue was started; nothing else gets through,
        and nothing that decides which programs run."""
        names = [name for name in attempt.provided if not decides_what_runs(name)]
        return {name: self.environ[name] for name in names if name in self.environ}

    def _facts(self, attempt: Attempt, job: str) -> Facts:
        run = attempt.run
        return Facts(
            task=run.task,
            run=job,
            attempt=run.attempt,
            conversation=run.conversation,
            project=str(self.project.root),
            nonce=run.nonce,
            is_resumed=run.resumes is not None and not attempt.before,
            plan=str(self.plan or ""),
            agent=run.agent,
        )


def _line(attempt: Attempt, prompt: str) -> dict[str, str]:
    """What an agent that reads JSON lines is given. A task has one thing to say to it: the end of
    its input follows, as for every agent of a task."""
    if attempt.question and attempt.answer is not None:
        line = {"type": "question_answer", "questionId": attempt.question, "answer": attempt.answer}
        return {**line, "message": attempt.run.prompt} if attempt.run.prompt else line
    return {"type": "prompt", "text": prompt}


def in_full(reason: str, lines: deque[str]) -> str:
    """The error as the next try gets it."""
    told = [line[-LINE_CHARS_MAX:] for line in lines if not MARKER.match(line)]
    text = "\n".join(told[-TAIL_LINES:])[-ERROR_CHARS_MAX:]
    return f"{reason[-ERROR_CHARS_MAX:]}\n{text}".rstrip()
