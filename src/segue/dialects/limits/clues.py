"""An expression, and words without one of which it cannot be found: a quick look first."""

from __future__ import annotations

import re


class Clue:
    """Says whether a text has it. The words are separated by `|`, blanks count."""

    __slots__ = ("_pattern", "_words")

    def __init__(self, words: str, *patterns: str) -> None:
        self._words = tuple(words.split("|"))
        self._pattern = re.compile("|".join(patterns), re.IGNORECASE)

    def __call__(self, text: str, lower: str | None = None) -> bool:
        """`lower` is the text in small letters, where that is known already."""
        lower = lower or text.lower()
        for word in self._words:
            if word in lower:
                return self._pattern.search(text) is not None
        return False
