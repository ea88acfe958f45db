"""Patterns that a user adds: `[[limits.patterns]]` in the settings.

    [[limits.patterns]]
    pattern = "(?i)tokens for today are gone"
    kind = "daily_quota"
    agent = "myagent"        # optional; the name given as the tool

A pattern is a regular expression. It is looked for in the lines of the newest block of the screen,
like those that are built in: what is below a message must still be no new work.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from segue.core.limits import FAMILY
from segue.errors import Problem, UserError
from segue.i18n import _

KEYS = ("pattern", "kind", "agent")
PATTERNS_MAX = 100
PATTERN_CHARS_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Extra:
    """One pattern of a user's own."""

    id: str
    kind: str
    found: re.Pattern[str]
    agent: str = ""

    def is_in(self, line: str, brand: str) -> bool:
        return self.agent in ("", brand) and self.found.search(line) is not None


def extra_patterns(given: Sequence[Mapping[str, Any]]) -> tuple[Extra, ...]:
    """The user's patterns, compiled; every one that cannot be is told."""
    problems: list[Problem] = []
    patterns: list[Extra] = []
    for number, table in enumerate(given[:PATTERNS_MAX], 1):
        extra = _extra(number, table, problems)
        if extra is not None:
            patterns.append(extra)
    if len(given) > PATTERNS_MAX:
        message = _("more than {n} patterns of limits").format(n=PATTERNS_MAX)
        problems.append(Problem("bad_value", message))
    if problems:
        raise UserError.of(problems)
    return tuple(patterns)


def _extra(number: int, table: Mapping[str, Any], problems: list[Problem]) -> Extra | None:
    where = f"[[limits.patterns]] {number}"
    for key in table:
        if key not in KEYS:
            message = _("{where}: unknown key `{key}`").format(where=where, key=key)
            hint = _("known here: {names}").format(names=", ".join(KEYS))
            problems.append(Problem("unknown_key", message, hint=hint))
    source, kind, agent = table.get("pattern"), table.get("kind"), table.get("agent", "")
    if not isinstance(source, str) or not source or len(source) > PATTERN_CHARS_MAX:
        message = _("{where}: `pattern` is missing, or too long").format(where=where)
        hint = _("write a regular expression of at most {n} characters").format(n=PATTERN_CHARS_MAX)
        problems.append(Problem("bad_value", message, hint=hint))
        return None
    if kind not in FAMILY:
        message = _("{where}: `kind` cannot be {kind!r}").format(where=where, kind=kind)
        hint = _("known here: {names}").format(names=", ".join(FAMILY))
        problems.append(Problem("bad_value", message, hint=hint))
        return None
    try:
        found = re.compile(source)
    except re.error as error:
        message = _("{where}: `{pattern}` is no regular expression: {error}").format(
            where=where, pattern=source, error=error
        )
        problems.append(Problem("bad_value", message))
        return None
    return Extra(f"extra-{number}", str(kind), found, str(agent))
