"""The jobs of a run: the agent itself, and Segue's own check of its work.

What a kind of work adds (its folder, variables, secrets, a time limit) are values here; how each
agent is started, heard and spoken to is the same for all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from segue.dialects.text import Text
from segue.dialects.tool_channel import ToolChannel
from segue.drivers.sandbox import Mount
from segue.drivers.sandbox_git import unwelcome
from segue.engine.agent import Access, Agent, Facts, Wanted
from segue.engine.confine import Confined, confine
from segue.engine.executors import Channel, Job
from segue.engine.run_files import RunFiles

SECRET_CHARS_MIN = 6
# Python compares a source with what it compiled by the second and the size. Of a file that is
# written twice within one second, a check would run what the check before has compiled.
CHECK_ENV = {"PYTHONDONTWRITEBYTECODE": "1"}


@dataclass(frozen=True, slots=True)
class Launch:
    """One run of one agent, ready to become a job. `env`: what the kind of work adds; `secrets`:
    what people provided, by the name of the variable. Neither shows in a log."""

    agent: Agent
    facts: Facts
    folder: Path
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    deadline: datetime | None = None


@dataclass(frozen=True, slots=True)
class JobBuilder:
    """What all jobs of a project share. `base`: what every agent gets of `environ`."""

    files: RunFiles
    environ: Mapping[str, str]
    base: Mapping[str, str]

    def agent_job(
        self,
        launch: Launch,
        wanted: Wanted,
        *,
        reports: bool = True,
        line: Mapping[str, str] | None = None,
        stays_open: bool = False,
        is_adopted: bool = False,
    ) -> Job:
        """The agent itself. `reports`: Segue's tools are for it; `line`: what one that reads JSON
        lines is given instead of the prompt, and whether its input `stays_open` behind that;
        `is_adopted`: it was started before, and is only followed."""
        agent, facts = launch.agent, launch.facts
        tools: dict[str, str] = {}
        calls = self.files.tool_calls(facts.run)
        if reports and agent.has_tools:
            tools = {**facts.environment(), "SEGUE_TOLD": str(calls)}
        start = agent.start(
            Wanted(wanted.task, wanted.prompt, wanted.conversation, tools, wanted.is_fork)
        )
        stdin = start.stdin
        if agent.takes_lines:
            stdin = as_line(line or {"type": "prompt", "text": wanted.prompt})
        env = {**start.env, **self._environment(launch), **launch.secrets, **launch.env}
        own: dict[Path, Mount] = {}
        if agent.access is not None:  # what a command of Segue's refuses to it is written there
            env["SEGUE_REFUSALS"] = str(calls)
        if tools or agent.access is not None:
            own[calls] = Mount.WRITE
        if agent.keeps_place:
            kept = self.files.script_place(facts.conversation)
            env["SEGUE_SCRIPT_PLACE"] = str(kept)
            own[kept] = Mount.WRITE
        spoken = ToolChannel(facts.nonce, reports=bool(tools))
        confined = Confined(start.argv, env)
        if not is_adopted:
            confined = self._confine(launch, agent.access, start.argv, env, own)
        return Job(
            id=facts.run,
            argv=confined.argv,
            env=confined.env,
            layers=confined.layers,
            unwelcome=unwelcome(launch.folder) if agent.access else (),
            cwd=launch.folder,
            log=self.files.log(facts.run),
            dialect=agent.dialect(facts.nonce),
            err=self.files.err(facts.run) if agent.is_structured else None,
            told=Channel(calls, spoken) if calls in own else None,
            stdin=None if is_adopted else stdin,
            is_interactive=start.is_interactive or (agent.takes_lines and stays_open),
            has_terminal=agent.has_terminal,
            deadline=launch.deadline,
            masks=secret_values(launch.secrets),
        )

    def check_job(self, launch: Launch, command: str, evidence: str) -> Job:
        """Segue's own check, by a shell; its output is kept as the evidence of a run, where no
        agent writes. No secret is in its environment: who is checked has no say in what the
        check runs."""
        argv = ("/bin/sh", "-c", command)
        env = {**CHECK_ENV, **self._environment(launch), **launch.env}
        confined = self._confine(launch, launch.agent.check_access, argv, env, {})
        return Job(
            id=launch.facts.run,
            argv=confined.argv,
            env=confined.env,
            layers=confined.layers,
            unwelcome=unwelcome(launch.folder) if launch.agent.check_access else (),
            cwd=launch.folder,
            log=self.files.check_log(evidence),
            dialect=Text(launch.facts.nonce),
            deadline=launch.deadline,
            masks=secret_values(launch.secrets),
        )

    def _confine(
        self,
        launch: Launch,
        access: Access | None,
        argv: tuple[str, ...],
        env: Mapping[str, str],
        channel: dict[Path, Mount],
    ) -> Confined:
        """The command line as it runs, in the sandbox if there is one."""
        if place := env.get("SEGUE_PLACE"):
            channel[Path(place)] = Mount.READ
        return confine(
            argv,
            env,
            access,
            folder=launch.folder,
            files=self.files,
            run=launch.facts.run,
            environ=self.environ,
            channel=channel,
        )

    def _environment(self, launch: Launch) -> dict[str, str]:
        return launch.agent.environment(launch.facts, self.environ, self.base)


def as_line(said: Mapping[str, str]) -> bytes:
    """What an agent that takes lines reads from its input."""
    return (json.dumps(said, ensure_ascii=False) + "\n").encode()


def secret_values(given: Mapping[str, str]) -> tuple[str, ...]:
    """Those that are masked wherever they are printed. Words and short numbers are no secrets, and
    masking them would make the output of agents unreadable."""
    return tuple(
        value
        for value in given.values()
        if len(value) >= SECRET_CHARS_MIN or not (value.isalpha() or value.isdigit())
    )
