"""Expressions that are compiled when first needed: most never are by one look at one screen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property


class Expression:
    """A regular expression. Once compiled, it is as quick as if it had been from the start."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self._source, self._flags = source, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    @cached_property
    def match(self) -> Callable[..., re.Match[str] | None]:
        return self._compiled.match

    @cached_property
    def fullmatch(self) -> Callable[..., re.Match[str] | None]:
        return self._compiled.fullmatch

    @cached_property
    def search(self) -> Callable[..., re.Match[str] | None]:
        return self._compiled.search

    @cached_property
    def finditer(self) -> Callable[..., Iterator[re.Match[str]]]:
        return self._compiled.finditer

    @cached_property
    def findall(self) -> Callable[..., list[str]]:
        return self._compiled.findall

    @cached_property
    def sub(self) -> Callable[..., str]:
        return self._compiled.sub


class Clue:
    """Says whether a text has one of some expressions.

    Each comes with words without one of which it cannot be found: a quick look first. The words
    are separated by `|`, blanks count.
    """

    __slots__ = ("parts",)

    def __init__(self, words: str, *patterns: str) -> None:
        self.parts: tuple[tuple[tuple[str, ...], Expression], ...] = (
            _part(words, "|".join(patterns)),
        )

    @classmethod
    def any_of(cls, *parts: tuple[str, str]) -> Clue:
        """Words and expression of each: what needs few words is looked for only beside them."""
        clue = cls.__new__(cls)
        clue.parts = tuple(_part(words, pattern) for words, pattern in parts)
        return clue

    def __call__(self, text: str, lower: str | None = None) -> bool:
        """`lower` is the text in small letters, where that is known already."""
        lower = lower or text.lower()
        for words, pattern in self.parts:
            for word in words:
                if word in lower:
                    if pattern.search(text):
                        return True
                    break
        return False


def _part(words: str, pattern: str) -> tuple[tuple[str, ...], Expression]:
    return tuple(words.split("|")), Expression(pattern, re.IGNORECASE)
