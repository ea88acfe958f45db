"""An agent as the engine sees it: how one run of it is started, and what it speaks.

`work.agents.Profile` is one. The engine knows no program by name: what matters about a program is
a property here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from segue.core.plan import Task
from segue.dialects.events import Dialect, PermissionAsked
from segue.drivers.sandbox import FULL, Mount, Network


@dataclass(frozen=True, slots=True)
class Facts:
    """What a run learns about itself from its environment."""

    task: str
    run: str
    attempt: int
    conversation: str
    project: str
    nonce: str
    is_resumed: bool = False
    plan: str = ""  # these two say whose it is to a Segue that has lost its memory
    agent: str = ""

    def environment(self) -> dict[str, str]:
        facts = {
            "SEGUE_TASK": self.task,
            "SEGUE_RUN": self.run,
            "SEGUE_ATTEMPT": str(self.attempt),
            "SEGUE_CONVERSATION": self.conversation,
            "SEGUE_PROJECT": self.project,
            "SEGUE_NONCE": self.nonce,
        }
        if self.plan:
            facts |= {"SEGUE_PLAN": self.plan, "SEGUE_AGENT": self.agent}
        return {**facts, "SEGUE_RESUME": "1"} if self.is_resumed else facts


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one run of a task asks of its agent."""

    task: Task
    prompt: str
    conversation: str | None = None  # the program's own, to continue
    tools_env: Mapping[str, str] = field(default_factory=dict)  # for Segue's tools, if it gets any
    is_fork: bool = False  # in a copy of the conversation


@dataclass(frozen=True, slots=True)
class Start:
    """A process to start. `is_interactive`: its input stays open behind `stdin`."""

    argv: tuple[str, ...]
    stdin: bytes | None
    env: Mapping[str, str] = field(default_factory=dict)
    is_interactive: bool = False


@dataclass(frozen=True, slots=True)
class Access:
    """What a program in the sandbox may touch besides the system and its workspace.
    What `mounts` names and is not there is left out."""

    mounts: Mapping[Path, Mount] = field(default_factory=dict)
    network: Network = FULL
    folders: tuple[Path, ...] = ()  # its own, made before its first run


class Verdict(StrEnum):
    """Whether an agent may use a tool."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class Grant:
    """What a person allowed: a tool with exactly this input, or (None) the tool."""

    tool: str
    input: Mapping[str, Any] | None = None


class Agent(Protocol):
    """One agent, ready to be started."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def account(self) -> str:
        """Whose limits apply to it."""
        ...

    @property
    def command(self) -> tuple[str, ...]:
        """As the settings have it; empty where they name none."""
        ...

    @property
    def is_structured(self) -> bool:
        """It emits events: its last word says how its turn ended, whatever its exit code."""
        ...

    @property
    def needs_command(self) -> bool:
        """It runs the task's own command: its exit code is its report."""
        ...

    @property
    def has_tools(self) -> bool:
        """It gets Segue's own tools, so that it need not report by text."""
        ...

    @property
    def takes_lines(self) -> bool:
        """It reads JSON objects, one per line, as long as its input is open."""
        ...

    @property
    def has_terminal(self) -> bool: ...

    @property
    def keeps_place(self) -> bool:
        """It is Segue's own player, which keeps how far it came in a file of Segue's memory."""
        ...

    @property
    def counts_conversation(self) -> bool:
        """It reports what its whole conversation used, not what the run used."""
        ...

    @property
    def own_conversation(self) -> str | None:
        """The conversation that the user's own command continues, if it names one."""
        ...

    @property
    def has_context(self) -> bool:
        """It keeps a context, which may be full."""
        ...

    @property
    def compact(self) -> str | None:
        """The prompt that makes its context smaller, where it can do that."""
        ...

    @property
    def silence_after_s(self) -> float | None: ...

    @property
    def silence_max_s(self) -> float | None: ...

    @property
    def fallback(self) -> str | None:
        """Who takes over while its account is parked for longer than `fallback_after_s`."""
        ...

    @property
    def fallback_after_s(self) -> float | None: ...

    @property
    def answers_permissions(self) -> bool:
        """It asks before it uses a tool, and reads the answer."""
        ...

    def may_use(
        self,
        asked: PermissionAsked,
        grants: Iterable[Grant],
        root: Path,
        protected: Collection[Path] = (),
    ) -> Verdict:
        """By the rules of its settings, and by what a person granted before."""
        ...

    def permission_reply(self, asked: PermissionAsked, refusal: str | None) -> bytes:
        """What it reads then; `refusal`: why it may not, None where it may."""
        ...

    @property
    def start(self) -> Callable[[Wanted], Start]: ...

    @property
    def dialect(self) -> Callable[[str], Dialect]: ...

    def environment(
        self, facts: Facts, environ: Mapping[str, str], base: Mapping[str, str]
    ) -> dict[str, str]:
        """All that it finds in its environment; UserError where a variable is missing."""
        ...

    @property
    def access(self) -> Access | None:
        """What it may touch in its sandbox; None: it has none."""
        ...

    @property
    def check_access(self) -> Access | None:
        """The same for Segue's own checks of its work."""
        ...

    def zone(self, environ: Mapping[str, str]) -> tzinfo | None:
        """The time zone that it is started with, where that is its own."""
        ...
