"""What clients send: exact types, no unknown fields, bounded lengths."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Id = Annotated[str, Field(min_length=1, max_length=100)]
Title = Annotated[str, Field(max_length=300)]
Description = Annotated[str, Field(max_length=100_000)]
Name = Annotated[str, Field(max_length=100)]
Priority = Annotated[int, Field(ge=-1_000_000, le=1_000_000)]
Ids = Annotated[list[Id], Field(max_length=200)]
Words = Annotated[str, Field(min_length=1, max_length=20_000)]
SETTINGS_MAX = 200


class Body(BaseModel):
    model_config = ConfigDict(
        extra="forbid", strict=True, alias_generator=to_camel, validate_by_name=False
    )


class Nothing(Body):
    """An action that needs no words."""


class GivenTask(Body):
    """A new task. A draft may be incomplete; submitting it needs title and description.

    Without an agent it is the one of the settings.
    """

    title: Title
    description: Description = ""
    type: Annotated[str, Field(min_length=1, max_length=100, examples=["custom", "create_app"])]
    agent: Name = ""
    depends_on: Ids = []
    priority: Priority = 0
    submit: bool = False


class Changes(Body):
    """Fields of a task that are to change; the others stay."""

    title: Title = ""
    description: Description = ""
    type: Name = ""
    agent: Name = ""
    depends_on: Ids = []
    priority: Priority = 0

    def given(self) -> dict[str, Any]:
        """What was sent."""
        return self.model_dump(exclude_unset=True)


class Message(Body):
    text: Words


class Cancel(Body):
    reason: Words | None = None


class Retry(Body):
    submit: bool = False


class Fork(Body):
    """From this checkpoint; from the newest if none is named."""

    checkpoint_id: Id | None = None


class Rewind(Body):
    checkpoint_id: Id


class Approve(Body):
    comment: Annotated[str, Field(max_length=20_000)] | None = None


class Comment(Body):
    """A remark on a line of a deliverable, or on the whole file."""

    file: Annotated[str, Field(min_length=1, max_length=1_000)]
    line: Annotated[int, Field(ge=1, le=100_000_000)] | None = None
    text: Words


class RequestChanges(Body):
    feedback: Annotated[str, Field(min_length=1, max_length=100_000)]
    comments: Annotated[list[Comment], Field(max_length=500)] = []


class Answer(Body):
    """One of the options. What is none of them is taken only as own words, if it says so."""

    answer: Words
    own_words: bool = False


class Provide(Body):
    """The value is sealed when it is stored, and never shown again."""

    value: Annotated[str, Field(min_length=1, max_length=100_000)]


class Reject(Body):
    """Why, for the agent; it need not be said."""

    reason: Annotated[str, Field(max_length=20_000)] = ""


def _is_plain(given: dict[str, Any]) -> dict[str, Any]:
    """JSON that can be written again: no endless numbers, no halves of characters."""
    try:
        json.dumps(given, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise ValueError("has a value that cannot be kept") from error
    return given


Settings = Annotated[dict[str, Any], Field(max_length=SETTINGS_MAX), AfterValidator(_is_plain)]
