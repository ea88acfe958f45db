"""Answers of a person, given through their agent: checked, then left in the mailbox."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path

from segue.core.machines import GateState
from segue.mcp.tools import Refused
from segue.store import lock, mailbox
from segue.store.sqlite import Store
from segue.work.locks import lock_path
from segue.work.overview import markdown_below
from segue.work.project import Project

BY = "mcp"
YES = ("yes", "allow", "approve", "approved", "accept", "ok", "y", "예", "네", "허용", "승인")
NO = (
    "no",
    "deny",
    "reject",
    "refuse",
    "cancel",
    "abort",
    "stop",
    "n",
    "아니오",
    "아니요",
    "거부",
    "취소",
)
OPEN_SHOWN_MAX = 10
SQL = (
    "SELECT gates.*, plans.path AS plan_path FROM gates JOIN plans ON plans.id = gates.plan"
    " WHERE gates.{where} = ? ORDER BY gates.created_at"
)


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate as the tables have it, and the project whose tables these are."""

    id: str
    project: Project
    plan: Path
    state: str
    kind: str
    category: str
    options: tuple[str, ...]
    answer: str | None


def answer(root: Project, gate_id: str, text: str, now: datetime) -> str:
    """Leave an answer to an open gate; what happens with it now."""
    gate = _open_gate(root, gate_id)
    return _post(gate, chosen(text, gate.options), now)


def approve(root: Project, gate_id: str, now: datetime) -> str:
    """Answer an open gate with yes, in the word that fits it."""
    gate = _open_gate(root, gate_id)
    return _post(gate, consent(gate), now)


def chosen(text: str, options: tuple[str, ...]) -> str:
    """The option that was meant: exact, then by case; a close one is only suggested."""
    if not options or text in options:
        return text
    by_case = {option.casefold(): option for option in options}
    if text.casefold() in by_case:
        return by_case[text.casefold()]
    close = get_close_matches(text, options, 1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise Refused(f"The answer must be one of: {', '.join(options)}.{hint}")


def consent(gate: Gate) -> str:
    """Yes, in the gate's own word; the first option where none says yes."""
    by_case = {option.casefold(): option for option in gate.options}
    for word in YES:
        if word in by_case:
            return by_case[word]
    if gate.options and gate.options[0].casefold() not in NO:
        return gate.options[0]
    if gate.options:
        raise Refused(f"None of the options says yes: {', '.join(gate.options)}. Use answer.")
    match gate.kind, gate.category:
        case "review", _:
            return "approve"
        case _, "permission":
            return "allow"
        case _, "confirmation" | "budget":
            return "yes"
        case _:
            raise Refused("This gate cannot be approved: it needs an answer in words. Use answer.")


def _open_gate(root: Project, gate_id: str) -> Gate:
    for project in _projects(root):
        gates = _read(project, "id", gate_id)
        if not gates:
            continue
        if gates[0].state != GateState.OPEN:
            raise Refused(f"The gate {gate_id} is not open any more: it is {gates[0].state}.")
        return gates[0]
    known = [gate.id for gate in _read(root, "state", GateState.OPEN)][:OPEN_SHOWN_MAX]
    told = f"Open are: {', '.join(known)}." if known else "None is open."
    raise Refused(f"There is no gate {gate_id}. {told} status shows the gates.")


def _projects(root: Project) -> Iterator[Project]:
    """The project itself, then those inside of it that have a memory of their own."""
    yield root
    seen = {root.root}
    for path in markdown_below(root.root):
        inner = Project.around(path)
        if inner.root not in seen and inner.root.is_relative_to(root.root):
            yield inner
        seen.add(inner.root)


def _read(project: Project, where: str, value: str) -> list[Gate]:
    store = Store.open_readonly(project.database)
    if store is None:
        return []
    try:
        rows = store.all(SQL.format(where=where), value)
    finally:
        store.close()
    return [
        Gate(
            id=row["id"],
            project=project,
            plan=Path(row["plan_path"]),
            state=row["state"],
            kind=row["kind"],
            category=row["category"],
            options=tuple(json.loads(row["options"])),
            answer=row["answer"],
        )
        for row in rows
    ]


def _post(gate: Gate, text: str, now: datetime) -> str:
    letter = mailbox.post(gate.project.mailbox, gate.id, text, BY, now)
    # Somebody may have answered on a terminal since we looked; then ours must not wait there.
    rows = _read(gate.project, "id", gate.id)
    if any(one.state == GateState.OPEN or one.answer == text for one in rows):
        return _told(gate, text)
    mailbox.done(letter)
    raise Refused(f"The gate {gate.id} was closed by somebody else at the same moment.")


def _told(gate: Gate, text: str) -> str:
    plan = gate.project.relative(gate.plan)
    if lock.holder(lock_path(gate.project, gate.plan)) is not None:
        return f"Answered: {text!r}. A segue run is at work on {plan} and takes it up now."
    return (
        f"Answered: {text!r}. Nothing runs {plan} now: the answer is used when it is run again"
        " (run_plan, segue run or segue resume)."
    )
