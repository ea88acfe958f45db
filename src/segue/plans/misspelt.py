"""Keys that are nearly those of fields: a task must not lose its check to a typing error.

A key one letter away from a field's (two, if it is long) is taken for a misspelt field. Ordinary
words that happen to be as close, and `retry: 3` for `retries: 3`, count only before a value that
the field could have. Korean keys are compared letter by letter (jamo), not by syllables.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

from segue.i18n import _
from segue.plans.fields import (
    BLOCKED_BY,
    PRIORITY,
    RESUME,
    RETRIES,
    STEPS,
    TIMEOUT,
    BadValue,
    duration_s,
    field_name,
    is_resume_value,
    priority,
    retries,
    shortened,
    spellings,
    split_key,
)

# Words of their own that are one or two letters away from a key.
_WORDS = (
    "agents appends blocked deepens defends demands depend depended descends filed fines "
    "fires fives fixes flies file presume relies replies resumed resumes retire retired retires "
    "retried retrieves rewrites rescue timeouts verily verity versify "
    "검정 과일 대개 서행 선생 선형 시행 실형 실향 의전 타일 파이"
)
_ORDINARY = frozenset(_WORDS.split())
# Further away, and yet what people write for them.
_MEANT = {
    "retry": "retries",
    "dependency": "dependencies",
    "dependence": "dependencies",
    "blocker": "blocked by",
    "blockers": "blocked by",
}
_JOINT = re.compile(r"[\s_-]+")
_WORD = re.compile(r"[^\W\d_][\w-]*(?: [\w-]+){0,2}")
_ID = re.compile(r"[^\W\d_][^\W_]{0,60}[-_.]?[0-9]{1,20}[a-z]?")
_HANGUL_LONG = 10  # letters, from which on two may be wrong
_LATIN_LONG = 7


class Note(NamedTuple):
    """A bullet of a task that begins with a word and a colon, and is no field."""

    line: int
    word: str
    text: str


class _Guess(NamedTuple):
    key: str  # as it should be written
    needs_value: bool  # a word of its own: only its value can tell


def meant(key: str, value: str) -> str | None:
    """The key that was probably meant by one that is no field's; None: it is an ordinary word."""
    guess = _guess(unicodedata.normalize("NFC", " ".join(key.lower().split())))
    if guess is None:
        return None
    name = field_name(guess.key)
    if (guess.needs_value or name == RESUME) and not _fits(name, value.strip("`*_ ")):
        return None
    return guess.key


def in_words(key: str, meant: str) -> tuple[str, str, str]:
    """The error: its code, its message and what to do."""
    message = _("unknown field: `{key}`").format(key=shortened(key))
    hint = _("did you mean `{name}`? If it is not a field, use another word")
    return "unknown_field", message, hint.format(name=meant)


def noted(text: str) -> tuple[str, str] | None:
    """A bullet as (word, text), if it begins as a field would."""
    found = split_key(text)
    if found is None or not _WORD.fullmatch(found[0]):
        return None
    at = max(text.find(":"), text.find("："))
    return None if text[at + 1 : at + 3] == "//" else found


def _fits(name: str | None, value: str) -> bool:
    """Whether a value is so clearly this field's that its key can hardly mean anything else."""
    if name == BLOCKED_BY:
        words = [word for word in re.split(r"[,;、，\s]+", value) if word not in ("", "and", "및")]
        return bool(words) and all(_ID.fullmatch(word.strip("`*[]()")) for word in words)
    if name == RESUME:
        return is_resume_value(value)
    reads: dict[str | None, Callable[[str], object]] = {
        RETRIES: retries, TIMEOUT: duration_s, PRIORITY: priority,
    }  # fmt: skip
    try:
        return name in reads and reads[name](value) is not None
    except BadValue:
        return False


@lru_cache(maxsize=4096)
def _guess(key: str) -> _Guess | None:
    if key in _MEANT:
        return _Guess(_MEANT[key], True)
    own = _letters(key)
    letters = frozenset(own)
    for known in _known(key.isascii()):
        # Each letter that the other lacks needs a change of its own: this spares most distances.
        if len(letters - _letter_set(known)) <= 2 and _is_close(own, _letters(known)):
            return _Guess(known, key in _ORDINARY)
    return None


@cache
def _known(is_ascii: bool) -> list[str]:
    """The keys of one script that can be meant."""
    keys = [key for key in spellings() if field_name(key) != STEPS]
    return [key for key in keys if key.isascii() == is_ascii]


@cache
def _letter_set(known: str) -> frozenset[str]:
    return frozenset(_letters(known))


@lru_cache(maxsize=4096)
def _letters(key: str) -> str:
    return unicodedata.normalize("NFD", _JOINT.sub("", key))


def _is_close(own: str, known: str) -> bool:
    if abs(len(own) - len(known)) > 2 or not own:
        return False
    away = _distance(own, known)
    if not known.isascii():
        return away <= (2 if len(known) >= _HANGUL_LONG else 1)
    begins_alike = own[0] == known[0] or own[:2] == known[1::-1]
    if len(known) >= _LATIN_LONG:
        return away <= (2 if begins_alike else 1)
    if len(known) >= 6:
        return away <= 1
    if len(known) == 5:
        return away <= 1 and begins_alike
    # Three or four letters: other words are everywhere, so only the same letters count.
    return away <= 1 and set(own) == set(known)


def _distance(one: str, other: str) -> int:
    """How many letters must be changed, added, left out or swapped with their neighbour."""
    before: list[int] = []
    above = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and b == one[i - 2]:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, above = above, row
    return above[-1]
