"""What a person asked for cannot be done: why, in words, and what could be done instead."""

from __future__ import annotations

from collections.abc import Mapping


class Refused(Exception):  # noqa: N818 - what happened to it
    """`status` is that of HTTP; `facts` are further members of the problem document."""

    def __init__(
        self, status: int, code: str, message: str, facts: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.facts: Mapping[str, object] = facts or {}
