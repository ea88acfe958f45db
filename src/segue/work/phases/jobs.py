"""The processes of the server's runs: what each is started with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from segue.core.plan import Task, TaskState
from segue.drivers.living import living_agents
from segue.engine.agent import Facts, Wanted
from segue.engine.conversations import ConversationHolds
from segue.engine.executors import Job
from segue.engine.launch import JobBuilder, Launch
from segue.engine.run_files import RunFiles
from segue.errors import AgentError
from segue.i18n import _
from segue.store.conversations import Conversations
from segue.store.rows import PhaseTaskRow, RunRow
from segue.work.agents.profiles import Profile
from segue.work.phases.attempt import Attempt
from segue.work.phases.redaction import revealed
from segue.work.project import Project

FORK = "fork:"  # before the name of a conversation that is to be copied


@dataclass(frozen=True, slots=True)
class Jobs:
    """`given`: what people provided for a task, by the name of the variable."""

    project: Project
    environ: Mapping[str, str]
    base: Mapping[str, str]  # what every agent gets of it
    profile: Callable[[str], Profile]
    given: Callable[[str], Mapping[str, str]]
    conversations: Conversations
    go_back: Callable[[str], None] = lambda task: None  # to what a rewind decided, if it did

    @property
    def files(self) -> RunFiles:
        return RunFiles.of(self.project)

    @property
    def builder(self) -> JobBuilder:
        return JobBuilder(self.files, self.environ, self.base)

    def log(self, run: str, role: str = "work") -> Path:
        return self.files.check_log(run) if role == "check" else self.files.log(run)

    def make(
        self, task: PhaseTaskRow, run: RunRow, *, is_adopted: bool = False
    ) -> tuple[Attempt, Job]:
        """A run's process, to be started or (`is_adopted`) to be taken up again."""
        if not is_adopted:
            self.go_back(task.id)
        workspace = Path(task.workspace or "")
        if not task.workspace or not workspace.is_dir():
            text = _("the workspace no longer exists: {path}")
            raise AgentError(text.format(path=task.workspace))
        profile = self.profile(run.agent)
        given = self.given(task.id)
        command = fenced_command(task.description) if profile.needs_command else None
        state = TaskState.IN_PROGRESS
        wanted = Task(task.id, task.title, state, body=task.description, run=command)
        attempt = Attempt(run=run, profile=profile, task=wanted, workspace=workspace)
        if run.role == "check":
            return attempt, self._check(task, attempt, given)
        return attempt, self._agent(attempt, given, is_adopted=is_adopted)

    # One process on one conversation

    def hold_conversation(self, attempt: Attempt, conversation: str | None = None) -> bool:
        """Hold the one that a program named, or that it is to continue. False: it is in use."""
        wanted = conversation or attempt.run.resume_id or attempt.profile.own_conversation
        if forked_from(wanted) is not None:  # it is only read
            return True
        return self._holds.take(attempt, wanted)

    def leave_conversation(self, attempt: Attempt) -> None:
        self._holds.release(attempt)

    @property
    def _holds(self) -> ConversationHolds:
        return ConversationHolds(self.conversations, self.files, str(self.project.root))

    def claims(self) -> Iterator[str]:
        """The runs that a process was begun for and whose end was not processed; also those whose
        claim was lost, as long as they live."""
        for path in self.project.runs.glob("task_*.claim"):
            yield path.name.removesuffix(".claim")
        for agent in living_agents(str(self.project.root)):
            if agent.run.startswith("task_") and not agent.says("SEGUE_PLAN"):
                yield agent.run

    def _agent(self, attempt: Attempt, given: Mapping[str, str], *, is_adopted: bool) -> Job:
        run = attempt.run
        copied = forked_from(run.resume_id)
        prompt = revealed(run.prompt or "", given)
        phase = {"SEGUE_PHASE": str(run.phase)}
        return self.builder.agent_job(
            Launch(attempt.profile, self._facts(run), attempt.workspace, phase, given),
            Wanted(attempt.task, prompt, copied or run.resume_id, is_fork=copied is not None),
            reports=run.role == "work",
            stays_open=True,
            is_adopted=is_adopted,
        )

    def check_command(self, task: PhaseTaskRow, run: RunRow) -> str:
        return run.prompt or (task.now_at.verify if task.now_at else "") or ""

    def _check(self, task: PhaseTaskRow, attempt: Attempt, given: Mapping[str, str]) -> Job:
        """A phase's `verify`, in the workspace."""
        run, command = attempt.run, self.check_command(task, attempt.run)
        launch = Launch(attempt.profile, self._facts(run), attempt.workspace, secrets=given)
        return self.builder.check_job(launch, command, run.id)

    def _facts(self, run: RunRow) -> Facts:
        return Facts(
            task=run.task,
            run=run.id,
            attempt=run.attempt,
            conversation=run.conversation,
            project=str(self.project.root),
            nonce=run.nonce,
            is_resumed=run.resumes is not None,
        )


def fenced_command(text: str) -> str | None:
    """The fenced `sh` blocks of a description, or its `run:` lines, as one command."""
    blocks = re.findall(r"^```(?:sh|bash|shell)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    found = blocks or re.findall(r"^\s*(?:[-*]\s*)?run:\s*(\S.*)$", text, re.MULTILINE)
    return "\n".join(found) or None


def forked_from(resume_id: str | None) -> str | None:
    """The conversation that is to be copied; None: it is one of its own."""
    if resume_id is None or not resume_id.startswith(FORK):
        return None
    return resume_id.removeprefix(FORK)
