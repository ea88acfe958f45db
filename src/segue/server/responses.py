"""The shapes of responses, for the API documentation. `Commands` builds them; no code validates
them again.

Fields that are not named here may be there, too.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from segue.core.machines import GateState
from segue.core.serving import AgentState, Status

At = str | None


class Answer(BaseModel):
    model_config = ConfigDict(extra="allow", alias_generator=to_camel, protected_namespaces=())


class Usage(Answer):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


class Task(Answer):
    id: str
    status: Status
    type: str
    title: str
    description: str
    agent: str | None
    priority: int
    depends_on: list[str]
    waits_for: list[str] = Field(
        description="ids of tasks; `slot` where only a free slot is missing"
    )
    current_phase: int | None = Field(description="counts from 1")
    total_phases: int = Field(description="0 for custom tasks")
    progress: float = Field(description="percent: phases that are done, and the current one so far")
    current_step: str | None = Field(default=None, description="as of the agent")
    created_at: str
    submitted_at: At
    started_at: At
    completed_at: At
    failed_at: At
    updated_at: str
    workspace: str | None
    retry_of: str | None
    forked_from: str | None
    error: str | None
    outcome: Literal["completed", "failed", "cancelled"] | None = None
    archived: bool
    agent_status: AgentState
    paused_by: Literal["limit", "person"] | None = None
    limit_kind: str | None = Field(default=None, description="of the limit that paused it")
    wakes_at: At = Field(default=None, description="when it continues by itself")
    allowed_actions: list[str]
    usage: Usage


class Saved(Answer):
    last_saved: At
    auto_save_interval: float = Field(description="milliseconds")


class Agent(Answer):
    status: AgentState
    current_phase: int | None
    current_step: str | None = Field(
        description="the entry of its own list that is in progress, or the number (from 1) and the"
        " name of the step"
    )
    progress: float = Field(description="percent of the current phase")
    tokens_used: int
    blocked_by: str | None
    last_update: At
    checkpoint: Saved


class Review(Answer):
    id: str
    task_id: str
    phase: int | None
    phase_name: str | None
    round: int
    status: GateState
    deliverables: list[dict[str, Any]]
    verification: dict[str, Any]
    feedback: str | None
    comments: list[dict[str, Any]]
    created_at: str
    decided_at: At


class Question(Answer):
    """Without a task where it is about all of them."""

    id: str
    task_id: str | None
    category: str
    question: str
    options: list[str]
    default: str | None
    required: bool
    priority: int
    deadline: At
    status: GateState
    answer: str | None
    created_at: str
    answered_at: At


class Dependency(Answer):
    """Never with the value that was provided."""

    id: str
    task_id: str
    type: str
    name: str
    description: str
    required: bool
    default: str | None
    status: GateState
    reason: str | None
    created_at: str


class ConversationItem(Answer):
    """Something that was said or done. One that comes again with the same id replaces the earlier
    one: a tool call with its result, a text that went on."""

    id: str
    at: At
    kind: Literal["text", "tool", "todos", "diff", "error", "message"]
    text: str
    tool: str | None = Field(description="the name of the tool")
    input: str | None = Field(description="what the tool was called with")
    result: str | None = Field(description="what it returned; null while it is at work")
    run: str
    agent: str
    role: str = Field(description="work, check, review; `person` for what people said")


class Message(Answer):
    """What a person said to the agent of a task."""

    id: str
    task_id: str
    text: str
    status: Literal["waiting", "delivered", "refused"] = Field(
        description="waiting: the agent reads it with its next turn"
    )
    reason: str | None = Field(description="why it was refused")
    actor: str
    via: str
    created_at: str


class WorkspaceFile(Answer):
    path: str = Field(description="from the workspace")
    size: int = Field(description="bytes")


class ChangedFile(Answer):
    path: str
    additions: int | None = Field(description="lines; null where the file is not text")
    deletions: int | None


class Diff(Answer):
    base: str | None = Field(description="a snapshot, or git's empty tree")
    head: str | None = Field(description="the workspace as it is now, as a tree of git's")
    files: list[ChangedFile]
    patch: str = Field(description="unified diff; without files that are not text")
    truncated: bool = Field(description="the patch has not all of the files")


class Checkpoint(Answer):
    id: str
    task_id: str
    kind: str
    phase: int | None
    created_at: str
    whole: bool


class JournalEntry(Answer):
    seq: int
    timestamp: str
    task_id: str
    type: str
    entity: str
    from_: str | None = Field(alias="from")
    to: str
    trigger: str
    actor: str | None
    via: str | None
    metadata: dict[str, Any]


class Paged(Answer):
    total: int
    page: int
    page_size: int


class Tasks(Paged):
    items: list[Task]
    next_cursor: str | None = Field(default=None, description="null at the end")


class Reviews(Paged):
    items: list[Review]


class Questions(Paged):
    items: list[Question]


class Dependencies(Paged):
    items: list[Dependency]


class Conversation(Paged):
    items: list[ConversationItem]


class Messages(Paged):
    items: list[Message]


class Files(Paged):
    items: list[WorkspaceFile]


class Checkpoints(Paged):
    items: list[Checkpoint]


class Journal(Paged):
    items: list[JournalEntry]


class InboxWork(Answer):
    id: str | None
    kind: str
    path: str | None


class InboxItem(Answer):
    """Something that waits for a person. An entry of the server's has the members of its review,
    question or dependency besides."""

    id: str
    kind: Literal["review", "question", "dependency", "stuck", "failed", "pane", "budget"]
    task: str | None = Field(default=None, description="its id, or its name in the plan")
    title: str | None = None
    text: str | None = None
    options: list[str] = []
    default: str | None = None
    age_s: float | None = Field(default=None, description="seconds")
    error: str | None = None
    work: InboxWork | None = None
    acts: list[str] = Field(default=[], description="what can be done about it")
    url: str | None = Field(default=None, description="the page on which it can be settled")


class Inbox(Paged):
    items: list[InboxItem]


class Used(Usage):
    """What was used, of one day, account, agent or work: one of the four is named."""

    day: str | None = Field(default=None, description="of the start of its runs, UTC")
    account: str | None = None
    agent: str | None = None
    work: dict[str, Any] | None = None


class UsageReport(Answer):
    total: Usage
    by_day: list[Used]
    by_account: list[Used]
    by_agent: list[Used]
    by_work: list[Used]


class TypePhase(Answer):
    name: str
    deliverables: list[str]
    steps: list[str]
    verify: str | None


class TaskType(Answer):
    name: str
    about: str
    phases: list[TypePhase]
    inputs: list[dict[str, Any]]


class Types(Paged):
    items: list[TaskType]


class Work(Answer):
    id: str
    kind: Literal["tasklist", "book", "develop", "server", "panes"]
    path: str
    state: str = Field(
        description="pending, running, parked, waiting, interrupted, failed or finished"
    )
    counts: dict[str, int] = Field(description="tasks by state")
    usage: Usage


class Works(Paged):
    items: list[Work]


class Phase(Answer):
    number: int
    name: str
    status: str
    deliverables: list[str]
    steps: list[str]
    verify: str | None
    rounds: int
    reworks: int | None = Field(description="of the phase that is under way")


class Phases(Paged):
    items: list[Phase]


class Anything(Answer):
    """An object whose members depend on what is there."""


class Health(Answer):
    status: Literal["ok"]
    version: str


class FieldError(Answer):
    in_: str = Field(alias="in", description="body, query, path or header")
    pointer: str = Field(description="where in it (JSON Pointer)")
    code: str
    detail: str


class Problem(Answer):
    """What went wrong (RFC 9457); further members say more."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    errors: list[FieldError] | None = Field(default=None, description="of 422, by field")
