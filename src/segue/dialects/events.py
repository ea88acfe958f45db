"""What an agent tells, whatever its dialect: one value for each thing that happened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Opened:
    """The program's own id of the conversation, by which it can be resumed."""

    conversation: str


@dataclass(frozen=True, slots=True)
class Said:
    """A line of text for people."""

    text: str


@dataclass(frozen=True, slots=True)
class StepDone:
    """A sub-step of the task is done, by the agent's word."""

    n: int


@dataclass(frozen=True, slots=True)
class ActRefused:
    """In its sandbox it tried what only a person may do, and a command of Segue's refused it."""

    via: str
    tried: str
    at: str


@dataclass(frozen=True, slots=True)
class Todo:
    """An entry of an agent's own list: `pending`, `in_progress` or `completed`."""

    text: str
    state: str


@dataclass(frozen=True, slots=True)
class TodosListed:
    """The agent's own list of what it has to do, as it is now."""

    todos: tuple[Todo, ...]

    @property
    def done(self) -> int:
        return sum(todo.state == "completed" for todo in self.todos)

    @property
    def current(self) -> str:
        """What it is at; else what comes next; nothing once all is done."""
        for state in ("in_progress", "pending"):
            for todo in self.todos:
                if todo.state == state:
                    return todo.text
        return ""


@dataclass(frozen=True, slots=True)
class LimitHit:
    """The agent cannot continue now. `resets_at` where it named a time (`is_minute`: to the
    minute, perhaps rounded down), `wait_s` a length; neither where it gave only `text`.
    `unknown_zone`: the time zone that was named, if it is unknown."""

    kind: str
    resets_at: datetime | None = None
    wait_s: float | None = None
    text: str = ""
    is_minute: bool = False
    unknown_zone: str = ""

    @property
    def has_time(self) -> bool:
        """Whether it says until when."""
        return self.resets_at is not None or self.wait_s is not None


@dataclass(frozen=True, slots=True)
class Asked:
    """The agent needs an answer from a person before it can continue. One that is not required
    takes its preset, once `deadline_s` is over; a higher priority is shown first. `remark`: what
    could not be taken as it was written, in words."""

    question: str
    options: tuple[str, ...] = ()
    preset: str | None = None
    category: str = "clarification"
    is_required: bool = True
    deadline_s: float | None = None
    priority: int = 0
    remark: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DependencyAsked:
    """The agent needs something that only a person can provide. The name of an `api_key` or an
    `env_variable` is that of the environment variable in which it is awaited."""

    type: str
    name: str
    description: str = ""
    required: bool = True
    preset: str | None = None


@dataclass(frozen=True, slots=True)
class PhaseDone:
    """A phase is complete, by the agent's word; None is the one that is under way."""

    phase: int | None = None


@dataclass(frozen=True, slots=True)
class TaskDone:
    """A task without phases is complete, by the agent's word."""


@dataclass(frozen=True, slots=True)
class ErrorReported:
    """An error that the agent cannot fix, and the recovery that it suggests."""

    type: str
    message: str
    recovery: str

    @property
    def is_fatal(self) -> bool:
        """Whether the work has failed: a fatal error is not waited out, whatever is proposed."""
        return self.type == "fatal" or self.recovery == "checkpoint_and_fail"

    @property
    def is_pause(self) -> bool:
        """Whether it can continue by itself later."""
        return not self.is_fatal and self.recovery == "pause_and_retry"


@dataclass(frozen=True, slots=True)
class Used:
    """What the run has consumed so far (the last report counts)."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class ToolUsed:
    """The agent does something: the tool's name, and in one line what with."""

    tool: str
    what: str = ""


@dataclass(frozen=True, slots=True)
class Retrying:
    """The program had an error of its model and tries again by itself."""

    attempt: int
    attempts_max: int | None = None
    wait_s: float | None = None
    status: int | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class WindowUsed:
    """How much of a limit's window the account has used: 0 to 1, and until when it counts."""

    kind: str
    share: float
    resets_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PermissionAsked:
    """The agent may not use a tool without permission; it waits for the answer to `request`."""

    request: str
    tool: str
    what: str
    input: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class ConversationLost:
    """The conversation that was to be resumed is not known to the program."""

    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The program's own word that it is done: well, or with an error. `reason` is its term."""

    is_error: bool
    text: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Garbled:
    """Bytes that could not be understood; never silently dropped. `why` where it was a message
    of the protocol, in words for its author."""

    size: int
    why: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Unsigned:
    """A marker without the nonce of the run, or with another one: text that counts for nothing.
    `expected` is the line that would count."""

    marker: str
    expected: str


@dataclass(frozen=True, slots=True)
class BlockUnclosed:
    """A block of the protocol that began and never ended: what stood in it counts for nothing."""

    name: str
    size: int


Event = (
    Opened
    | Said
    | ToolUsed
    | StepDone
    | ActRefused
    | TodosListed
    | Used
    | WindowUsed
    | Retrying
    | LimitHit
    | Asked
    | DependencyAsked
    | PhaseDone
    | TaskDone
    | ErrorReported
    | PermissionAsked
    | ConversationLost
    | Finished
    | Garbled
    | Unsigned
    | BlockUnclosed
)

# What was said and done on the way is noted before what stops the agent is acted on; that its
# turn is over comes last.
_IMPORTANCE: dict[type, int] = {
    ErrorReported: 1,
    PhaseDone: 2,
    TaskDone: 2,
    DependencyAsked: 3,
    Asked: 4,
    Finished: 5,
}


def by_importance(events: Iterable[Event]) -> list[Event]:
    """The events of one read in the order in which they are acted on: errors, completions,
    dependencies, questions; others keep theirs."""
    return sorted(events, key=lambda event: _IMPORTANCE.get(type(event), 0))


class Dialect(Protocol):
    """Bytes in, events out, whatever the chunks."""

    def feed(self, data: bytes) -> Iterator[Event]: ...

    def feed_err(self, data: bytes) -> Iterator[Event]:
        """From standard error, where that is kept apart."""
        ...

    def close(self) -> Iterator[Event]:
        """No more bytes will come."""
        ...


@runtime_checkable
class SupportsSkim(Protocol):
    """A dialect that can pass over very much output in which the agent tells nothing but text."""

    def skim(self, data: bytes) -> list[Event] | None:
        """As `feed`, but of the lines that were said only the last ones; None: `feed` must read
        this, for there may be more in it. Nothing was taken in then."""
        ...


@runtime_checkable
class Unfinished(Protocol):
    """A dialect in which something may stay open. Only its owner has a clock: where nothing more
    came for long, it closes what is open."""

    @property
    def has_open_block(self) -> bool: ...

    def close_blocks(self) -> Iterator[Event]: ...
