"""The languages other than English, and which of them says that there is a limit."""

from __future__ import annotations

from typing import NamedTuple

from segue.dialects.limits.lazy_regex import Expression
from segue.dialects.limits.wording.de import GERMAN
from segue.dialects.limits.wording.es import SPANISH
from segue.dialects.limits.wording.fr import FRENCH
from segue.dialects.limits.wording.ja import JAPANESE
from segue.dialects.limits.wording.ko import KOREAN
from segue.dialects.limits.wording.language import HEAD_CHARS, QUOTES, sentence_at
from segue.dialects.limits.wording.more_languages import MORE
from segue.dialects.limits.wording.words import has_any
from segue.dialects.limits.wording.zh import CHINESE

LANGUAGES = (KOREAN, JAPANESE, CHINESE, GERMAN, SPANISH, FRENCH, *MORE)
UNKNOWN_SHARE_MAX = 0.25  # of a message's words may be in no table, where the agent may speak

_EASTERN = Expression("[ぁ-ヿ一-鿿가-힣]")
# One of these is in any such message that has plain letters only.
_FOREIGN_STEMS = (
    *("erreicht", "aufgebraucht", "verbraucht", "alcanzad", "excedid", "superad", "agotad"),
    *("attein", "atingi", "esgotad", "acab", "viele anfragen", "demasiadas", "servidor"),
    *("raggiunt", "superat", "esaurit", "bereikt", "overschreden", "opgebruikt", "wyczerpan"),
    *("przekroczon", "insuficient", "insuffisant"),
)
_LANGUAGE = {language.code: language for language in LANGUAGES}


class Foreign(NamedTuple):
    """The words of a limit in another language: by which row, from where to where."""

    rule: str
    kind: str
    start: int
    end: int
    code: str


def foreign_in(line: str) -> Foreign | None:
    """What a line says about a limit in another language; None where it is only a case of one."""
    head = line[:HEAD_CHARS]
    if not may_be_foreign(head):
        return None
    for language in LANGUAGES:
        for rule, kind, said in language.rows:
            for found in said.finditer(head):
                if not language.never.search(sentence_at(line, found.start())):
                    return Foreign(rule, kind, found.start(), found.end(), language.code)
    return None


def is_case_in(line: str) -> bool:
    """Whether a line has the words of a limit and what makes them only a case of one."""
    head = line[:HEAD_CHARS]
    return may_be_foreign(head) and any(
        said.search(head) for language in LANGUAGES for _rule, _kind, said in language.rows
    )


def is_all_said(code: str, text: str, start: int) -> bool:
    """Whether a text is a message and nothing else: no report, quote or explanation."""
    language = _LANGUAGE[code]
    if language.report.search(text) or QUOTES.search(text[: start + 1]):
        return False
    return language.unknown_share(text) <= UNKNOWN_SHARE_MAX


def window_in(text: str) -> str | None:
    """The kind that words of another language name."""
    for language in LANGUAGES:
        for kind, named in language.window_rows:
            if named.search(text):
                return kind
    return None


def may_be_foreign(text: str) -> bool:
    """Whether a line may be in another language than English."""
    if not text.isascii() and any(_is_foreign(char) for char in set(text)):
        return True
    return has_any(text.lower(), _FOREIGN_STEMS)


def _is_foreign(char: str) -> bool:
    """A letter with an accent, or of another alphabet."""
    if char < "À":
        return False
    return ("À" <= char <= "ž" and char not in "×÷") or "а" <= char <= "я" or is_eastern(char)


def is_eastern(char: str) -> bool:
    """A letter of Korean, Japanese or Chinese."""
    return "ぁ" <= char <= "ヿ" or "一" <= char <= "鿿" or "가" <= char <= "힣"


def eastern_in(text: str) -> int:
    """How many of its letters are of these."""
    return len(_EASTERN.findall(text))
