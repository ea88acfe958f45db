"""A tool as the server offers it: what it takes, checked; what it says, made plain."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from segue.dialects.lines import plain_text
from segue.errors import UserError

PROBLEMS_SHOWN_MAX = 5
TEXT_CHARS_MAX = 10_000

Json = dict[str, Any]


class Arguments(BaseModel):
    """What a tool takes; a name that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class NoArguments(Arguments):
    """For tools that take nothing."""


class Refused(Exception):  # noqa: N818 - the word says it
    """The call cannot be done; the text tells the model why, and what it can do."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: the text is written for the model that decides whether to call it."""

    name: str
    description: str
    arguments: type[Arguments]
    call: Callable[[Any], str | Json]
    is_read_only: bool = False
    is_always_loaded: bool = False  # not one that the model has to look for first
    is_destructive: bool = False  # programs ask a person before they let a model call it

    def schema(self) -> Json:
        """The JSON schema of what it takes, without what says nothing to a model."""
        schema: Json = _untitled(self.arguments.model_json_schema())
        schema.pop("description", None)
        return schema

    def answer(self, given: Json) -> str:
        """Check, do, and say it; `Refused` with the reason where it cannot be done."""
        try:
            told = self.call(self.arguments.model_validate(given))
        except ValidationError as error:
            raise Refused(_wrong_arguments(self.name, error)) from error
        except UserError as error:
            raise Refused(in_words(error)) from error
        except OSError as error:  # a file that went away while it was looked at
            why = error.strerror or str(error)
            where = "" if error.filename is None else f"{error.filename}: "
            raise Refused(plain_text(f"{where}{why}")) from error
        if isinstance(told, str):
            return plain_text(told)
        return json.dumps(harmless(told), ensure_ascii=False, indent=1)


def harmless(value: Any) -> Any:
    """What came from agents is data: no control characters in it, and not without end."""
    match value:
        case str():
            text = plain_text(value[:TEXT_CHARS_MAX])
            return text if len(value) <= TEXT_CHARS_MAX else f"{text}…"
        case dict():
            return {harmless(str(name)): harmless(part) for name, part in value.items()}
        case list() | tuple():
            return [harmless(part) for part in value]
        case _:
            return value


def in_words(error: UserError) -> str:
    """Problems as a model reads them: where, what, the cure."""
    lines = []
    for problem in error.problems[:PROBLEMS_SHOWN_MAX]:
        where = f"{problem.where}: " if problem.where else ""
        cure = f" ({problem.hint})" if problem.hint else ""
        lines.append(f"{where}{problem.message}{cure}")
    return plain_text("\n".join(lines))


def _wrong_arguments(name: str, error: ValidationError) -> str:
    lines = [f"{name}: wrong arguments; nothing was done."]
    for wrong in error.errors(include_url=False, include_input=False)[:PROBLEMS_SHOWN_MAX]:
        where = ".".join(str(part) for part in wrong["loc"])
        lines.append(f"{where}: {wrong['msg']}" if where else str(wrong["msg"]))
    return plain_text("\n".join(lines))


def _untitled(schema: Any) -> Any:
    """Titles repeat the names; but a parameter may be called `title`, and that stays."""
    match schema:
        case dict():
            return {
                name: _untitled(part)
                for name, part in schema.items()
                if name != "title" or not isinstance(part, str)
            }
        case list():
            return [_untitled(part) for part in schema]
        case _:
            return schema
