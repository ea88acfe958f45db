"""Answers of a person, given through their agent: added as acts, and their outcomes."""

from __future__ import annotations

from segue.core.machines import GateState
from segue.engine.acts import Verb
from segue.errors import UserError
from segue.mcp.tools import Refused
from segue.store.rows import HAS_FILE
from segue.store.sqlite import Store
from segue.work import add_act
from segue.work.add_act import Done, Person

OPEN_SHOWN_MAX = 10
OPEN = (
    "SELECT gates.id FROM gates JOIN works ON works.id = gates.work"  # noqa: S608
    f" WHERE gates.state = ? AND {HAS_FILE} ORDER BY gates.created_at LIMIT ?"
)


def answer(person: Person, gate: str, text: str, *, own_words: bool = False) -> str:
    """Answer an open gate; what happens with it now."""
    return _settled(person, gate, Verb.ANSWER, text, own_words=own_words)


def approve(person: Person, gate: str) -> str:
    """Answer an open gate with yes, in the wording that fits it."""
    return _settled(person, gate, Verb.APPROVE)


def _settled(
    person: Person, gate: str, verb: Verb, text: str | None = None, *, own_words: bool = False
) -> str:
    try:
        done = add_act.settle(person, gate, verb, text, own_words=own_words)
    except UserError as error:
        problem = error.problem
        if problem.code == "unknown_gate":
            raise Refused(f"No such gate: {gate}. {_others(person)}") from error
        hint = f" ({problem.hint})" if problem.hint else ""
        raise Refused(f"{problem.message}{hint}") from error
    return _told(person, done)


def _others(person: Person) -> str:
    store = Store.open_readonly(person.project.database)
    if store is None:
        return "No gate is open. status shows the gates."
    try:
        known = [row["id"] for row in store.all(OPEN, GateState.PENDING, OPEN_SHOWN_MAX)]
    finally:
        store.close()
    told = f"Open: {', '.join(known)}." if known else "No gate is open."
    return f"{told} status shows the gates."


def _told(person: Person, done: Done) -> str:
    path = person.project.relative(done.path)
    said = f"Answered: {done.answer!r}." if done.answer is not None else "Approved."
    if not done.is_waiting:
        return f"{said} The owner of {path} has processed it."
    if done.by_run:
        return f"{said} The owner of {path} processes it as soon as it can."
    return (
        f"{said} {path} is not running: the answer takes effect when it runs again"
        " (run_plan, segue run or segue resume)."
    )
