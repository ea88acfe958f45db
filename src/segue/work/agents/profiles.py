"""The agents that Segue can drive: how each is started and what it speaks.

Every agent gets an environment of its own: the few variables of Segue's that any
program needs and those that its own brand does, then the facts of its run (SEGUE_…), then
its own `env` table.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from segue.dialects.events import Dialect, PermissionAsked
from segue.dialects.script import Script
from segue.dialects.text import Text
from segue.engine.agent import Access, Facts, Grant, Start, Verdict, Wanted
from segue.errors import Bug, UserError
from segue.i18n import _
from segue.plans import scenario
from segue.work.agents import brands, confinement, permissions
from segue.work.agents.brands import Brand, Call, named_conversation
from segue.work.agents.zone import named_zone
from segue.work.settings.config import AgentSettings

PASSED_ON = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TERM|COLORTERM|TZ|TMPDIR"
    r"|XDG_(?!STATE_HOME)\w+"  # Segue's own state is there
    r"|SSL_CERT_FILE|SSL_CERT_DIR|(?i:https?_proxy|no_proxy|all_proxy)"
)

OURS = (sys.executable, "-P", "-m")  # a module of ours, whatever lies in the agent's folder


@dataclass(frozen=True, slots=True)
class Profile:
    """One agent, ready to be started: an `Agent` of the engine. `brand`: a program with structured
    output."""

    settings: AgentSettings
    start: Callable[[Wanted], Start]
    dialect: Callable[[str], Dialect]
    brand: Brand | None = None
    takes: Mapping[str, str] = field(default_factory=dict)  # of Segue's own variables
    access: Access | None = None  # in its sandbox; None: without one
    check_access: Access | None = None

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def kind(self) -> str:
        return self.settings.kind

    @property
    def account(self) -> str:
        return self.settings.charged_to

    @property
    def command(self) -> tuple[str, ...]:
        return self.settings.command

    @property
    def is_structured(self) -> bool:
        return self.brand is not None

    @property
    def takes_lines(self) -> bool:
        """It stays alive while it waits, and reads one JSON object per line."""
        return self.settings.is_interactive and self.brand is None

    @property
    def has_terminal(self) -> bool:
        return self.settings.driver == "pty"

    @property
    def keeps_place(self) -> bool:
        return self.settings.kind == "script"

    @property
    def counts_conversation(self) -> bool:
        return self.brand is not None and self.brand.counts_conversation

    @property
    def own_conversation(self) -> str | None:
        """The conversation that the user's own command continues, if it names one."""
        return named_conversation(self.brand, self.settings.command) if self.brand else None

    @property
    def has_context(self) -> bool:
        return self.settings.kind not in ("shell", "script")

    @property
    def compact(self) -> str | None:
        return self.brand.compact if self.brand is not None else None

    @property
    def silence_after_s(self) -> float | None:
        return self.settings.silence_after_s

    @property
    def silence_max_s(self) -> float | None:
        return self.settings.silence_max_s

    @property
    def fallback(self) -> str | None:
        return self.settings.fallback

    @property
    def fallback_after_s(self) -> float | None:
        return self.settings.fallback_after_s

    @property
    def needs_command(self) -> bool:
        """It runs the task's own command, so there must be one."""
        return self.settings.kind == "shell"

    @property
    def can_fork(self) -> bool:
        """Whether it can continue in a copy of a conversation."""
        return self.brand is not None and self.brand.can_fork

    @property
    def has_tools(self) -> bool:
        """Whether it gets Segue's own tools, so that it need not report by text."""
        return self.brand is not None and self.brand.has_tools and self.settings.mcp and has_mcp()

    @property
    def answers_permissions(self) -> bool:
        brand = self.brand
        return brand is not None and brand.allow is not None and brand.deny is not None

    def may_use(
        self,
        asked: PermissionAsked,
        grants: Iterable[Grant],
        root: Path,
        protected: Collection[Path] = (),
    ) -> Verdict:
        return permissions.judge(asked, self.settings, grants, root, protected)

    def permission_reply(self, asked: PermissionAsked, refusal: str | None) -> bytes:
        brand = self.brand
        if brand is None or brand.allow is None or brand.deny is None:
            raise Bug(f"{self.name} reads no permissions")
        return brand.allow(asked) if refusal is None else brand.deny(asked, refusal)

    def environment(
        self, facts: Facts, environ: Mapping[str, str], base: Mapping[str, str]
    ) -> dict[str, str]:
        """All that the agent finds in its environment: `base`, what its program needs, its facts,
        its own table."""
        own = {n: _resolve(self.settings, n, v, environ) for n, v in self.settings.env.items()}
        return {**base, **self.takes, **facts.environment(), **own}

    def zone(self, environ: Mapping[str, str]) -> tzinfo | None:
        return named_zone(own_variables(self.settings, environ).get("TZ", ""))


def profile(settings: AgentSettings, root: Path, environ: Mapping[str, str]) -> Profile:
    """The profile of an agent whose program is there; else how to get it."""
    made = _profile(settings, root, environ)
    own = own_variables(settings, environ)
    return replace(
        made,
        access=confinement.access(settings, made.brand, root, environ, own),
        check_access=confinement.check_access(settings, root, environ, own),
    )


def _profile(settings: AgentSettings, root: Path, environ: Mapping[str, str]) -> Profile:
    match settings.kind:
        case "shell":
            shell = settings.command or ("/bin/sh", "-c")
            return Profile(settings, lambda w: Start((*shell, w.task.run or ""), None), Text)
        case "script":
            played = str(_scenario(settings, root))
            player = (*OURS, "segue.testing.script", played)
            return Profile(settings, lambda wanted: Start(player, None), lambda nonce: Script())
        case "command":
            program, *rest = settings.command
            found = (_installed(program, settings, root, environ, None), *rest)
            return Profile(settings, lambda w: Start(found, w.prompt.encode()), Text)
        case kind:
            return _branded(settings, brands.brand(kind), root, environ)


def _branded(
    settings: AgentSettings, brand: Brand, root: Path, environ: Mapping[str, str]
) -> Profile:
    command = program_of(settings, root, environ)
    tools = (*OURS, "segue", "mcp")

    def start(wanted: Wanted) -> Start:
        return brand.start(
            Call(
                settings,
                command,
                wanted.prompt,
                wanted.conversation,
                tools if wanted.tools_env else (),
                wanted.tools_env,
                wanted.is_fork,
            )
        )

    takes = {name: value for name, value in environ.items() if brand.takes.fullmatch(name)}
    return Profile(settings, start, brand.dialect, brand, takes)


def program_of(settings: AgentSettings, root: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The command of a branded agent, with its program where it really is."""
    brand = brands.brand(settings.kind)
    program, *rest = settings.command or (brand.name,)
    found = _installed(program, settings, root, environ, brand.install)
    return (brand.resolve(found), *rest)


@cache
def has_mcp() -> bool:
    """Whether the library for Segue's own tools is installed; it is not imported for this."""
    return find_spec("mcp_types") is not None  # only the releases that we can use have it


def passed_on(environ: Mapping[str, str]) -> dict[str, str]:
    """What of Segue's own environment any program needs."""
    return {name: value for name, value in environ.items() if PASSED_ON.fullmatch(name)}


def own_variables(settings: AgentSettings, environ: Mapping[str, str]) -> dict[str, str]:
    """Its own table, without what is taken from a variable that is not set."""
    own = {}
    for name, value in settings.env.items():
        with suppress(UserError):
            own[name] = _resolve(settings, name, value, environ)
    return own


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
        file, line = settings.place("env")
        raise UserError(
            "bad_value",
            _("agent `{agent}` reads {name} from ${wanted}, which is not set").format(
                agent=settings.name, name=name, wanted=wanted
            ),
            file=file,
            line=line,
            hint=_("export {wanted}=… before you start Segue").format(wanted=wanted),
        )
    return environ[wanted]


def _scenario(settings: AgentSettings, root: Path) -> Path:
    if settings.scenario is None:
        raise UserError(
            "bad_value",
            _("agent `{name}` has no `scenario`").format(name=settings.name),
            file=str(root / "segue.toml"),
            hint=f'[agents.{settings.name}]\nkind = "script"\nscenario = "night.scenario"',
        )
    path = root / settings.scenario
    if not path.is_file():
        raise UserError(
            "bad_value",
            _("no such scenario"),
            file=str(path),
            hint=_("the path is relative to the project folder; see docs/script.md for the format"),
        )
    scenario.parse(path.read_text(encoding="utf-8", errors="replace"), str(path))
    return path


def _installed(
    program: str,
    settings: AgentSettings,
    root: Path,
    environ: Mapping[str, str],
    install: str | None,
) -> str:
    own = settings.env.get("PATH")
    search = environ.get("PATH") if own is None else _resolve(settings, "PATH", own, environ)
    found = find_program(program, root, search)
    if found is None:
        file, line = settings.place("command")
        raise UserError(
            "agent_missing",
            _("agent `{name}` needs the program `{program}`, which is not installed").format(
                name=settings.name, program=program
            ),
            file=file,
            line=line,
            hint=_("install it: {command}").format(command=install)
            if install
            else _("install it, or fix `command` in segue.toml"),
        )
    return found


def find_program(program: str, root: Path, search: str | None) -> str | None:
    if os.sep in program:
        path = root / program
        return str(path) if os.access(path, os.X_OK) and path.is_file() else None
    return shutil.which(program, path=search)
