"""One run of one task: what it is started with, what was heard of it, how it ended."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from segue.core.durations import format_duration
from segue.core.plan import Task
from segue.dialects.events import Asked, LimitHit, Used
from segue.dialects.text import Text
from segue.engine.port import Ended, Job
from segue.i18n import _
from segue.store import files
from segue.work import prompts
from segue.work.agents import Facts, Profile, environment
from segue.work.ledger import RunRow
from segue.work.project import Project
from segue.work.worktree import Worktrees

LINES_KEPT = 200
TAIL_LINES = 40
MARKER = re.compile(r"\s*(===.*===|\[/?USER_QUESTION\b.*\])\s*$")  # an old nonce misleads


@dataclass(slots=True)
class Attempt:
    """A run under way, as its supervisor sees it."""

    run: RunRow
    task: Task
    profile: Profile
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=LINES_KEPT))
    limit: LimitHit | None = None
    asked: Asked | None = None
    used: Used | None = None
    answer: str | None = None
    summary: str = ""
    is_dropped: bool = False  # a person took the task out of Segue's hands
    was_adopted: bool = False
    is_new: bool = False  # its task began with it, and nobody was told yet


@dataclass(frozen=True, slots=True)
class Workshop:
    """Makes the jobs of a plan's runs."""

    project: Project
    environ: Mapping[str, str]
    base: Mapping[str, str]  # what every agent gets of it
    worktrees: Worktrees | None
    resume_text: str

    def folder(self, task: str) -> Path:
        return self.worktrees.workspace(task) if self.worktrees else self.project.root

    def log(self, run: RunRow) -> Path:
        return self.project.logs / f"{run.id}.log"

    def evidence(self, run: RunRow) -> Path:
        return self.project.evidence / f"{run.id}.log"

    def agent_job(self, attempt: Attempt, prompt: str | None) -> Job:
        """The agent itself. Without a prompt: to take up again one that was started."""
        run, task, profile = attempt.run, attempt.task, attempt.profile
        timeout = timedelta(seconds=task.timeout_s) if task.timeout_s is not None else None
        return Job(
            id=run.id,
            argv=profile.argv(task),
            env=self._environment(attempt),
            cwd=self.folder(task.id),
            log=self.log(run),
            dialect=profile.dialect(run.nonce),
            stdin=prompt.encode() if prompt is not None and profile.takes_prompt else None,
            has_terminal=profile.settings.driver == "pty",
            deadline=run.created_at + timeout if timeout else None,
        )

    def verify_job(self, attempt: Attempt, deadline: datetime | None) -> Job:
        """Segue's own check of the work, kept as evidence where the agent does not write."""
        run, task = attempt.run, attempt.task
        return Job(
            id=run.verify_job or "",
            argv=("/bin/sh", "-c", task.verify or ""),
            env={**self._environment(attempt), "SEGUE_RUN": run.verify_job or ""},
            cwd=self.folder(task.id),
            log=self.evidence(run),
            dialect=Text(run.nonce),
            deadline=deadline,
        )

    def keep_evidence(self, attempt: Attempt, ended: Ended, at: str) -> None:
        """What was checked, and what came of it, beside the check's output."""
        told = {
            "task": attempt.task.id,
            "run": attempt.run.id,
            "attempt": attempt.run.attempt,
            "command": attempt.task.verify,
            "exit_code": ended.code,
            "signal": ended.signal,
            "at": at,
            "output": self.evidence(attempt.run).name,
        }
        text = json.dumps(told, ensure_ascii=False, indent=2) + "\n"
        path = self.evidence(attempt.run).with_suffix(".json")
        try:
            files.replace(path, text.encode())
        except OSError as error:
            raise files.in_words(error, path) from error

    def first_prompt(
        self, attempt: Attempt, produced: list[tuple[str, str]], error: str | None
    ) -> str:
        nonce = attempt.run.nonce
        return prompts.first(attempt.task, produced=produced, error=error, nonce=nonce)

    def resume_prompt(self, answer: str | None) -> str:
        return prompts.resumed(self.resume_text, answer=answer)

    def _environment(self, attempt: Attempt) -> dict[str, str]:
        run = attempt.run
        facts = Facts(
            task=run.task,
            run=run.id,
            attempt=run.attempt,
            conversation=run.conversation,
            project=str(self.project.root),
            nonce=run.nonce,
            is_resumed=run.resumes is not None,
        )
        return environment(attempt.profile.settings, facts, self.environ, self.base)


def why(ended: Ended, timeout_s: float | None) -> str:
    """How a process ended badly, in a few words."""
    if ended.timed_out and timeout_s is not None:
        return _("timed out after {time}").format(time=format_duration(timeout_s))
    if ended.error is not None:
        return ended.error
    if ended.signal is not None:
        return _("killed by signal {number}").format(number=ended.signal)
    return _("exit code {code}").format(code=ended.code)


def one_line(reason: str, lines: deque[str]) -> str:
    """The error as the plan's comment and the question show it."""
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f"{reason}: {last}" if last else reason


def in_full(reason: str, lines: deque[str]) -> str:
    """The error as the next try gets it."""
    told = [line for line in lines if not MARKER.match(line)]
    return "\n".join([reason, *told[-TAIL_LINES:]])
