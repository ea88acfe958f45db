"""What tests of the engine share: an agent that is nothing but what the engine knows of one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from segue.core.machines import RunState
from segue.dialects.events import Dialect, PermissionAsked
from segue.dialects.text import Text
from segue.engine.agent import Access, Facts, Grant, Start, Verdict, Wanted
from segue.engine.attempt import Attempt
from segue.store.rows import RunRow

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class PlainAgent:
    """An agent of any kind, by its properties alone."""

    name: str = "mine"
    kind: str = "command"
    account: str = "mine"
    command: tuple[str, ...] = ()
    is_structured: bool = False
    needs_command: bool = False
    has_tools: bool = False
    takes_lines: bool = False
    has_terminal: bool = False
    counts_conversation: bool = False
    own_conversation: str | None = None
    has_context: bool = True
    compact: str | None = None
    keeps_place: bool = False
    answers_permissions: bool = False
    verdict: Verdict = Verdict.ASK  # where a person granted nothing
    silence_after_s: float | None = None
    silence_max_s: float | None = None
    fallback: str | None = None
    fallback_after_s: float | None = None
    start: Callable[[Wanted], Start] = lambda wanted: Start(("agent",), wanted.prompt.encode())
    dialect: Callable[[str], Dialect] = Text
    env: Mapping[str, str] = field(default_factory=dict)
    access: Access | None = None
    check_access: Access | None = None

    def may_use(
        self,
        asked: PermissionAsked,
        grants: Iterable[Grant],
        root: Path,
        protected: Collection[Path] = (),
    ) -> Verdict:
        is_granted = any(grant.tool == asked.tool for grant in grants)
        return Verdict.ALLOW if is_granted else self.verdict

    def permission_reply(self, asked: PermissionAsked, refusal: str | None) -> bytes:
        return f"{asked.tool}: {refusal or 'allowed'}".encode()

    def environment(
        self, facts: Facts, environ: Mapping[str, str], base: Mapping[str, str]
    ) -> dict[str, str]:
        return {**base, **facts.environment(), **self.env}

    def zone(self, environ: Mapping[str, str]) -> tzinfo | None:
        return None


STRUCTURED = PlainAgent(name="claude", kind="claude", is_structured=True)
COMMAND = PlainAgent()
SHELL = PlainAgent(name="shell", kind="shell", needs_command=True)


def run_row(id: str = "run-1", state: RunState = RunState.RUNNING) -> RunRow:
    """A run of the task T-1."""
    return RunRow(
        id, "T-1", 1, "mine", "mine", state, "c-1", "n0nce", None, NOON, task_id="plan/T-1"
    )


def attempt_of(agent: PlainAgent = COMMAND, **more: Any) -> Attempt:
    """An attempt of such a run."""
    return Attempt(run=run_row(), profile=agent, **more)
