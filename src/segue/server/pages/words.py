"""What states, kinds and refusals are called on the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from segue.i18n import N_, _
from segue.work.panes.messages import FINER, NAMES
from segue.work.phases.refused import Refused
from segue.work.settings.task_types import BUILT_IN

STAGES = {
    "draft": N_("Draft"),
    "pending": N_("Pending"),
    "in_progress": N_("In progress"),
    "review": N_("In review"),
    "completed": N_("Completed"),
    "failed": N_("Failed"),
    "deleted": N_("Deleted"),
    "cancelled": N_("Cancelled"),
}
AGENTS = {
    "idle": N_("idle"),
    "running": N_("working"),
    "paused": N_("is paused"),
    "waiting_dependency": N_("needs input from you"),
    "waiting_question": N_("asks a question"),
    "waiting_review": N_("waits for a review"),
    "completed": N_("has finished"),
    "failed": N_("has failed"),
}
SETTLED = {
    "pending": N_("waits for you"),
    "approved": N_("approved"),
    "changes_requested": N_("changes requested"),
    "answered": N_("answered"),
    "provided": N_("provided"),
    "rejected": N_("refused"),
    "withdrawn": N_("withdrawn"),
}
TYPES = {
    "create_app": N_("New application"),
    "modify_app": N_("Change to an application"),
    "workflow": N_("Workflow"),
    "custom": N_("Custom"),
}
GATES = {
    "review": N_("Review"),
    "question": N_("Question"),
    "dependency": N_("Dependency"),
    "stuck": N_("Blocked"),
}
NEEDED = {
    "api_key": N_("API key"),
    "env_variable": N_("environment variable"),
    "service": N_("service"),
    "file": N_("file"),
    "permission": N_("permission"),
    "package": N_("package"),
}
CHECKPOINTS = {
    "pause": N_("paused"),
    "phase": N_("phase completed"),
    "limit": N_("limit"),
    "question": N_("question"),
    "dependency": N_("dependency"),
    "review": N_("review"),
    "timer": N_("on schedule"),
    "final": N_("end"),
    "recovered": N_("after a restart"),
    "stop": N_("before the server stops"),
}
# What moved a task or its agent, in the journal. The API has the names themselves.
TRIGGERS = {
    "open": N_("create"),
    "submit": N_("submit"),
    "assign": N_("assign"),
    "phase_complete": N_("phase complete"),
    "step": N_("step"),
    "rework": N_("rework"),
    "approve": N_("approve"),
    "request_changes": N_("request changes"),
    "cancel": N_("cancel"),
    "fail": N_("fail"),
    "dependency_request": N_("dependency request"),
    "provide": N_("provide"),
    "reject": N_("reject"),
    "question": N_("question"),
    "answer": N_("answer"),
    "pause": N_("pause"),
    "limit": N_("limit"),
    "resume": N_("resume"),
    "wake": N_("wake"),
    "recover": N_("recover"),
    "rewind": N_("rewind"),
    "delete": N_("delete"),
    "refuse": N_("refuse"),
    "close": N_("close"),
    "go_without": N_("start without it"),
}
ENTITIES = {
    "task": N_("task"),
    "agent": N_("agent"),
    "gate": N_("what waits for you"),
    "refusal": N_("an agent acting as a person"),
    "evidence": N_("evidence of a check"),
}
ACTIONS = {
    "submit": N_("Submit"),
    "pause": N_("Pause"),
    "resume": N_("Resume"),
    "cancel": N_("Cancel"),
    "archive": N_("Archive"),
    "retry": N_("Try again"),
    "delete": N_("Delete"),
    "go_without": N_("Start without it"),
    "fail": N_("Mark as failed"),
}
MARKS = {
    "draft": "○",
    "pending": "◔",
    "in_progress": "◐",
    "review": "◆",
    "completed": "●",
    "failed": "✕",
    "cancelled": "⊘",
}
LIMITS = {
    **NAMES,
    **FINER,
    "weekly_limit": NAMES["weekly"],
    "rate_limit": NAMES["rate"],
    "context_limit": NAMES["context"],
}
# What was done, shown once on the page that follows; the address holds the name alone.
SAID = {
    "created": N_("Task created."),
    "changed": N_("Task changed."),
    "submitted": N_("The task is queued."),
    "cancelled": N_("The task is cancelled."),
    "paused": N_("The agent is paused."),
    "resumed": N_("The agent continues."),
    "archived": N_("The task is archived."),
    "deleted": N_("The task is deleted."),
    "retried": N_("This is the new task."),
    "without": N_("The task no longer waits for that."),
    "let_fail": N_("The task has failed."),
    "forked": N_("This is the new task; it continues from the checkpoint."),
    "rewound": N_("The task continues from the checkpoint."),
    "approved": N_("Approved. The agent continues."),
    "sent_back": N_("Sent back with your feedback."),
    "answered": N_("Answered. The agent continues."),
    "provided": N_("Provided. Segue stores it encrypted and never shows it again."),
    "refused": N_("Refused. The agent continues without it."),
    "saved": N_("Saved."),
}


def name(table: Mapping[str, str], key: object) -> str:
    """In the language in use; what has no name is shown as it is."""
    text = table.get(str(key))
    return _(text) if text else str(key).replace("_", " ")


def error(task: Mapping[str, Any]) -> str:
    """Why a task failed. What was cancelled says so in the language of the person."""
    said = str(task["error"] or "")
    if task.get("outcome") != "cancelled":
        return said
    reason = said.partition(": ")[2]
    return _("cancelled") + (f": {reason}" if reason else "")


def state(entry: Mapping[str, Any], key: str) -> str:
    """A state of the journal: of the task, of its agent, or of what waits for a person."""
    tables = {"task": STAGES, "agent": AGENTS, "gate": SETTLED}
    found = entry[key]
    return name(tables.get(str(entry["entity"]), STAGES), found) if found else "–"


def about(type_name: str) -> str:
    found = BUILT_IN.get(type_name)
    return _(found.about) if found and found.about else ""


def refusal(refused: Refused) -> str:
    """Commands use the language of the server, the page that of the person."""
    facts: Mapping[str, Any] = refused.facts
    match refused.code:
        case "not_allowed":
            allowed = [name(ACTIONS, action) for action in facts.get("allowedActions", ())]
            text = _("This is not possible now. Possible: {names}")
            return text.format(names=", ".join(allowed) or "–")
        case "already_settled":
            return _("Someone else has already decided this.")
        case "changed_meanwhile":
            return _("It has changed in the meantime. Reload and try again.")
        case "bad_answer" if facts.get("suggestion"):
            return _("That is not one of the options. Did you mean “{name}”?").format(
                name=facts["suggestion"]
            )
        case "bad_answer":
            return _("Choose one of the options.") if facts.get("options") else _("Enter a text.")
        case "incomplete":
            return _("Add a title and a description before you submit the task.")
        case "no_feedback":
            return _("Describe what to change.")
        case "no_file":
            return _("No such file. Enter the path of an existing one.")
        case "bad_value" if facts.get("field") == "value":
            return _("Enter a value.")
        case "unknown_task" | "unknown_review" | "unknown_question" | "unknown_dependency":
            return _("Not found, or deleted.")
        case "invalid":
            return _(refused.message)
        case _:
            return refused.message
