"""Changes of the server's rows, as values that are committed together.

Each function says what follows from one thing that happened. Whoever has them all commits them
in one transaction; whoever lost a race commits nothing.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from segue.core.machines import RunState, Trigger
from segue.core.serving import AGENT, GATE, TASK, Asking, Cause
from segue.store.changes import Add, Change, Drop, Move, Put, Value, stamp
from segue.work.server.rows import AgentRow, GateRow, RunRow, TaskRow, new_id

SAVE_EVERY = timedelta(minutes=10)


def move_task(
    task: TaskRow,
    cause: Cause,
    *,
    facts: Mapping[str, object] | None = None,
    sets: Mapping[str, Value] | None = None,
    data: Mapping[str, object] | None = None,
) -> Move:
    known = {"phase": task.phase, "phases_total": len(task.phases), **(facts or {})}
    to = TASK.target(task.state, cause, **known)
    told = {"phase": task.phase, **(data or {})}
    return Move("server_task", task.id, task.state, to, cause, sets or {}, task.version, told)


def move_agent(
    agent: AgentRow,
    cause: Cause,
    *,
    facts: Mapping[str, object] | None = None,
    sets: Mapping[str, Value] | None = None,
    data: Mapping[str, object] | None = None,
) -> Move:
    to = AGENT.target(agent.state, cause, **(facts or {}))
    return Move("server_agent", agent.id, agent.state, to, cause, sets or {}, agent.version, data)


def settle_gate(
    gate: GateRow,
    cause: Cause,
    now: datetime,
    *,
    answer: str | None = None,
    about: str | None = None,
) -> list[Change]:
    """A person decided, or nobody can any more; its reminders go with it."""
    sets: dict[str, Value] = {"settled_at": stamp(now), "answer": answer}
    if about is not None:
        sets["about"] = about
    to = GATE.target(gate.state, cause)
    data = {"task": gate.task, "kind": gate.kind}
    move = Move("server_gate", gate.id, gate.state, to, cause, sets, gate.version, data)
    return [move, Drop("server_timers", {"gate": gate.id})]


def open_gate(task: str, kind: str, prefix: str, **row: Value) -> tuple[str, Add]:
    id = new_id(prefix)
    data = {"task": task, "kind": kind}
    values: dict[str, Value] = {"task": task, "kind": kind, **row}
    return id, Add("server_gate", id, Asking.PENDING, values, Cause.OPEN, data)


def add_run(
    task: TaskRow,
    agent: AgentRow,
    prompt: str,
    *,
    nonce: str,
    name: str,
    account: str,
    purpose: str = "work",
    attempt: int = 1,
    resumes: RunRow | None = None,
    resume_id: str | None = None,
    conversation: str | None = None,
) -> tuple[str, Add]:
    id = f"{task.id}-{secrets.token_hex(4)}"
    row: dict[str, Value] = {
        "task": task.id,
        "phase": task.phase or 0,
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
    data = {"task": task.id, "purpose": purpose}
    return id, Add("server_run", id, RunState.INTENDED, row, Trigger.START, data)


def end_run(run: RunRow, to: RunState, cause: Trigger, **sets: Value) -> Move:
    data = {"task": run.task, "purpose": run.purpose}
    return Move("server_run", run.id, run.state, to, cause, sets, run.version, data)


def timer(kind: str, task: str, at: datetime, gate: str | None = None) -> Put:
    id = f"{kind}:{gate or task}"
    return Put(
        "server_timers", {"id": id, "task": task, "kind": kind, "gate": gate, "at": stamp(at)}
    )


def no_timer(kind: str, task: str) -> Drop:
    return Drop("server_timers", {"id": f"{kind}:{task}"})


def notice(task: str, kind: str, text: str, now: datetime, gate: str | None = None) -> Put:
    """Something for people outside; it goes out once, however often it is tried."""
    row: dict[str, Value | bytes] = {
        "task": task,
        "kind": kind,
        "gate": gate,
        "text": text,
        "next_at": stamp(now),
        "created_at": stamp(now),
    }
    return Put("server_notices", row)


def new_nonce() -> str:
    return secrets.token_hex(3)


def new_conversation() -> str:
    return secrets.token_hex(8)


def as_json(value: Mapping[str, Any] | Sequence[Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
