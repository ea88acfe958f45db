"""Patterns that a user adds: `[[limits.patterns]]` in the settings.

    [[limits.patterns]]
    pattern = "(?i)tokens for today are gone"
    kind = "daily_quota"
    agent = "myagent"        # optional; the name given as the tool

A pattern is a regular expression. It is looked for in the lines of the newest block of the screen,
like those that are built in: what is below a message must still be no new work.

Nobody has proven a user's pattern to be linear, so it is matched under a time limit, which `re`
cannot do: `regex` can. One that takes longer is left out from then on, and a warning says so.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from segue.core.limits import FAMILY
from segue.dialects.limits.brands import brand_of
from segue.errors import Problem, UserError
from segue.i18n import _

if TYPE_CHECKING:  # few users have patterns of their own
    import regex

logger = logging.getLogger("segue.limits")

KEYS = ("pattern", "kind", "agent")
PATTERNS_MAX = 100
PATTERN_CHARS_MAX = 1_000
MATCH_S = 0.1  # of the processor's time, for one line; a linear pattern needs a thousandth of it

_too_slow: set[str] = set()


@dataclass(frozen=True, slots=True)
class Extra:
    """One pattern of a user's own."""

    id: str
    kind: str
    found: regex.Pattern[str]
    agent: str = ""

    def is_in(self, line: str, brand: str) -> bool:
        if self.agent not in ("", brand) or self.found.pattern in _too_slow:
            return False
        try:
            return self.found.search(line, timeout=MATCH_S) is not None
        except TimeoutError:
            _too_slow.add(self.found.pattern)
            text = _("The limit pattern `{pattern}` takes too long on one line; Segue ignores it.")
            hint = _("Avoid nested repeats: write `a+`, not `(a+)+`.")
            logger.warning("%s %s", text.format(pattern=self.found.pattern), hint)
            return False


Place = Callable[[int, str | None], tuple[str | None, int | None]]


def _nowhere(number: int, key: str | None) -> tuple[str | None, int | None]:
    return None, None


def extra_patterns(
    given: Sequence[Mapping[str, Any]], place: Place = _nowhere, *, first: int = 1
) -> tuple[Extra, ...]:
    """The user's patterns, compiled; an error for each one that does not compile.

    `place` says in which file and line a key of the n-th table stands; `first` is the number
    that the first one gets in its rule.
    """
    problems: list[Problem] = []
    patterns: list[Extra] = []
    for number, table in enumerate(given[:PATTERNS_MAX]):
        extra = _Reader(table, partial(place, number), problems).read(f"extra-{first + number}")
        if extra is not None:
            patterns.append(extra)
    if len(given) > PATTERNS_MAX:
        message = _("more than {n} limit patterns").format(n=PATTERNS_MAX)
        hint = _("one regular expression can have several alternatives: (?:a|b)")
        problems.append(Problem("bad_value", message, *place(PATTERNS_MAX, None), hint))
    if problems:
        raise UserError.of(problems)
    return tuple(patterns)


class _Reader:
    """Checks one table; every problem is kept, with its place."""

    def __init__(
        self,
        table: Mapping[str, Any],
        place: Callable[[str | None], tuple[str | None, int | None]],
        problems: list[Problem],
    ) -> None:
        self._table, self._place, self._problems = table, place, problems

    def _problem(self, code: str, message: str, hint: str, key: str | None) -> None:
        self._problems.append(Problem(code, message, *self._place(key), hint))

    def read(self, id_: str) -> Extra | None:
        for key in self._table:
            if key not in KEYS:
                message = _("unknown setting `{key}`").format(key=f"[[limits.patterns]] {key}")
                self._problem("unknown_key", message, _known(key), key)
        found, kind = self._pattern(), self._table.get("kind")
        agent = self._table.get("agent", "")
        if not isinstance(kind, str) or kind not in FAMILY:
            message = _("`{key}` cannot be {value!r}").format(key="kind", value=kind)
            hint = _("known here: {names}").format(names=", ".join(FAMILY))
            self._problem("bad_value", message, hint, "kind" if "kind" in self._table else None)
        elif not isinstance(agent, str):
            message = _("`{key}` cannot be {value!r}").format(key="agent", value=agent)
            hint = _("write {wanted}").format(wanted='"the name of an agent"')
            self._problem("bad_value", message, hint, "agent")
        elif found is not None:
            return Extra(id_, kind, found, brand_of(agent, ()))
        return None

    def _pattern(self) -> regex.Pattern[str] | None:
        import regex  # noqa: PLC0415 - few users have patterns of their own

        source = self._table.get("pattern")
        if not isinstance(source, str) or not source or len(source) > PATTERN_CHARS_MAX:
            message = _("`pattern` is missing, or too long")
            hint = _("write a regular expression of at most {n} characters")
            key = "pattern" if "pattern" in self._table else None
            self._problem("bad_value", message, hint.format(n=PATTERN_CHARS_MAX), key)
            return None
        try:
            return regex.compile(source)
        except (regex.error, OverflowError, RecursionError) as error:
            text = _("`{pattern}` is not a regular expression: {error}")
            message = text.format(pattern=source, error=error)
            hint = _("escape special characters with \\: \\( \\[ \\+; quote with '…'")
            self._problem("bad_value", message, hint, "pattern")
            return None


def _known(key: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - for a mistake only

    close = get_close_matches(key, KEYS, 1)
    if close:
        return _("did you mean `{name}`?").format(name=close[0])
    return _("known here: {names}").format(names=", ".join(KEYS))
