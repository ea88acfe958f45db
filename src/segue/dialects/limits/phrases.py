"""How the phrases of a table are matched: regular expressions around the name of a limit.

`<limit>` in a phrase stands for a noun phrase such as "your weekly (7-day) usage limit": any
number of words that may name a limit, the last of them a word for one. It is matched by looking
words up, which is quicker, and easier to extend, than one huge expression would be. All phrases
are tried in one go; which of them it was is found by its group.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from segue.dialects.limits import words

SLOT = "<limit>"
WORDS_MAX = 11
NAME_CHARS_MAX = 160

_WORD = re.compile(r"[^\W_][\w.+'/%-]*")
_STATUS = re.compile(r"[45]\d\d")
_DIGIT = re.compile(r"\d")
_GAP = frozenset(' ,()/-&[]`"')
_BLANK = frozenset(" ")
_WHICH = frozenset(words.WHICH.split())
_NO_NAMES = frozenset(words.NO_NAMES.split())
_WHAT = re.compile(words.alternatives(words.WHAT), re.IGNORECASE)

IsMeant = Callable[[int], bool]  # by the phrase's number


class Phrases:
    """Phrases in the order of their weight, ready to be matched at a place of a text."""

    def __init__(self, sources: Sequence[str]) -> None:
        parts = [source.partition(SLOT) for source in sources]
        self._has_slot = [bool(slot) for _before, slot, _after in parts]
        self._leads = [n for n, (before, _slot, _after) in enumerate(parts) if before]
        self._slots = [n for n, (before, _slot, _after) in enumerate(parts) if not before]
        self._before = {n: parts[n][0] for n in self._leads}
        self._after = {n: parts[n][2] for n in range(len(parts)) if self._has_slot[n]}
        self._any_lead = _joined([self._before[n] for n in self._leads])
        self._any_slot = _joined([self._after[n] for n in self._slots])
        self._compiled: dict[str, re.Pattern[str]] = {}

    def match(self, text: str, at: int, is_meant: IsMeant) -> tuple[int, int] | None:
        """The weightiest phrase that begins here and is meant: its number and its end."""
        slotted = self._slotted(text, at, is_meant) if self._slots else None
        led = self._led(text, at, is_meant)
        if slotted is None or led is None:
            return slotted or led
        return min(slotted, led)

    def _led(self, text: str, at: int, is_meant: IsMeant) -> tuple[int, int] | None:
        found = self._any_lead.match(text, at)
        if found is None:
            return None
        assert found.lastindex is not None
        rank = found.lastindex - 1
        end = self._finish(self._leads[rank], text, found.end(), is_meant)
        if end is not None:
            return self._leads[rank], end
        for number in self._leads[rank + 1 :]:  # the first was not meant, a later one may be
            found = self._re(self._before[number]).match(text, at)
            if found and (end := self._finish(number, text, found.end(), is_meant)) is not None:
                return number, end
        return None

    def _finish(self, number: int, text: str, at: int, is_meant: IsMeant) -> int | None:
        if not self._has_slot[number]:
            return at if is_meant(number) else None
        after = self._re(self._after[number])
        for end in limit_ends(text, at):
            found = after.match(text, end)
            if found and is_meant(number):
                return found.end()
        return None

    def _slotted(self, text: str, at: int, is_meant: IsMeant) -> tuple[int, int] | None:
        for end in limit_ends(text, at):
            found = self._any_slot.match(text, end)
            if found is None:
                continue
            assert found.lastindex is not None
            number = self._slots[found.lastindex - 1]
            if is_meant(number):
                return number, found.end()
        return None

    def _re(self, source: str) -> re.Pattern[str]:
        if source not in self._compiled:
            self._compiled[source] = re.compile(source, re.IGNORECASE)
        return self._compiled[source]


def _joined(sources: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"({source})" for source in sources) or r"(?!)", re.IGNORECASE)


def limit_ends(text: str, at: int) -> Iterator[int]:
    """Where the name of a limit that begins here may end, the longest first."""
    ends: list[int] = []
    last = at
    for count, word in enumerate(_WORD.finditer(text, at, at + NAME_CHARS_MAX)):
        start = word.start()
        gap = text[last:start]
        if gap and not (_GAP if count else _BLANK).issuperset(gap):
            break
        token = word[0].rstrip(".'-/")
        last = start + len(token)
        if _WHAT.fullmatch(token):
            ends.append(last)
        elif not _may_name(token):
            break
        if count >= WORDS_MAX or (len(token) < len(word[0]) and text[last] == "."):
            break
    return reversed(ends)


def _may_name(token: str) -> bool:
    """Words that products use, names, numbers with what they count, models."""
    lower = token.lower()
    if lower.removesuffix("'s") in _WHICH:
        return True
    if token[0].isupper():
        return lower not in _NO_NAMES
    if _DIGIT.search(token):
        return _STATUS.fullmatch(token) is None
    return "-" in lower and all(part in _WHICH for part in lower.split("-"))
