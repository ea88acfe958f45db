"""How the phrases of a table are matched: regular expressions around the name of a limit.

`<limit>` in a phrase stands for a noun phrase such as "your weekly (7-day) usage limit": any
number of words that may name a limit, the last of them a word for one. It is matched by looking
words up, which is quicker, and easier to extend, than one huge expression would be. Phrases of
one pattern are tried in one go; which of them it was is found by its group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from segue.dialects.limits.lazy_regex import Expression
from segue.dialects.limits.wording import words

SLOT = "<limit>"
WORDS_MAX = 11
NAME_CHARS_MAX = 160

_WORD = Expression(r"[^\W_][\w.+'/%-]*")
_STATUS = Expression(r"[45]\d\d")
_DIGIT = Expression(r"\d")
_GAP = frozenset(' ,()/-&[]`"')
_BLANK = frozenset(" ")
_WHICH = frozenset(words.WHICH.split())
_NO_NAMES = frozenset(words.NO_NAMES.split())
_NO_OWNERS = frozenset(words.NO_OWNERS.split())
# `limits?` is two words; what has a blank in it is no word.
_WHAT = frozenset(
    form
    for word in words.WHAT.replace("~", "-").split()
    for form in ({word[:-1], word[:-2]} if word.endswith("?") else {word})
)


class Led:
    """Phrases that begin with words; some have the name of a limit behind them, and more words."""

    def __init__(self, sources: Sequence[str]) -> None:
        parts = [source.partition(SLOT) for source in sources]
        self._any = _joined([before for before, _slot, _after in parts])
        self._befores = [_expression(before) for before, _slot, _after in parts]
        self._afters = [_expression(after) if slot else None for _before, slot, after in parts]

    def match(self, text: str, at: int) -> tuple[int, int] | None:
        """The first of the phrases that begins here: its number and its end."""
        found = self._any.match(text, at)
        if found is None:
            return None
        assert found.lastindex is not None
        first = found.lastindex - 1
        end = self._end(first, text, found.end())
        if end is not None:
            return first, end
        for number in range(first + 1, len(self._befores)):  # a later one may continue as it should
            found = self._befores[number].match(text, at)
            if found and (end := self._end(number, text, found.end())) is not None:
                return number, end
        return None

    def _end(self, number: int, text: str, at: int) -> int | None:
        after = self._afters[number]
        if after is None:
            return at
        for end in limit_ends(text, at):
            found = after.match(text, end)
            if found:
                return found.end()
        return None


class Slotted:
    """Phrases that begin with the name of a limit: it is looked for once."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._any = _joined([source.removeprefix(SLOT) for source in sources])

    def match(self, text: str, at: int) -> tuple[int, int] | None:
        """The first of the phrases that fits to the longest name: its number and its end."""
        for end in limit_ends(text, at):
            found = self._any.match(text, end)
            if found is not None:
                assert found.lastindex is not None
                return found.lastindex - 1, found.end()
        return None


def _expression(source: str) -> Expression:
    return Expression(source, re.IGNORECASE)


def _joined(sources: Sequence[str]) -> Expression:
    return _expression("|".join(f"({source})" for source in sources))


def limit_ends(text: str, at: int) -> Iterator[int]:
    """Where the name of a limit that begins here may end, the longest first."""
    ends: list[int] = []
    last = at
    for count, word in enumerate(_WORD.finditer(text, at, at + NAME_CHARS_MAX)):
        start = word.start()
        gap = text[last:start]
        if gap not in ("", " ") and not (_GAP if count else _BLANK).issuperset(gap):
            break
        whole = word[0]
        token = whole.rstrip(".'-/")
        last = start + len(token)
        is_what, may_name = _role(token)
        if is_what:
            ends.append(last)
        elif not may_name:
            break
        if count >= WORDS_MAX or (len(token) < len(whole) and text[last] == "."):
            break
    return reversed(ends)


@lru_cache(maxsize=4096)  # the same words again and again
def _role(token: str) -> tuple[bool, bool]:
    """Whether a word is one for a limit, and whether it may name one."""
    return token.lower() in _WHAT, _may_name(token)


def _may_name(token: str) -> bool:
    """Words that products use, names, numbers with what they count, models."""
    lower = token.lower()
    if lower.removesuffix("'s") in _WHICH:
        return True
    if lower.endswith("'s"):
        return lower not in _NO_OWNERS
    if token[0].isupper():
        return lower not in _NO_NAMES
    if _DIGIT.search(token):
        return _STATUS.fullmatch(token) is None
    return "-" in lower and all(part in _WHICH for part in lower.split("-"))
