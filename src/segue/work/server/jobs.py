"""The processes of the server's runs: what each is started with."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from segue.core.plan import Task, TaskState
from segue.dialects.text import Text
from segue.dialects.told import Told
from segue.drivers.living import living_agents
from segue.engine.port import Channel, Job
from segue.errors import AgentError
from segue.i18n import _
from segue.store.conversations import ConversationHolder, Conversations
from segue.work.agents import CHECK_ENV, Facts, Profile, Wanted, environment
from segue.work.project import Project
from segue.work.server import forks
from segue.work.server.attempt import Attempt
from segue.work.server.going_on import takes_lines
from segue.work.server.rows import RunRow, TaskRow
from segue.work.server.veil import revealed, secret_values

__all__ = ["Jobs", "as_line", "fenced_command", "secret_values"]


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

    def log(self, run: str, purpose: str = "work") -> Path:
        folder = self.project.evidence if purpose == "check" else self.project.logs
        return folder / f"{run}.log"

    def make(self, task: TaskRow, run: RunRow, *, is_adopted: bool = False) -> tuple[Attempt, Job]:
        """A run's process, to be started or (`is_adopted`) to be taken up again."""
        if not is_adopted:
            self.go_back(task.id)
        workspace = Path(task.workspace or "")
        if not task.workspace or not workspace.is_dir():
            text = _("the workspace is gone: {path}")
            raise AgentError(text.format(path=task.workspace))
        profile = self.profile(run.agent)
        given = self.given(task.id)
        command = fenced_command(task.description) if profile.needs_command else None
        state = TaskState.IN_PROGRESS
        wanted = Task(task.id, task.title, state, body=task.description, run=command)
        attempt = Attempt(run, profile, wanted, workspace)
        if run.purpose == "check":
            return attempt, self._check(task, run, profile, workspace, given)
        return attempt, self._agent(attempt, given, is_adopted=is_adopted)

    # One process on one conversation

    def is_conversation_taken(self, attempt: Attempt, conversation: str | None = None) -> bool:
        """Whether somebody else is at work in it; else it is ours from now on."""
        conversation = conversation or attempt.run.resume_id
        if attempt.profile.brand is None or conversation is None:
            return False
        if forks.source(conversation) is not None:  # it is only read
            return False
        run = attempt.run
        claim = self.project.runs / f"{run.id}.claim"
        holder = ConversationHolder(run.id, str(claim), str(self.project.root), run.task)
        kind = attempt.profile.settings.kind
        return self.conversations.take(kind, conversation, holder) is not None

    def leave_conversation(self, attempt: Attempt) -> None:
        if attempt.profile.brand is not None and attempt.run.resume_id is not None:
            kind = attempt.profile.settings.kind
            self.conversations.release(kind, attempt.run.resume_id, attempt.run.id)

    def claims(self) -> Iterator[str]:
        """The runs that a process was begun for and whose end nobody took in; also those whose
        claim was lost, as long as they live."""
        for path in self.project.runs.glob("task_*.claim"):
            yield path.name.removesuffix(".claim")
        for agent in living_agents(str(self.project.root)):
            if agent.run.startswith("task_") and not agent.says("SEGUE_PLAN"):
                yield agent.run

    def _agent(self, attempt: Attempt, given: Mapping[str, str], *, is_adopted: bool) -> Job:
        run, profile = attempt.run, attempt.profile
        facts = self._facts(run)
        told = self.project.runs / f"{run.id}.told"
        tools: dict[str, str] = {}
        if profile.has_tools and run.purpose == "work":
            tools = {**facts.environment(), "SEGUE_TOLD": str(told)}
        prompt = revealed(run.prompt or "", given)
        copied = forks.source(run.resume_id)
        start = profile.start(
            Wanted(attempt.task, prompt, copied or run.resume_id, tools, is_fork=copied is not None)
        )
        is_open = takes_lines(profile)
        stdin = start.stdin
        if is_open:
            stdin = as_line("prompt", prompt)
        return Job(
            id=run.id,
            argv=start.argv,
            env={
                **start.env,
                **environment(profile, facts, self.environ, self.base),
                "SEGUE_PHASE": str(run.phase),
                **given,
            },
            cwd=attempt.workspace,
            log=self.log(run.id),
            dialect=profile.dialect(run.nonce),
            err=self.project.logs / f"{run.id}.err.log" if profile.brand else None,
            told=Channel(told, Told(run.nonce)) if tools else None,
            stdin=None if is_adopted else stdin,
            is_interactive=start.is_interactive or is_open,
            has_terminal=profile.settings.driver == "pty",
            masks=secret_values(given),
        )

    def _check(
        self,
        task: TaskRow,
        run: RunRow,
        profile: Profile,
        workspace: Path,
        given: Mapping[str, str],
    ) -> Job:
        """A phase's `verify`, by a shell in the workspace. Nothing that the agent asked for is in
        its environment: who is checked has no say in what the check runs."""
        env = environment(profile, self._facts(run), self.environ, self.base)
        return Job(
            id=run.id,
            argv=("/bin/sh", "-c", run.prompt or (task.now_at.verify if task.now_at else "") or ""),
            env={**CHECK_ENV, **env},
            cwd=workspace,
            log=self.log(run.id, run.purpose),
            dialect=Text(run.nonce),
            masks=secret_values(given),
        )

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


def as_line(kind: str, text: str) -> bytes:
    """What an interactive agent reads from its input."""
    return (json.dumps({"type": kind, "text": text}, ensure_ascii=False) + "\n").encode()
