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
    "You work on a task that Segue gave you, and nobody watches. Tell through these tools"
    " what a person must decide or provide, and how far you are. When a tool tells you to"
    " stop, end your turn at once: you are started again in this conversation."
)
STOP = "Stop working now and end your turn: you will be started again with"

Text = Annotated[str, StringConstraints(min_length=1, max_length=FIELD_CHARS_MAX)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=NAME_CHARS_MAX)]


def _check(reader: Callable[[blocks.Given], Event | str], given: Arguments) -> None:
    """What Segue would not believe is refused while the agent can still mend it."""
    why = reader(given.model_dump())
    if isinstance(why, str):
        raise ValueError(why)


class Question(Arguments):
    question: Text = Field(description="What you need to know, complete in itself.")
    options: list[Text] = Field(
        default=[], max_length=OPTIONS_MAX, description="The answers to choose from, if any."
    )
    default: str = Field(
        default="",
        max_length=FIELD_CHARS_MAX,
        description="The answer you suggest; one of the options if there are any.",
    )
    category: Literal["", "business", "clarification", "choice", "confirmation"] = ""
    required: bool = Field(default=True, description="false: the default would do as well.")
    deadline: str = Field(
        default="",
        max_length=64,
        description='After this time the default is taken, as "30m" or "2h".',
    )
    priority: Literal["", "low", "normal", "high", "urgent"] = ""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.default and self.options and self.default not in self.options:
            raise ValueError("default is none of the options")
        if not self.required and not self.default:
            raise ValueError("a question that is not required needs a default")
        if self.deadline and not parse_duration(self.deadline):
            raise ValueError('deadline is no duration like "30m" or "2h"')
        _check(blocks.question, self)
        return self


class Dependency(Arguments):
    type: Literal["api_key", "env_variable", "service", "file", "permission", "package"]
    name: Name = Field(
        description="Of an api_key or env_variable: the environment variable, as STRIPE_KEY."
    )
    description: Text = Field(description="What it is needed for, and how to get it.")
    required: bool = Field(default=True, description="false: you can go on without it.")
    default: str = Field(default="", max_length=FIELD_CHARS_MAX)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _check(blocks.dependency, self)
        return self


class Step(Arguments):
    n: int = Field(ge=1, le=STEP_MAX, description="The number of the step in your task.")


class Completed(Arguments):
    summary: Text = Field(description="What was done, for those who go on from here.")
    deliverables: list[Text] = Field(
        default=[], max_length=OPTIONS_MAX, description="Files that were made, by path."
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
        """On the disk when this returns; `Refused` where it could not be told."""
        if not self._path:
            raise Refused(
                "Segue does not listen to tool calls in this run (SEGUE_TOLD is not set);"
                " use the text markers that your task shows."
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
                f"Too long: {error}. Nothing was told. Put the details into a file, and name it."
            ) from error
        try:
            self._append(line)
        except OSError as error:
            raise Refused(
                f"This could not be told to Segue ({error.strerror}); use the text markers"
                " that your task shows."
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
        return f"Asked for. {STOP} what came of it."

    def step(self, given: Step) -> str:
        self.write(tool_channel.STEP, given)
        return f"Noted: step {given.n} is done. Go on."

    def phase(self, given: Phase) -> str:
        self.write(tool_channel.PHASE, given)
        return "Noted. End your turn now: what you have done is checked next."

    def task(self, given: Completed) -> str:
        self.write(tool_channel.TASK, given)
        return "Noted. End your turn now."

    def error(self, given: Error) -> str:
        self.write(tool_channel.ERROR, given)
        if given.type == "fatal" or given.recovery == "checkpoint_and_fail":
            return "Noted. Stop working now and end your turn."
        if given.recovery == "pause_and_retry":
            return "Noted. Stop working now and end your turn: you will be started again later."
        return "Noted. Go on with what you can do without it, or end your turn."


def tools(
    environ: Mapping[str, str], now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> list[Tool]:
    """What an agent that works under Segue can tell it."""
    reports = Reports(environ, now)
    return [
        Tool(
            tool_channel.ASK,
            "Ask a person something you cannot decide or find out yourself. Then end your"
            " turn: you are started again with the answer.",
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
            "Tell that a numbered step of your task is done, as soon as it is. Go on afterwards.",
            Step,
            reports.step,
            is_always_loaded=True,
        ),
        Tool(
            tool_channel.PHASE,
            "Tell that the phase you were given is complete and checked by you. Call it once, as"
            " the last thing.",
            Phase,
            reports.phase,
            is_always_loaded=True,
        ),
        Tool(
            tool_channel.TASK,
            "Tell that your task, if it has no phases, is complete and checked by you. Call it"
            " once, as the last thing.",
            Completed,
            reports.task,
            is_always_loaded=True,
        ),
        Tool(
            tool_channel.ERROR,
            "Tell of an error that you cannot mend: recoverable (pause_and_retry, notify_user)"
            " or fatal (checkpoint_and_fail).",
            Error,
            reports.error,
            is_always_loaded=True,
        ),
    ]
