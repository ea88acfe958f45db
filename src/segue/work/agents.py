"""The agents that Segue can drive: how each is started and what it speaks.

Every agent gets an environment of its own: the few variables of Segue's that any
program needs, then the facts of its run (SEGUE_…), then its own `env` table.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from segue.core.plan import Task
from segue.dialects.events import Dialect
from segue.dialects.script import Script
from segue.dialects.text import Text
from segue.errors import UserError
from segue.i18n import _
from segue.plans import scenario
from segue.work.config import AgentSettings

PASSED_ON = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TERM|COLORTERM|TZ|TMPDIR|XDG_\w+"
    r"|SSL_CERT_FILE|SSL_CERT_DIR|(?i:https?_proxy|no_proxy|all_proxy)"
)
INSTALL = {
    "claude": "npm install -g @anthropic-ai/claude-code",
    "codex": "npm install -g @openai/codex",
    "gemini": "npm install -g @google/gemini-cli",
    "opencode": "npm install -g opencode-ai",
}
TEXT_MODE = {  # prompt on standard input, text out
    "claude": ("claude", "-p"),
    "codex": ("codex", "exec", "--skip-git-repo-check", "-"),
    "gemini": ("gemini",),
    "opencode": ("opencode", "run"),
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What a run is told of itself by its environment."""

    task: str
    run: str
    attempt: int
    conversation: str
    project: str
    nonce: str
    is_resumed: bool = False

    def environment(self) -> dict[str, str]:
        facts = {
            "SEGUE_TASK": self.task,
            "SEGUE_RUN": self.run,
            "SEGUE_ATTEMPT": str(self.attempt),
            "SEGUE_CONVERSATION": self.conversation,
            "SEGUE_PROJECT": self.project,
            "SEGUE_NONCE": self.nonce,
        }
        return {**facts, "SEGUE_RESUME": "1"} if self.is_resumed else facts


@dataclass(frozen=True, slots=True)
class Profile:
    """One agent, ready to be started."""

    settings: AgentSettings
    takes_prompt: bool
    argv: Callable[[Task], tuple[str, ...]]
    dialect: Callable[[str], Dialect]

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def account(self) -> str:
        return self.settings.charged_to

    @property
    def needs_command(self) -> bool:
        """It runs the task's own command, so there must be one."""
        return self.settings.kind == "shell"


def profile(settings: AgentSettings, root: Path, environ: Mapping[str, str]) -> Profile:
    """The profile of an agent whose program is there; else how to get it."""
    match settings.kind:
        case "shell":
            shell = settings.command or ("/bin/sh", "-c")
            return Profile(settings, False, lambda task: (*shell, task.run or ""), Text)
        case "script":
            played = str(_scenario(settings, root))
            player = (sys.executable, "-m", "segue.testing.script", played)
            return Profile(settings, False, lambda task: player, lambda nonce: Script())
        case kind:
            argv = settings.command or TEXT_MODE[kind]
            if settings.command and kind in TEXT_MODE:
                argv = (*settings.command, *TEXT_MODE[kind][1:])
            found = (_installed(argv[0], settings, root, environ), *argv[1:])
            return Profile(settings, True, lambda task: found, Text)


def passed_on(environ: Mapping[str, str]) -> dict[str, str]:
    """What of Segue's own environment any program needs."""
    return {name: value for name, value in environ.items() if PASSED_ON.fullmatch(name)}


def environment(
    settings: AgentSettings, facts: Facts, environ: Mapping[str, str], base: Mapping[str, str]
) -> dict[str, str]:
    """All that the agent finds in its environment: `base`, its facts, its own table."""
    own = {name: _resolve(settings, name, value, environ) for name, value in settings.env.items()}
    return {**base, **facts.environment(), **own}


def check_environment(settings: AgentSettings, environ: Mapping[str, str]) -> None:
    for name, value in settings.env.items():
        _resolve(settings, name, value, environ)


def _resolve(settings: AgentSettings, name: str, value: str, environ: Mapping[str, str]) -> str:
    """`$NAME` takes a variable of Segue's own."""
    taken = re.fullmatch(r"\$(\w+)|\$\{(\w+)\}", value)
    if not taken:
        return value
    wanted = taken[1] or taken[2]
    if wanted not in environ:
        raise UserError(
            "bad_value",
            _("agent `{agent}` wants {name} from ${wanted}, which is not set").format(
                agent=settings.name, name=name, wanted=wanted
            ),
            hint=_("export {wanted}=… before you start Segue").format(wanted=wanted),
        )
    return environ[wanted]


def _scenario(settings: AgentSettings, root: Path) -> Path:
    if settings.scenario is None:
        raise UserError(
            "bad_value",
            _("agent `{name}` has no scenario to play").format(name=settings.name),
            file=str(root / "segue.toml"),
            hint=f'[agents.{settings.name}]\nkind = "script"\nscenario = "night.scenario"',
        )
    path = root / settings.scenario
    if not path.is_file():
        raise UserError(
            "bad_value",
            _("there is no such scenario"),
            file=str(path),
            hint=_("the path is taken from the project's folder; docs/script.md has the format"),
        )
    scenario.parse(path.read_text(encoding="utf-8", errors="replace"), str(path))
    return path


def _installed(
    program: str, settings: AgentSettings, root: Path, environ: Mapping[str, str]
) -> str:
    own = settings.env.get("PATH")
    search = environ.get("PATH") if own is None else _resolve(settings, "PATH", own, environ)
    found = find_program(program, root, search)
    if found is None:
        raise UserError(
            "agent_missing",
            _("agent `{name}` needs the program `{program}`, which is not here").format(
                name=settings.name, program=program
            ),
            hint=_("install it: {command}").format(command=INSTALL[settings.kind])
            if settings.kind in INSTALL
            else _("install it, or mend `command` in segue.toml"),
        )
    return found


def find_program(program: str, root: Path, search: str | None) -> str | None:
    if os.sep in program:
        path = root / program
        return str(path) if os.access(path, os.X_OK) and path.is_file() else None
    return shutil.which(program, path=search)
