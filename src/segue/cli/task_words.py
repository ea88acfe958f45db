"""Tasks of the server in words: for people who look."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from segue.cli.task_link import gate_line, line
from segue.cli.words import limit_name, local_time, usage_in_words
from segue.client import Json
from segue.dialects.lines import plain_text
from segue.i18n import _

SIGNS = {
    "draft": "✎",
    "pending": "○",
    "in_progress": "▶",
    "review": "✋",
    "completed": "✔",
    "failed": "✘",
}
WAITS = ("question", "dependency", "review")


@dataclass(frozen=True, slots=True)
class Look:
    """All that is known of a task."""

    task: Json
    agent: Json
    phases: list[Json]
    waiting: list[Json]
    checkpoints: list[Json]

    def to_json(self) -> Json:
        return {
            "task": self.task,
            "agent": self.agent,
            "phases": self.phases,
            "waiting": self.waiting,
            "checkpoints": self.checkpoints,
        }


def status_name(status: str) -> str:
    return {
        "draft": _("draft"),
        "pending": _("pending"),
        "in_progress": _("in progress"),
        "review": _("in review"),
        "completed": _("completed"),
        "failed": _("failed"),
        "deleted": _("deleted"),
        "approved": _("approved"),
        "changes_requested": _("changes requested"),
        "answered": _("answered"),
        "provided": _("provided"),
        "rejected": _("rejected"),
        "withdrawn": _("withdrawn"),
    }.get(status) or agent_name(status)


def agent_name(status: str) -> str:
    return {
        "idle": _("idle"),
        "running": _("running"),
        "paused": _("paused"),
        "waiting_dependency": _("waits for a dependency"),
        "waiting_question": _("waits for an answer"),
        "waiting_review": _("waits for a review"),
    }.get(status, status)


def short(task: Json) -> str:
    """A task on one line."""
    at = f" {task['currentPhase']}/{task['totalPhases']}" if task["currentPhase"] else ""
    sign = SIGNS.get(task["status"], "?")
    is_cancelled = task.get("outcome") == "cancelled"
    state = _("cancelled") if is_cancelled else status_name(task["status"]) + at
    if task["status"] == "in_progress" and task["progress"]:
        state += f" {task['progress']} %"
    if task["status"] == "in_progress" and task["agentStatus"] != "running":
        state += f", {agent_name(task['agentStatus'])}"
    return f"{sign} {task['id']}  {state}  {line(task['title'])}"


def long(look: Look) -> Iterator[str]:
    task = look.task
    yield short(task)
    yield "  " + _("{type}, agent {agent}, {percent} % done").format(
        type=task["type"], agent=task["agent"], percent=task["progress"]
    )
    if task["description"].strip():
        yield from (f"  | {each}" for each in plain_text(task["description"]).splitlines())
    yield from _troubles(look)
    if look.waiting:
        yield "  " + _("Waits for you:")
        for gate in look.waiting:
            yield from (f"    {each}" for each in waiting(gate))
    if look.phases:
        yield "  " + _("Phases:")
        for phase in look.phases:
            files = ", ".join(map(line, phase["deliverables"]))
            sign = SIGNS.get(phase["status"], "?")
            yield f"    {sign} {phase['number']} {line(phase['name'])}" + (
                f"  ({files})" * bool(files)
            )
    yield from _facts(look)


def _troubles(look: Look) -> Iterator[str]:
    task, agent = look.task, look.agent
    if task["error"]:
        yield f"  ✘ {line(task['error'])}"
    if "go_without" in task["allowedActions"]:
        yield from (f"    {each}" for each in ways_out(task["id"], task["allowedActions"]))
    elif others := [id for id in task["waitsFor"] if id != "slot"]:
        yield "  " + _("waits for the tasks {ids}").format(ids=", ".join(others))
    if agent.get("limit") and agent.get("resetsAt"):
        text = _("⏳ {kind}, resumes at {time}")
        kind, time = limit_name(agent["limit"]), local_time(agent["resetsAt"])
        yield "  " + text.format(kind=kind, time=time)
    if agent.get("currentStep"):
        yield f"  · {line(agent['currentStep'])}"


def _facts(look: Look) -> Iterator[str]:
    task = look.task
    instants = [
        (_("created"), task["createdAt"]),
        (_("started"), task["startedAt"]),
        (_("completed"), task["completedAt"]),
        (_("failed"), task["failedAt"]),
    ]
    yield "  " + ", ".join(f"{name} {local_time(at)}" for name, at in instants if at)
    for text, id in (
        (_("retry of {id}"), task["retryOf"]),
        (_("continues from {id}"), task["forkedFrom"]),
        (_("workspace: {id}"), task["workspace"]),
    ):
        if id:
            yield "  " + text.format(id=id)
    used: dict[str, Any] = task["usage"]
    if used.get("inputTokens"):
        known = {
            "input_tokens": used["inputTokens"],
            "output_tokens": used["outputTokens"],
            "cost_usd": used["costUsd"],
        }
        yield "  ¤ " + usage_in_words(known)
    whole = [each for each in look.checkpoints if each["whole"]]
    if whole:
        text = _("newest checkpoint: {id} ({kind}, {time})")
        newest = whole[0]
        time = local_time(newest["createdAt"])
        yield "  " + text.format(id=newest["id"], kind=newest["kind"], time=time)
    if task["allowedActions"]:
        yield "  " + _("possible now: {actions}").format(actions=", ".join(task["allowedActions"]))


def ways_out(id: str, acts: list[str]) -> Iterator[str]:
    """What can be done about a blocked task."""
    for act, text in (
        ("retry", _("retry what it waits for")),
        ("go_without", _("start without it")),
        ("fail", _("mark it as failed")),
    ):
        if act in acts:
            yield f"segue task {act.replace('_', '-')} {id}  # {text}"


def waiting(gate: Json) -> Iterator[str]:
    """What waits, and how it is given."""
    id = gate["id"]
    match gate["kind"]:
        case "stuck":
            yield f"⛔ {gate_line(gate)}"
            yield from (f"   {each}" for each in ways_out(id, gate["acts"]))
        case "question":
            yield f"❓ {gate_line(gate)}"
            for option in gate["options"]:
                mark = _(" (default)") if option == gate["default"] else ""
                yield f"   - {line(option)}{mark}"
            if gate["deadline"]:
                yield "   " + _("until {time}").format(time=local_time(gate["deadline"]))
            yield f"   segue task answer {id} …"
        case "dependency":
            yield f"🔑 {gate_line(gate)}"
            yield f"   segue task provide {id}"
        case _:
            yield f"✋ {gate_line(gate)}" + _(" (round {n})").format(n=gate["round"])
            for file in gate["deliverables"]:
                yield f"   - {line(file.get('path', ''))}"
            yield f"   segue task show {id}; segue task approve {id}"


def review(found: Json) -> Iterator[str]:
    """A review with what is to be judged: what changed, or the whole where nothing was before."""
    name = line(found["phaseName"] or "")
    yield f"✋ {found['id']}  {status_name(found['status'])}  {found['phase']} {name}" + _(
        " (round {n})"
    ).format(n=found["round"])
    known = {key: value for key, value in found["verification"].items() if value is not None}
    for key, value in known.items():
        yield f"  {line(key)}: {line(value)}"
    for file in found["deliverables"]:
        yield ""
        yield f"── {line(file.get('path', ''))} ({file.get('size', '?')})"
        shown = file.get("diff") or file.get("text")
        if shown:
            yield plain_text(str(shown))


def event(data: Json) -> str:
    """One thing that happened, on one line."""
    what = data["metadata"].get("kind") or data["entity"].removeprefix("server_")
    before = f"{status_name(data['from'])} → " if data["from"] else ""
    at = local_time(data["timestamp"])
    now = f"{before}{status_name(data['to'])}"
    return (
        f"{data['seq']:>6} {at}  {data['taskId']}  {line(what)}: {now}  ({line(data['trigger'])})"
    )
