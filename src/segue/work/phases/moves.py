"""Changes of the server's rows, as values that are committed together.

Each function says what follows from one thing that happened. Whoever has them all commits them
in one transaction; the loser of a race commits nothing.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from segue.core.machines import TASK, RunState, Trigger
from segue.core.serving import AGENT
from segue.engine import notices
from segue.store.changes import Add, Change, Drop, Move, Note, Put, Value, stamp
from segue.store.rows import SERVER, AgentRow, PhaseTaskRow, RunRow

SAVE_EVERY = timedelta(minutes=10)


def move_task(
    task: PhaseTaskRow,
    cause: Trigger,
    *,
    facts: Mapping[str, object] | None = None,
    sets: Mapping[str, Value] | None = None,
    data: Mapping[str, object] | None = None,
) -> Move:
    known = {"phase": task.phase, "phases_total": len(task.phases), **(facts or {})}
    to = TASK.target(task.state, cause, **known)
    told = {"phase": task.phase, **(data or {})}
    return Move("task", task.id, task.state, to, cause, sets or {}, task.version, told)


def move_agent(
    agent: AgentRow,
    cause: Trigger,
    *,
    facts: Mapping[str, object] | None = None,
    sets: Mapping[str, Value] | None = None,
    data: Mapping[str, object] | None = None,
) -> Move:
    to = AGENT.target(agent.state, cause, **(facts or {}))
    return Move("agent", agent.id, agent.state, to, cause, sets or {}, agent.version, data)


def add_run(
    task: PhaseTaskRow,
    agent: AgentRow,
    prompt: str,
    *,
    nonce: str,
    name: str,
    account: str,
    role: str = "work",
    purpose: str = "",
    attempt: int = 1,
    resumes: RunRow | None = None,
    resume_id: str | None = None,
    conversation: str | None = None,
) -> tuple[str, Add]:
    id = f"{task.id}-{secrets.token_hex(4)}"
    row: dict[str, Value] = {
        "work": SERVER,
        "task": task.id,
        "phase": task.phase or 0,
        "role": role,
        "purpose": purpose,
        "attempt": attempt,
        "agent": name,
        "account": account,
        "conversation": conversation or agent.conversation,
        "resume_id": resume_id,
        "nonce": nonce,
        "resumes": resumes.id if resumes else None,
        "prompt": prompt,
    }
    data = {"task": task.id, "purpose": role}
    return id, Add("run", id, RunState.INTENDED, row, Trigger.START, data)


def note_conversation(run: RunRow, conversation: str) -> list[Change]:
    """The program has named its conversation."""
    named: dict[str, Value] = {"resume_id": conversation}
    notes: list[Change] = [Note("run", run.id, named)]
    return [*notes, Note("agent", run.task, named)] if run.role == "work" else notes


def end_run(run: RunRow, to: RunState, cause: Trigger, **sets: Value) -> Move:
    data = {"task": run.task, "purpose": run.role}
    return Move("run", run.id, run.state, to, cause, sets, run.version, data)


def timer(kind: str, task: str, at: datetime, gate: str | None = None) -> Put:
    id = f"{kind}:{gate or task}"
    row = {"id": id, "work": SERVER, "task": task, "kind": kind, "gate": gate, "at": stamp(at)}
    return Put("timers", row)


def no_timer(kind: str, task: str) -> Drop:
    return Drop("timers", {"id": f"{kind}:{task}"})


def notice(task: str, kind: str, text: str, now: datetime, gate: str | None = None) -> Put:
    """Something for people outside; it goes out once, however often it is tried."""
    about = f"{kind}:{gate or task}:{secrets.token_hex(4)}"
    return notices.notice(SERVER, about, kind, text, now, task=task, gate=gate)


def new_nonce() -> str:
    return secrets.token_hex(3)


def new_conversation() -> str:
    return secrets.token_hex(8)


def as_json(value: Mapping[str, Any] | Sequence[Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
