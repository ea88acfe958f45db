"""What one language says about limits: a table of words, and how a sentence is judged by it.

A language is one file beside this one with one `Language`. Its rows are alternatives of regular
expressions in small letters:

    what       what is used up                 "한도|할당량"
    over       that it is used up              "도달|초과"
    pieces     kind → sentences in one piece   {"overloaded": "서버가 과부하"}
    windows    kind → words that name it       {"weekly_limit": "주간|이번 주"}
    never      in the same sentence: no limit  a condition, a forecast, a limit that is over
    report     anywhere beside it: the text is about a program, tests, work done
    beside     what else a message says        "다시|이용|업그레이드"

The program's own words need `what` and `over` (or a piece) and no `never`. Where the agent may be
speaking, nothing else may be said either: every word must be in one of the rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property

from segue.dialects.limits.lazy_regex import Expression

GAP_CHARS = 24  # between what and over
HEAD_CHARS = 160
QUOTES = Expression(r"[\"«»„“”「」『』‹›`]|(?<!\w)'|'(?!\w)")
_SENTENCE = Expression(r"[^.!?。;\n]+(?:[.!?;](?=\d)[^.!?。;\n]*)*")
_PLAIN = Expression(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_NAMES = Expression(r"\b[A-Z][\w.-]*\d[\w.-]*|\S*(?:://|\w\.\w+/)\S*|/\w[\w-]*|`[^`]{1,40}`")


class Language:
    """The table of one language. `has_blanks`: its words stand apart."""

    def __init__(
        self,
        code: str,
        *,
        letters: str,
        what: str,
        over: str,
        never: str,
        report: str,
        beside: str,
        pieces: Mapping[str, str],
        windows: Mapping[str, str],
        has_blanks: bool = True,
    ) -> None:
        self.code, self.pieces, self.windows, self.has_blanks = code, pieces, windows, has_blanks
        self._what, self._over, self._beside = what, over, beside
        self.letters = Expression(letters, re.IGNORECASE)
        self.never = Expression(never, re.IGNORECASE)
        self.report = Expression(report, re.IGNORECASE)

    @cached_property
    def rows(self) -> tuple[tuple[str, str, Expression], ...]:
        """Name, kind and expression of each row that reports a limit."""
        gap = rf"[^.!?。\n]{{0,{GAP_CHARS}}}?"
        what, over = f"(?:{self._what})", f"(?:{self._over})"
        found = [(f"limit-reached-{self.code}", "", f"{what}{gap}{over}|{over}{gap}{what}")]
        found += [(f"{self.code}-{kind}", kind, said) for kind, said in self.pieces.items()]
        return tuple((name, kind, Expression(said, re.I)) for name, kind, said in found)

    @cached_property
    def window_rows(self) -> tuple[tuple[str, Expression], ...]:
        return tuple((kind, Expression(named, re.I)) for kind, named in self.windows.items())

    @cached_property
    def _known(self) -> Expression:
        known = "|".join((self._what, self._over, *self.pieces.values(), *self.windows.values()))
        if self.has_blanks:
            return Expression(rf"(?:{known}|{self._beside})\w{{0,4}}\Z", re.IGNORECASE)
        return Expression(f"{known}|{self._beside}", re.IGNORECASE)

    def unknown_share(self, text: str) -> float:
        """How much of a text is in no row: 0 for a message, near 1 for prose."""
        text = _NAMES.sub(" ", text)
        if self.has_blanks:
            words = [word for word in _PLAIN.findall(text) if len(word) > 1]
            unknown = [word for word in words if self._known.match(word) is None]
            return len(unknown) / len(words) if words else 0.0
        whole = len(self.letters.findall(text))
        left = len(self.letters.findall(self._known.sub("", text)))
        return left / whole if whole else 0.0


def sentence_at(text: str, at: int) -> str:
    """The sentence that this place is in."""
    for found in _SENTENCE.finditer(text):
        if found.end() > at:
            return found[0]
    return text
