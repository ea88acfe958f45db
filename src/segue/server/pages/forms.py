"""What a form sent, checked by the same rules as the API."""

from __future__ import annotations

from typing import TypeVar
from urllib.parse import parse_qs

from fastapi import Request
from pydantic import ValidationError

from segue.i18n import N_
from segue.server.bodies import Body
from segue.work.phases.refused import Refused

FIELDS_MAX = 3_000
Given = TypeVar("Given", bound=Body)


class Form:
    def __init__(self, body: bytes) -> None:
        try:
            self._fields = parse_qs(
                body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=FIELDS_MAX
            )
        except ValueError as error:
            raise Refused(422, "invalid", N_("The form has too many fields.")) from error

    def one(self, name: str) -> str:
        """Lines end as they do in files, not as they do in forms."""
        return self._fields.get(name, [""])[0].replace("\r\n", "\n")

    def many(self, name: str) -> list[str]:
        return [value.replace("\r\n", "\n") for value in self._fields.get(name, [])]

    def number(self, name: str) -> int:
        try:
            return int(self.one(name) or "0")
        except ValueError as error:
            raise Refused(422, "invalid", N_("This must be a number."), {"field": name}) from error


async def sent(request: Request) -> Form:
    return Form(await request.body())


def checked(model: type[Given], **fields: object) -> Given:
    """In the shapes of the API; `field` says which one does not fit. Never what was in it."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        field = str(first["loc"][0]) if first["loc"] else ""
        match first["type"]:
            case "string_too_short":
                text = N_("This field is required.")
            case "string_too_long" | "too_long":
                text = N_("This is too long.")
            case _:
                text = N_("This value is not valid.")
        raise Refused(422, "invalid", text, {"field": field}) from error
