"""The agents of a project, by name and by task, as the settings have them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from segue.core.plan import Task, TaskState
from segue.errors import Problem, UserError
from segue.i18n import _
from segue.plans.tasklist import Document
from segue.work.agents import profiles as agents
from segue.work.agents.profiles import Profile
from segue.work.settings import config


class AgentRoster:
    """The agents of a plan: who does which task."""

    def __init__(
        self, settings: config.Config, root: Path, environ: Mapping[str, str], default: str | None
    ) -> None:
        self._settings = settings
        self._root = root
        self._environ = environ
        self._default = default
        self._profiles: dict[str, Profile] = {}

    def name_for(self, task: Task) -> str:
        return task.agent or self._default or self._settings.agent

    def profile_for(self, task: Task) -> Profile:
        return self.profile(self.name_for(task))

    def profile(self, name: str) -> Profile:
        if name not in self._profiles:
            chosen = config.choose_agent(self._settings, name, file=None, line=None)
            agents.check_environment(chosen, self._environ)
            self._profiles[name] = agents.profile(chosen, self._root, self._environ)
        return self._profiles[name]

    def profile_named(self, name: str) -> Profile | None:
        """The agent of an earlier run, if it can still be had."""
        try:
            return self.profile(name)
        except UserError:
            return None

    def _placed(self, problem: Problem) -> Problem:
        """Where an agent that no task names is named, if nothing says where it stands."""
        named = self._settings.agent_place
        if problem.file is not None or self._default is not None or named is None:
            return problem
        return Problem(problem.code, problem.message, *named, problem.hint)

    def check(self, document: Document) -> list[Problem]:
        """Every task that is to run needs an agent that is there, and its command."""
        problems = []
        for task in document.tasks:
            if task.state in (TaskState.COMPLETED, TaskState.SKIPPED):
                continue
            try:
                profile = self.profile_for(task)
            except UserError as error:
                problem = error.problem
                if task.agent is None:  # not this line's fault
                    return [self._placed(problem)]
                line = document.field_line(task.id, "agent")
                problems.append(
                    Problem(problem.code, problem.message, document.file, line, problem.hint)
                )
                continue
            if profile.needs_command and task.run is None:
                problems.append(_no_command(task, document.file))
        return problems


def _no_command(task: Task, file: str) -> Problem:
    return Problem(
        "no_command",
        _("{task} has no command for the shell agent").format(task=task.id),
        file,
        task.line,
        _("add `- run: COMMAND` or a fenced sh block below it, or choose an agent: --agent NAME"),
    )
