"""The server's data, as the pages show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from segue.core.machines import TASK, Trigger
from segue.core.plan import TaskState
from segue.core.serving import AGENT, STAGES, AgentState, Status
from segue.server.commands import Commands, Json
from segue.server.pages import texts
from segue.work.phases.refused import Refused
from segue.work.phases.shapes import SLOT

COLUMN_MAX = 30
LIST_MAX = 50
INBOX_MAX = 50
FAILED_MAX = 20
CHOICES_MAX = 100
JOURNAL_MAX = 50
ROUNDS_MAX = 200
BEYOND = 2**62


def board(commands: Commands, query: str, *, archived: bool) -> Json:
    """A column for each state, the newest tasks in it."""
    columns = [
        {
            "stage": str(stage),
            **commands.list_tasks(
                status=stage, archived=archived, query=query or None, page_size=COLUMN_MAX
            ),
        }
        for stage in STAGES
    ]
    return {"columns": columns, "query": query, "archived": archived}


def listing(commands: Commands, stage: Status, query: str, page: int) -> Json:
    """All tasks of one state, page after page."""
    found = commands.list_tasks(status=stage, query=query or None, page=page, page_size=LIST_MAX)
    pages = max(1, -(-found["total"] // LIST_MAX))
    return {"stage": str(stage), "query": query, "pages": pages, **found}


def task(commands: Commands, id: str, older: int = 0) -> Json:
    found = commands.task(id)
    reviews = commands.reviews(id, page_size=ROUNDS_MAX)["items"]
    questions = commands.questions(id, page_size=ROUNDS_MAX)["items"]
    dependencies = commands.dependencies(id, page_size=ROUNDS_MAX)["items"]
    gates = [gate_of(gate, found["title"]) for gate in (*reviews, *questions, *dependencies)]
    open_gates = [gate for gate in gates if gate["status"] == "pending"]
    return {
        "task": found,
        "agent": commands.agent(id),
        "phases": commands.phases(id)["items"],
        "related": related(commands, found),
        "gates": open_gates,
        "settled": sorted(
            (gate for gate in gates if gate not in open_gates),
            key=lambda gate: str(gate["createdAt"]),
            reverse=True,
        ),
        "latest": review(commands, reviews[-1]["id"])["review"] if reviews else None,
        "rounds": list(reversed(reviews)),
        "checkpoints": commands.checkpoints(id)["items"],
        "may_rewind": may_rewind(found),
        "journal": journal(commands, id, older),
        "output": output(commands, id),
    }


def related(commands: Commands, found: Mapping[str, Any]) -> dict[str, str]:
    """The titles of the tasks that this one names."""
    ids = [
        *found["dependsOn"],
        *(id for id in found["waitsFor"] if id != SLOT),
        found["retryOf"],
        found["forkedFrom"],
    ]
    return titles(commands, [id for id in ids if id])


def titles(commands: Commands, ids: Iterable[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for id in ids:
        try:
            named[id] = commands.task(id)["title"]
        except Refused:
            named[id] = id  # it was deleted
    return named


def may_rewind(found: Mapping[str, Any]) -> bool:
    return Trigger.REWIND in AGENT.allowed(AgentState(found["agentStatus"])) and (
        Trigger.REWIND in TASK.allowed(TaskState(found["status"]))
    )


def journal(commands: Commands, id: str, older: int) -> Json:
    """The newest first; `older` counts pages back from the end."""
    total = commands.journal(id, page_size=1)["total"]
    pages = max(1, -(-total // JOURNAL_MAX))
    older = min(max(0, older), pages - 1)
    items = commands.journal(id, page=pages - older, page_size=JOURNAL_MAX)["items"]
    return {"items": list(reversed(items)), "older": older, "pages": pages, "total": total}


def output(commands: Commands, id: str) -> Json:
    """The end of what the agent printed, and how long it all is."""
    _nothing, size = commands.log(id, offset=BEYOND, limit=0)
    start = max(0, size - texts.OUTPUT_BYTES_MAX)
    piece, _next = commands.log(id, offset=start, limit=texts.OUTPUT_BYTES_MAX)
    return {"size": size, "lines": texts.output(piece, is_cut=start > 0), "is_cut": start > 0}


def review(commands: Commands, id: str) -> Json:
    """A review with its deliverables to read."""
    found = commands.review(id)
    owner = commands.task(found["taskId"])
    shown = gate_of(found, owner["title"])
    return {
        "review": {**shown, "files": [_file(item) for item in found["deliverables"]]},
        "task": owner,
    }


def _file(item: Mapping[str, Any]) -> Json:
    path, text = str(item["path"]), item.get("text")
    lines, left_out = texts.source(text) if isinstance(text, str) else ([], 0)
    is_page = isinstance(text, str) and texts.is_markdown(path)
    return {
        "path": path,
        "size": item.get("size") or 0,
        "is_text": isinstance(text, str),
        "lines": lines,
        "left_out": left_out,
        "page": texts.markdown(text) if is_page else None,
        "diff": texts.diff(item["diff"]) if item.get("diff") else [],
    }


def inbox(commands: Commands) -> Json:
    """Everything that waits for a person, and what has failed."""
    found = commands.inbox(page_size=INBOX_MAX)
    failed = commands.list_tasks(status=TaskState.FAILED, outcome="failed", page_size=FAILED_MAX)
    items = [gate_of(gate) for gate in found["items"]]
    return {"gates": items, "more": found["total"] - len(items), "failed": failed}


def gate_of(gate: Mapping[str, Any], title: str | None = None) -> Json:
    """With its kind and the title of its task, wherever it comes from."""
    kind = gate.get("kind")
    if kind is None:
        is_review = "deliverables" in gate
        kind = "review" if is_review else "question" if "question" in gate else "dependency"
    return {**gate, "kind": kind, "taskTitle": gate.get("taskTitle") or title or gate["taskId"]}


def settings(commands: Commands) -> Json:
    return {"settings": commands.settings(), "workers": commands.workers()["items"]}


def new_task(commands: Commands, values: Mapping[str, Any]) -> Json:
    """The form of a task: what can be chosen, and what is filled in."""
    known = commands.settings()
    others: Sequence[Json] = [
        found
        for found in commands.list_tasks(page_size=CHOICES_MAX)["items"]
        if found["status"] != TaskState.FAILED and found["id"] != values.get("id")
    ]
    blank = {"id": None, "title": "", "description": "", "type": "custom", "priority": 0}
    first = {"agent": known.get("defaultAgent", ""), "dependsOn": []}
    return {
        "types": known.get("types", ["custom"]),
        "agents": known.get("agents", []),
        "others": others,
        "values": {**blank, **first, **values},
    }
