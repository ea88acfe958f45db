"""One run of one task: what it is started with, what was heard of it, how it ended."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from segue.core.durations import format_duration
from segue.core.plan import Task
from segue.core.variables import decides_what_runs
from segue.dialects.events import (
    Asked,
    ConversationLost,
    Event,
    Finished,
    LimitHit,
    Opened,
    Said,
    Used,
)
from segue.dialects.text import Text
from segue.dialects.told import Told
from segue.engine.port import Channel, Ended, Job
from segue.i18n import _
from segue.store import files
from segue.store.conversations import ConversationHolder
from segue.work import place, prompts
from segue.work.agents import CHECK_ENV, Facts, Profile, Wanted, environment
from segue.work.project import Project
from segue.work.rows import RunRow
from segue.work.worktree import Worktrees

SECRET_CHARS_MIN = 6  # masking shorter ones would make an output unreadable
ATTEMPT = "\ue000attempt\ue000"  # which try it is, in a task's prompt and environment
LINES_KEPT = 200
TAIL_LINES = 40
LINE_CHARS_MAX = 2_000  # of what a failed try said, as the next one gets it
ERROR_CHARS_MAX = 12_000
LOG_BYTES_READ = 256 * 1024
MARKER = re.compile(  # an old nonce misleads
    r"\s*(===.*===|\[/?(?:USER_QUESTION|DEPENDENCY_REQUEST|ERROR)(?:_JSON)?\b.*)\s*$"
)


@dataclass(slots=True)
class Attempt:
    """A run under way, as its supervisor sees it."""

    run: RunRow
    task: Task
    profile: Profile
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=LINES_KEPT))
    limit: LimitHit | None = None
    limit_at: datetime | None = None  # when that was said
    asked: Asked | None = None
    used: Used | None = None
    finished: Finished | None = None
    lost: ConversationLost | None = None  # what it was to go on with is not known any more
    busy: ConversationHolder | None = None  # somebody else is at work in its conversation
    about: Mapping[str, Any] = field(default_factory=dict)  # what it asks leave for
    answer: str | None = None
    before: str = ""  # what was done in a conversation that is lost
    heard_at: datetime | None = None
    is_silent: bool = False  # and that was told
    was_too_silent: bool = False  # and was ended for it
    summary: str = ""
    steps_done: set[int] = field(default_factory=set)  # those it told of
    is_parked_by_hand: bool = False
    is_dropped: bool = False  # a person took the task out of Segue's hands
    question: str = ""  # the gate whose answer it is told
    provided: Sequence[str] = ()  # variables that a person says to be there for it
    ended_unseen: bool = False  # while no Segue lived
    is_new: bool = False  # its task began with it, and nobody was told yet


@dataclass(frozen=True, slots=True)
class Workshop:
    """Makes the jobs of a plan's runs."""

    project: Project
    environ: Mapping[str, str]
    base: Mapping[str, str]  # what every agent gets of it
    worktrees: Worktrees | None
    resume_text: str
    place: Path | None = None  # where the agents work, if that is not the project's folder
    isolates: Callable[[str], bool] = lambda task: True  # which tasks get a worktree
    plan: Path | None = None

    def worktrees_of(self, task: str) -> Worktrees | None:
        return self.worktrees if self.isolates(task) else None

    def folder(self, task: str) -> Path:
        worktrees = self.worktrees_of(task)
        return worktrees.workspace(task) if worktrees else self.place or self.project.root

    def log(self, run: RunRow) -> Path:
        return self.project.logs / f"{run.id}.log"

    def evidence(self, run: RunRow) -> Path:
        return self.project.evidence / f"{run.id}.log"

    def err(self, run: RunRow) -> Path:
        """Where a structured agent's standard error goes: between its lines it would break them."""
        return self.project.logs / f"{run.id}.err.log"

    def last_words_at(self, run: RunRow, now: datetime) -> datetime:
        """When the agent last said something: now, but for one whose supervisor had died."""
        said_s = []
        for path in (self.log(run), self.err(run)):
            with contextlib.suppress(OSError):
                said_s.append(path.stat().st_mtime)
        return min(now, datetime.fromtimestamp(max(said_s), UTC)) if said_s else now

    def tail(self, run: RunRow, bytes_max: int) -> str:
        """The end of what the agent printed, on either stream, as it came; whole lines."""
        try:
            with self.log(run).open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - bytes_max))
                data = file.read(bytes_max)
        except FileNotFoundError:
            return ""
        if size > bytes_max:
            data = data.partition(b"\n")[2] or data
        return data.decode("utf-8", "replace")

    def told(self, run: RunRow) -> Path:
        return self.project.runs / f"{run.id}.told"

    def place_of(self, run: RunRow) -> Path:
        """Where a run's place is kept for an agent that has lost its context."""
        return self.project.runs / f"{run.id}.place"

    def claim(self, run: RunRow) -> Path:
        return self.project.runs / f"{run.id}.claim"

    def agent_job(self, attempt: Attempt, prompt: str | None) -> Job:
        """The agent itself. Without a prompt: to take up again one that was started."""
        run, task, profile = attempt.run, attempt.task, attempt.profile
        timeout = timedelta(seconds=task.timeout_s) if task.timeout_s is not None else None
        env = self._environment(attempt, self._provided(attempt))
        if place.has_place(attempt):
            env["SEGUE_PLACE"] = str(self.place_of(run))
        tools: dict[str, str] = {}
        if profile.has_tools:
            tools = {**self._facts(attempt).environment(), "SEGUE_TOLD": str(self.told(run))}
        start = profile.start(Wanted(task, prompt or "", run.resume_id, tools))
        stdin = start.stdin
        if profile.settings.is_interactive and profile.brand is None:
            stdin = _line(attempt, prompt or "")
        return Job(
            id=run.id,
            argv=start.argv,
            env={**start.env, **env},
            cwd=self.folder(task.id),
            log=self.log(run),
            dialect=profile.dialect(run.nonce),
            err=self.err(run) if profile.brand else None,
            told=Channel(self.told(run), Told(run.nonce)) if tools else None,
            stdin=stdin if prompt is not None else None,
            is_interactive=start.is_interactive,
            has_terminal=profile.settings.driver == "pty",
            deadline=run.created_at + timeout if timeout else None,
            masks=tuple(v for v in self._provided(attempt).values() if len(v) >= SECRET_CHARS_MIN),
        )

    def heard_before(self, run: RunRow, profile: Profile) -> Heard:
        """What a run had told before its supervisor died, from its log."""
        dialect = profile.dialect(run.nonce)
        events: list[Event] = []
        for data in _both_ends(self.log(run)):
            events += dialect.feed(data)
        events += dialect.close()
        heard = Heard()
        for event in events:
            match event:
                case Opened(conversation):
                    heard.conversation = conversation
                case Used():
                    heard.used = event
                case Said(text):
                    heard.lines.append(text)
        return heard

    def verify_job(self, attempt: Attempt, deadline: datetime | None) -> Job:
        """Segue's own check of the work, kept as evidence where the agent does not write."""
        run, task = attempt.run, attempt.task
        return Job(
            id=run.verify_job or "",
            argv=("/bin/sh", "-c", task.verify or ""),
            env={**CHECK_ENV, **self._environment(attempt, {}), "SEGUE_RUN": run.verify_job or ""},
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

    def _environment(self, attempt: Attempt, provided: Mapping[str, str]) -> dict[str, str]:
        facts = environment(attempt.profile, self._facts(attempt), self.environ, self.base)
        n = str(attempt.run.attempt)
        own = {name: value.replace(ATTEMPT, n) for name, value in attempt.task.env}
        return {**facts, **provided, **own}

    def _provided(self, attempt: Attempt) -> dict[str, str]:
        """What an agent asked for and finds where Segue was started; nothing else gets through,
        and nothing that decides which programs run."""
        names = [name for name in attempt.provided if not decides_what_runs(name)]
        return {name: self.environ[name] for name in names if name in self.environ}

    def _facts(self, attempt: Attempt) -> Facts:
        run = attempt.run
        return Facts(
            task=run.task,
            run=run.id,
            attempt=run.attempt,
            conversation=run.conversation,
            project=str(self.project.root),
            nonce=run.nonce,
            is_resumed=run.resumes is not None and not attempt.before,
            plan=str(self.plan or ""),
            agent=run.agent,
        )


def _line(attempt: Attempt, prompt: str) -> bytes:
    """What an agent that reads JSON lines is given. A task has one thing to say to it: the end of
    its input follows, as for every agent of a task."""
    said: dict[str, str] = {"type": "prompt", "text": prompt}
    if attempt.question and attempt.answer is not None:
        answer = attempt.answer
        said = {"type": "question_answer", "questionId": attempt.question, "answer": answer}
    return (json.dumps(said, ensure_ascii=False) + "\n").encode()


@dataclass(slots=True)
class Heard:
    """What is known of a run from its log alone."""

    conversation: str | None = None
    used: Used | None = None
    lines: list[str] = field(default_factory=list)


def _both_ends(log: Path) -> list[bytes]:
    """The beginning of a log, where a conversation is named, and its end."""
    try:
        with log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            first = file.read(LOG_BYTES_READ)
            if size <= LOG_BYTES_READ:
                return [first]
            file.seek(max(LOG_BYTES_READ, size - LOG_BYTES_READ))
            return [first, b"\n", file.read(LOG_BYTES_READ)]
    except FileNotFoundError:
        return []


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
    told = [line[-LINE_CHARS_MAX:] for line in lines if not MARKER.match(line)]
    text = "\n".join(told[-TAIL_LINES:])[-ERROR_CHARS_MAX:]
    return f"{reason[-ERROR_CHARS_MAX:]}\n{text}".rstrip()
