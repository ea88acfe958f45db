"""An expression, and words without one of which it cannot be found: a quick look first."""

from __future__ import annotations

import re


class Clue:
    """Says whether a text has it. The words are separated by `|`, blanks count."""

    __slots__ = ("_pattern", "_source", "_words")

    def __init__(self, words: str, *patterns: str) -> None:
        self._words = tuple(words.split("|"))
        self._source = "|".join(patterns)
        self._pattern: re.Pattern[str] | None = None

    def __call__(self, text: str, lower: str | None = None) -> bool:
        """`lower` is the text in small letters, where that is known already."""
        lower = lower or text.lower()
        for word in self._words:
            if word in lower:
                return (self._pattern or self._compiled()).search(text) is not None
        return False

    def _compiled(self) -> re.Pattern[str]:
        """Compiled when first needed: most are never needed by one look at one screen."""
        self._pattern = re.compile(self._source, re.IGNORECASE)
        return self._pattern
