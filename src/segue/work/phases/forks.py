"""The beginning of a task that was forked: in a copy of the conversation it was cut from, where its
agent can do that; else in a new one, with a summary of what was done before.

Until the copy has a name of its own it is known by the conversation that it is made from: `fork:ID`
where the id of a conversation stands otherwise. Whatever dies before, the copy is made again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from segue.core.machines import GateState
from segue.i18n import _
from segue.store.changes import Change, stamp
from segue.store.rows import AgentRow, GateRow, PhaseTaskRow
from segue.work.agents.profiles import Profile
from segue.work.phases import moves
from segue.work.phases.jobs import FORK, forked_from
from segue.work.phases.supervisor import Supervisor

TOLD_MAX = 50  # answers and remarks of people that are repeated
TOLD_CHARS_MAX = 2_000  # of each


def of(conversation: str | None, profile: Profile) -> str | None:
    """A copy of a conversation, to be made; None where the agent cannot."""
    if conversation is None or not profile.can_fork:
        return None
    return FORK + conversation.removeprefix(FORK)


def begin(
    supervisor: Supervisor, task: PhaseTaskRow, agent: AgentRow, text: str, nonce: str
) -> list[Change]:
    """The first run of a task, forked or not."""
    if task.forked_from is None:
        return supervisor.continuation.begin(task, agent, text, nonce)
    profile = supervisor.continuation.worker(task)
    _id, add = moves.add_run(
        task,
        agent,
        _first_words(task, agent, text),
        nonce=nonce,
        name=profile.name,
        account=profile.account,
        attempt=task.reworks + 1,
        resume_id=agent.resume_id,
    )
    return [add]


def _first_words(task: PhaseTaskRow, agent: AgentRow, text: str) -> str:
    if forked_from(agent.resume_id) is not None:
        head = _(
            "From now on you work on a copy of the task, in its own folder. Its files "
            "are in an earlier state, possibly from before your last message. Continue "
            "from there."
        )
        return f"{head}\n\n{text}"
    head = _(
        "This task continues from a checkpoint of another task. Its files are in the "
        "state of that checkpoint. What was done before:"
    )
    return f"{head}\n{task.before}\n\n{text}" if task.before else text


def summary(
    task: PhaseTaskRow, content: Mapping[str, Any], gates: Sequence[GateRow], at: str
) -> str:
    """What was done up to a checkpoint, for an agent that has not seen it."""
    phase = content["agent"]["phase"] or 0
    lines = [
        _("- phase {n}, {name}: completed and approved").format(n=n, name=done.name)
        for n, done in enumerate(task.phases[: max(0, phase - 1)], 1)
    ]
    if files := [str(item["path"]) for item in content["deliverables"]]:
        lines.append(_("- files of the current phase: {names}").format(names=", ".join(files)))
    settled = [gate for gate in gates if gate.settled_at and stamp(gate.settled_at) <= at]
    lines += [line for gate in settled[-TOLD_MAX:] if (line := _told(gate))]
    return "\n".join(lines) or _("- nothing yet")


def _told(gate: GateRow) -> str | None:
    said = (gate.answer or "")[:TOLD_CHARS_MAX]
    match gate.kind, gate.state:
        case "question", GateState.ANSWERED:
            text = _("- asked: {question} – answered: {answer}")
            return text.format(question=gate.text[:TOLD_CHARS_MAX], answer=said)
        case "review", _ if said:
            return _("- review comment on phase {n}: {text}").format(n=gate.phase, text=said)
        case "dependency", GateState.PROVIDED:
            return _("- provided: {name}").format(name=gate.name)
        case "dependency", GateState.REJECTED:
            text = _("- not provided: {name} ({reason})")
            return text.format(name=gate.name, reason=said or "–")
    return None
