"""For an agent at work under Segue: each call is one line in the file that Segue follows."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from segue.core.durations import parse_duration
from segue.dialects import blocks, tool_channel
from segue.dialects.blocks import FIELD_CHARS_MAX, NAME_CHARS_MAX, OPTIONS_MAX
from segue.dialects.events import Event
from segue.dialects.tool_channel import STEP_MAX
from segue.mcp.tools import Arguments, Refused, Tool
from segue.store.changes import stamp

INSTRUCTIONS = (
    "You work unattended on a task from Segue. Use these tools to report progress and to ask"
    " for anything that a person must decide or provide. When a tool tells you to stop, end your"
    " turn at once: Segue starts you again in this conversation."
)
STOP = "Stop working now and end your turn: you will be started again with"

Text = Annotated[str, StringConstraints(min_length=1, max_length=FIELD_CHARS_MAX)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=NAME_CHARS_MAX)]


def _check(reader: Callable[[blocks.Given], Event | str], given: Arguments) -> None:
    """Refuse what Segue would not accept while the agent can still fix it."""
    why = reader(given.model_dump())
    if isinstance(why, str):
        raise ValueError(why)


class Question(Arguments):
    question: Text = Field(description="What you need to know, as a complete question.")
    options: list[Text] = Field(
        default=[], max_length=OPTIONS_MAX, description="The answers to choose from, if any."
    )
    default: str = Field(
        default="",
        max_length=FIELD_CHARS_MAX,
        description="The answer you suggest; one of the options if there are any.",
    )
    category: Literal["", "business", "clarification", "choice", "confirmation"] = ""
    required: bool = Field(default=True, description="false: the default is acceptable, too.")
    deadline: str = Field(
        default="",
        max_length=64,
        description='After this time Segue takes the default, for example "30m" or "2h".',
    )
    priority: Literal["", "low", "normal", "high", "urgent"] = ""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.default and self.options and self.default not in self.options:
            raise ValueError("default is not one of the options")
        if not self.required and not self.default:
            raise ValueError("a question that is not required needs a default")
        if self.deadline and not parse_duration(self.deadline):
            raise ValueError('deadline is not a duration like "30m" or "2h"')
        _check(blocks.question, self)
        return self


class Dependency(Arguments):
    type: Literal["api_key", "env_variable", "service", "file", "permission", "package"]
    name: Name = Field(
        description="For an api_key or env_variable: the environment variable, e.g. STRIPE_KEY."
    )
    description: Text = Field(description="Why you need it, and how to get it.")
    required: bool = Field(default=True, description="false: you can continue without it.")
    default: str = Field(default="", max_length=FIELD_CHARS_MAX)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _check(blocks.dependency, self)
        return self


class Step(Arguments):
    n: int = Field(ge=1, le=STEP_MAX, description="The number of the step in your task.")


class Completed(Arguments):
    summary: Text = Field(description="What you did, for those who continue from here.")
    deliverables: list[Text] = Field(
        default=[], max_length=OPTIONS_MAX, description="Paths of the files that you created."
    )


class Phase(Completed):
    phase: int | None = Field(default=None, ge=1, le=STEP_MAX, description="Its number, if any.")


class Error(Arguments):
    message: Text
    type: Literal["recoverable", "fatal"] = "recoverable"
    recovery: Literal["pause_and_retry", "checkpoint_and_fail", "notify_user"] = "notify_user"

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _check(blocks.error, self)
        return self


class Reports:
    """Writes what the agent tells, each call in one piece."""

    def __init__(self, environ: Mapping[str, str], now: Callable[[], datetime]) -> None:
        self._path = environ.get("SEGUE_TOLD", "")
        self._nonce = environ.get("SEGUE_NONCE", "")
        self._now = now
        self._is_torn = False  # the last line was cut off: the next begins a new one

    def write(self, tool: str, arguments: Arguments) -> None:
        """Write one call to disk before returning; raise `Refused` where that fails."""
        if not self._path:
            raise Refused(
                "Segue does not read tool calls in this run (SEGUE_TOLD is not set);"
                " use the text markers from your task."
            )
        given = {
            name: value
            for name, value in arguments.model_dump().items()
            if value not in ("", None, [])
        }
        try:
            line = tool_channel.line(tool, given, nonce=self._nonce, at=stamp(self._now()))
        except tool_channel.TooLong as error:
            raise Refused(
                f"Too long: {error}. Segue received nothing. Put the details into a file and name"
                " it."
            ) from error
        try:
            self._append(line)
        except OSError as error:
            raise Refused(
                f"Could not reach Segue ({error.strerror}); use the text markers from your task."
            ) from error

    def _append(self, line: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        fd = os.open(self._path, flags, 0o600)
        try:
            data = b"\n" + line if self._is_torn else line
            # One write: lines of calls that come at the same time do not mix.
            if os.write(fd, data) != len(data):
                self._is_torn = True
                raise OSError(0, "the disk is full")
            self._is_torn = False
            os.fsync(fd)
        finally:
            os.close(fd)

    def ask(self, given: Question) -> str:
        if not given.category:
            kind: Literal["choice", "clarification"] = (
                "choice" if given.options else "clarification"
            )
            given = given.model_copy(update={"category": kind})
        self.write(tool_channel.ASK, given)
        return f"Asked. {STOP} the answer."

    def request(self, given: Dependency) -> str:
        self.write(tool_channel.DEPENDENCY, given)
        return f"Requested. {STOP} the result."

    def step(self, given: Step) -> str:
        self.write(tool_channel.STEP, given)
        return f"Noted: step {given.n} is done. Continue."

    def phase(self, given: Phase) -> str:
        self.write(tool_channel.PHASE, given)
        return "Noted. End your turn now: Segue checks your work next."

    def task(self, given: Completed) -> str:
        self.write(tool_channel.TASK, given)
        return "Noted. End your turn now."

    def error(self, given: Error) -> str:
        self.write(tool_channel.ERROR, given)
        if given.type == "fatal" or given.recovery == "checkpoint_and_fail":
            return "Noted. Stop working now and end your turn."
        if given.recovery == "pause_and_retry":
            return "Noted. Stop working now and end your turn: you will be started again later."
        return "Noted. Continue with what you can do without it, or end your turn."


def tools(
    environ: Mapping[str, str], now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> list[Tool]:
    """The tools of an agent that works for Segue."""
    reports = Reports(environ, now)
    return [
        Tool(
            tool_channel.ASK,
            "Ask a person something you cannot decide or find out yourself. Then end your"
            " turn: Segue starts you again with the answer.",
            Question,
            reports.ask,
            is_always_loaded=True,
        ),
        Tool(
            tool_channel.DEPENDENCY,
            "Ask a person for something you cannot work without: a key, a service, a file, a"
            " permission, a package. Then end your turn.",
            Dependency,
            reports.request,
            is_always_loaded=True,
        ),
        Tool(
            tool_channel.STEP,
            "Report a numbered step of your task as done, as soon as it is. Then continue.",
            Step,
            reports.step,
            is_always_loaded=True,
        ),
        Tool(
            tool_channel.PHASE,
            "Report that your phase is complete and that you have checked it. Call this once, at"
            " the end.",
            Phase,
            reports.phase,
            is_always_loaded=True,
        ),
        Tool(
            tool_channel.TASK,
            "Report that your task, if it has no phases, is complete and that you have checked"
            " it. Call this once, at the end.",
            Completed,
            reports.task,
            is_always_loaded=True,
        ),
        Tool(
            tool_channel.ERROR,
            "Report an error that you cannot fix: recoverable (pause_and_retry, notify_user)"
            " or fatal (checkpoint_and_fail).",
            Error,
            reports.error,
            is_always_loaded=True,
        ),
    ]
