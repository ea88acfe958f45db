"""What a subject reports: states by one set of words, starts, parks, gates; and its settings."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from kit.processes import all_gone

Json = dict[str, Any]
RECOVERY = {"wake_margin_s": 0, "default_wait_time": 1, "context_limit_wait": 0, "recheck_after": 1}

PENDING, RUNNING, PARKED, WAITING = "pending", "running", "parked", "waiting"
DONE, FAILED, SKIPPED = "done", "failed", "skipped"


@dataclass(frozen=True)
class Start:
    """One start of the agent (in a pane: what was sent to it), by its own record."""

    at: float
    prompt: str = ""
    is_resume: bool = False
    conversation: str = ""
    agent: str = ""
    pid: int = 0
    key: str = ""
    attempt: str = ""


@dataclass(frozen=True)
class Park:
    """What waits for a time."""

    task: int
    kind: str
    wakes_at: float | None
    account: str = ""

    @property
    def wait_s(self) -> float:
        """How far ahead its end is."""
        assert self.wakes_at is not None, f"{self} has no end"
        return self.wakes_at - time.time()


@dataclass(frozen=True)
class Gate:
    """What waits for a person."""

    id: str
    task: int
    kind: str
    text: str


@dataclass
class Settings:
    """The settings of one project; quick unless a test needs otherwise."""

    recovery: dict[str, Any] = field(default_factory=lambda: dict(RECOVERY))
    agent: dict[str, Any] = field(default_factory=dict)  # more keys of the agent's table
    more: str = ""  # further tables

    def table(self, name: str, values: dict[str, Any]) -> str:
        lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
        return "\n".join([f"[{name}]", *lines, ""])


def epoch(text: str | None) -> float | None:
    """A time of Segue's as seconds since 1970; it must be UTC."""
    if text is None:
        return None
    moment = datetime.fromisoformat(text)
    assert moment.utcoffset() == UTC.utcoffset(None), f"{text} is not UTC"
    return moment.timestamp()


def is_alive(pid: int) -> bool:
    """Whether a process lives (and is no zombie)."""
    return not all_gone([pid])
