"""What an agent needs from people: answers to its questions, and what it depends on.

Of several things that it asked for in one breath people get one after the other, the most
important first. What is still to come stands in the gate that is open (`then`), and so does what
the agent will hear about those before it (`said`): it continues when all are settled, and
then gets all answers at once.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from segue.core.machines import Trigger
from segue.core.serving import AgentState
from segue.dialects.events import Asked, DependencyAsked
from segue.engine import gates
from segue.engine.question_texts import PERMISSION
from segue.i18n import _
from segue.store.changes import Change
from segue.store.rows import SERVER, AgentRow, GateRow, PhaseTaskRow
from segue.work.phases import moves
from segue.work.phases.supervisor import Supervisor

Need = Asked | DependencyAsked
Facts = Mapping[str, Any]
NEEDS_MAX = 20  # at once; those beyond are reported to people and not asked
ANSWER = "question_answer"

logger = logging.getLogger("segue.work.phases")


def put(
    supervisor: Supervisor,
    task: PhaseTaskRow,
    agent: AgentRow,
    needs: Sequence[Need],
    also: Sequence[Change],
    permission: Facts | None = None,
) -> None:
    """The first of them waits for a person from now on. `permission`: what it asks for."""
    asked = list({_what(need): _facts(need, permission) for need in needs}.values())
    supervisor.commit(*also, *_opened(supervisor, task, agent, asked, []))
    supervisor.saving.save(task.id, _kind(asked[0]))


def after(
    supervisor: Supervisor,
    task: PhaseTaskRow,
    agent: AgentRow,
    gate: GateRow,
    cause: Trigger,
    told: Mapping[str, str],
    besides: Collection[str] = (),
) -> list[Change]:
    """A gate is settled: the next one opens, or the agent continues. `told`: the text for it
    about this one; `besides`: runs that are about to end."""
    key = "question" if gate.kind == "question" else "dependency"
    data = {key: gate.id, **({"name": gate.name} if gate.name else {})}
    settled = moves.move_agent(agent, cause, data=data)
    rest = _rest(gate)
    said = [*gate.about.get("said", []), _named(gate, told, rest)]
    if not rest:
        return [settled, *supervisor.continuation.tell_all(task, agent, said, besides)]
    at_once = replace(agent, state=AgentState.RUNNING, version=agent.version + 1)
    return [settled, *_opened(supervisor, task, at_once, rest, said)]


def save(supervisor: Supervisor, gate: GateRow) -> None:
    """A checkpoint of the wait that followed at once upon this one, if one did."""
    if rest := _rest(gate):
        supervisor.saving.save(gate.task_id, _kind(rest[0]))


def _rest(gate: GateRow) -> list[Facts]:
    return list(gate.about.get("then", []))


def _named(gate: GateRow, told: Mapping[str, str], rest: Sequence[Facts]) -> dict[str, str]:
    """Of several answers each says what it answers."""
    others = [one for one in rest if _kind(one) == "question"]
    others += [one for one in gate.about.get("said", []) if one["type"] == ANSWER]
    if gate.kind != "question" or not others:
        return dict(told)
    text = _("- asked: {question} – answered: {answer}")
    named = text.format(question=gate.text, answer=told["text"].strip())
    return {**told, "text": named + "\n"}


def _what(need: Need) -> tuple[str, ...]:
    """Two that are the same are one."""
    if isinstance(need, Asked):
        return ("question", need.question, *need.options)
    return ("dependency", need.type, need.name)


def _facts(need: Need, permission: Facts | None) -> Facts:
    is_leave = isinstance(need, Asked) and need.category == PERMISSION
    about = {"about": dict(permission)} if is_leave and permission else {}
    return {**asdict(need), **about}


def _kind(asked: Facts) -> str:
    return "question" if "question" in asked else "dependency"


def _opened(
    supervisor: Supervisor,
    task: PhaseTaskRow,
    agent: AgentRow,
    asked: Sequence[Facts],
    said: Sequence[Mapping[str, str]],
) -> list[Change]:
    first, *rest = asked
    about = dict(first.get("about", {}))
    if rest:
        about["then"] = rest
    if said:
        about["said"] = list(said)
    facts = {key: value for key, value in first.items() if key != "about"}
    if _kind(first) == "question":
        question = Asked(**{**facts, "options": tuple(first["options"])})
        return _question(supervisor, task, agent, question, about)
    return _dependency(supervisor, task, agent, DependencyAsked(**facts), about)


def _question(
    supervisor: Supervisor, task: PhaseTaskRow, agent: AgentRow, asked: Asked, about: Facts
) -> list[Change]:
    now = supervisor.clock.now()
    deadline = gates.deadline(asked, now)
    wanted = GateRow(
        "", task.id, None, "question", asked.question, asked.options, asked.preset, asked.category,
        about, deadline, task.phase,
        is_required=asked.is_required, priority=asked.priority, work=SERVER,
    )  # fmt: skip
    gate, add = gates.ask(wanted, now)
    changes: list[Change] = [
        add,
        moves.move_agent(agent, Trigger.QUESTION, data={"question": gate.id}),
        moves.notice(task.id, "question", asked.question, now, gate.id),
    ]
    if deadline is not None:
        changes.append(moves.timer("deadline", task.id, deadline, gate.id))
    if asked.remark:
        said = (task.id, gate.id, asked.remark)
        logger.warning("task %s: question %s: %s", *said, extra={"task": task.id})
        changes.append(moves.notice(task.id, "trouble", asked.remark, now, gate.id))
    return changes


def _dependency(
    supervisor: Supervisor,
    task: PhaseTaskRow,
    agent: AgentRow,
    asked: DependencyAsked,
    about: Facts,
) -> list[Change]:
    now = supervisor.clock.now()
    wanted = GateRow(
        "", task.id, None, "dependency", asked.description, (), asked.preset, asked.type, about,
        phase=task.phase, name=asked.name, is_required=asked.required, work=SERVER,
    )  # fmt: skip
    gate, add = gates.ask(wanted, now)
    text = f"{asked.type} {asked.name}: {asked.description}".rstrip(": ")
    return [
        add,
        moves.move_agent(agent, Trigger.DEPENDENCY_REQUEST, data={"dependency": gate.id}),
        moves.notice(task.id, "dependency", text, now, gate.id),
    ]
