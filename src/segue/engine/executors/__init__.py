"""Where runs execute: the port that the engine and the kinds of work see. An executor decides where
and when a run executes, never what is true.

A run is begun after its transition was committed. What happens to it comes back through
one inbox, in order: `Started`, `Heard` for each event of the agent, `Ended` once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from segue.dialects.events import Dialect, Event

if TYPE_CHECKING:  # they import many patterns, which few runs need
    from segue.engine.executors.pane_screen import ScreenReading
    from segue.engine.executors.pane_typing import TypingOutcome


@dataclass(frozen=True, slots=True)
class Channel:
    """A file beside the output that is followed like it: what the agent reported by tool call."""

    path: Path
    dialect: Dialect


@dataclass(frozen=True, slots=True)
class Job:
    """One process to run for a run: the agent itself, or a check of its work.

    `err`: where its standard error goes if not into the log. `is_interactive`: its input stays
    open behind the bytes of `stdin`, for `send`, until `end_input`. `masks`: secrets that neither
    its logs nor what is heard of it may show.
    """

    id: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    cwd: Path
    log: Path
    dialect: Dialect
    err: Path | None = None
    told: Channel | None = None
    stdin: bytes | None = None
    is_interactive: bool = False
    has_terminal: bool = False
    deadline: datetime | None = None
    masks: tuple[str, ...] = field(default=(), repr=False)
    layers: int = 0  # how many processes of a sandbox stand above its own
    unwelcome: tuple[Path, ...] = ()  # what is removed behind it, if it made that


@dataclass(frozen=True, slots=True)
class Started:
    """`handle`: what the executor wants kept in the run's row. Only the executor reads it."""

    job: str
    handle: Mapping[str, int] = field(default_factory=dict, hash=False)
    is_adopted: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    job: str
    event: Event


@dataclass(frozen=True, slots=True)
class Ended:
    """The process is gone. `is_ours`: Segue ended it (a stop, a timeout), not it itself."""

    job: str
    code: int | None
    signal: int | None = None
    is_ours: bool = False
    timed_out: bool = False
    error: str | None = None  # it could not be started, or was lost
    lost_bytes: int = 0  # of its output: the disk did not take them
    keeper_died: bool = False  # how it would have ended is unknown
    is_unseen: bool = False  # it ended while no Segue lived


@dataclass(frozen=True, slots=True)
class Found:
    """An agent was found in a place where a person started it. `place`: what people call it, `%3`
    or `wezterm:7`; `holder`: the process of another owner that may type there, 0 where it is
    unknown."""

    job: str
    place: str
    agent: str
    holder: int | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """What the screen of a place shows. `has_ended`: the agent is not there any more."""

    job: str
    reading: ScreenReading
    has_ended: bool = False


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A screen could not be read, or nothing could be typed (`is_typing`): nothing was sent."""

    job: str
    error: str
    is_typing: bool = False


@dataclass(frozen=True, slots=True)
class Typed:
    """How typing a prompt came out; None: another owner was faster."""

    job: str
    outcome: TypingOutcome | None


@dataclass(frozen=True, slots=True)
class HostChanged:
    """A terminal program came back, or is gone (`reason`) with all its places."""

    host: str
    is_gone: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Broke:
    """Segue itself failed at following a job: reported to a work that can do without it."""

    job: str
    error: BaseException


@dataclass(frozen=True, slots=True)
class Due:
    """The instant that was asked for has come."""


@dataclass(frozen=True, slots=True)
class PlanTouched:
    """Somebody wrote into the folder of the plan."""


@dataclass(frozen=True, slots=True)
class StopWanted:
    """A signal asked Segue to stop; the second one wants it now."""

    now: bool


@dataclass(frozen=True, slots=True)
class Answered:
    """A person answered. `about` is a gate's id, or `failed:TASK`."""

    about: str
    answer: str | None  # None: no person is present any more


@dataclass(frozen=True, slots=True)
class ActsAdded:
    """People may want something: rows wait to be taken in."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a job's processes do: those of the agent's tree by name, those that are stopped, and
    its open connections."""

    processes: tuple[str, ...] = ()
    stopped: int = 0
    connections: int = 0


Happening = (
    Started
    | Heard
    | Ended
    | Found
    | Shown
    | Unreadable
    | Typed
    | HostChanged
    | Broke
    | Due
    | PlanTouched
    | StopWanted
    | Answered
    | ActsAdded
)


class Recovered:
    """What became of a job whose supervisor died."""


@dataclass(frozen=True, slots=True)
class Alive(Recovered):
    """It runs on and is followed again."""


@dataclass(frozen=True, slots=True)
class Finished(Recovered):
    """It ended meanwhile; its end comes through the inbox like any other."""


@dataclass(frozen=True, slots=True)
class NeverStarted(Recovered):
    """It had not begun, and never will."""


@dataclass(frozen=True, slots=True)
class Gone(Recovered):
    """It was cut off; nothing of it runs any more."""


class Executor(Protocol):
    """Where runs execute."""

    def begin(self, job: Job) -> None:
        """Start a job now; its transition has been committed."""
        ...

    def recover(self, job: Job, *, stays_paused: bool = False) -> Recovered:
        """Find out what became of a job that an earlier supervisor began. One that lives goes
        on, unless it is to stay paused."""
        ...

    def end_soon(self, job: str, *, now: bool = False) -> None:
        """End a job with its whole tree; its end comes through the inbox."""
        ...

    def send(self, job: str, data: bytes) -> None:
        """Bytes for an interactive job's input. AgentError: it does not listen."""
        ...

    def unread(self, job: str) -> int:
        """How many bytes were sent to an interactive job that it has not read yet."""
        ...

    def end_input(self, job: str) -> None:
        """An interactive job finds the end of its input."""
        ...

    def pause(self, job: str) -> None:
        """Stop every process of the job, in whatever group or terminal it is."""
        ...

    def go_on(self, job: str) -> None:
        """Continue a paused job."""
        ...

    def look(self, job: str) -> Look | None:
        """What the job's processes do now; None: there are none."""
        ...

    def end_unknown(self, job: str) -> None:
        """End what an earlier supervisor started and is no longer wanted. No job begins before it
        has ended: it may be at work on the same task."""
        ...

    async def unknown_ended(self) -> None:
        """Return when everything given to `end_unknown` has ended."""
        ...

    def forget(self, job: str) -> None:
        """Its end was recorded: what was kept for a next supervisor can go."""
        ...

    def soon(self, action: Callable[[], None]) -> None:
        """Do something behind the jobs that were just begun."""
        ...

    def sweep(self) -> None:
        """Remove what was left by runs that ended long ago."""
        ...

    def notify(self, happening: Happening) -> None:
        """Put something into the inbox."""
        ...

    def wake_at(self, at: datetime | None) -> None:
        """One timer, for the nearest instant; None: none is needed."""
        ...

    async def next(self, timeout_s: float | None = None) -> list[Happening]:
        """What has happened since, at least one thing; empty only after the timeout."""
        ...

    async def let_go(self) -> None:
        """Follow nothing any more: what runs, runs on, and can be recovered as after a death."""
        ...

    async def close(self) -> None: ...
