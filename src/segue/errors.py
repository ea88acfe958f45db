"""Errors by who must act.

`UserError`: what was given cannot be used; shown in words, exit 2.
`AgentError`: an agent program did something it should not; the run deals with it.
`Bug`: Segue itself is wrong; never caught quietly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with what a person gave: where, what, and the cure."""

    code: str
    message: str
    file: str | None = None
    line: int | None = None
    hint: str | None = None

    @property
    def where(self) -> str:
        if self.file is None:
            return ""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def to_json(self) -> dict[str, str | int | None]:
        return {
            "code": self.code,
            "message": self.message,
            "file": self.file,
            "line": self.line,
            "hint": self.hint,
        }


class UserError(Exception):
    """Something a person must fix. Carries every problem found, the first one foremost."""

    exit_code = 2

    def __init__(
        self,
        code: str,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.problems: list[Problem] = [Problem(code, message, file, line, hint)]

    @classmethod
    def of(cls, problems: Sequence[Problem]) -> UserError:
        """One error that carries several problems."""
        first = problems[0]
        error = cls(first.code, first.message, file=first.file, line=first.line, hint=first.hint)
        error.problems = list(problems)
        return error

    @property
    def problem(self) -> Problem:
        return self.problems[0]


class AgentError(Exception):
    """An agent program misbehaved; its task learns of it, Segue continues."""


class Bug(Exception):  # noqa: N818 - the word says it
    """An impossible thing happened: Segue is wrong."""
