"""The text behind a task's mark: its id, its title, and the fields written into the line."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import NamedTuple

from segue.plans import misspelt
from segue.plans.fields import BLOCKED_BY, FILES, STEPS, field_name

SLUG_CHARS_MAX = 40
INLINE_FIELDS_MAX = 50

# A letter of any script first, parts joined by - _ or ., a number at the end: T-003, T039,
# API-AUTH-01, 작업-1, T-003a.
_ID = r"(?>[^\W\d_][^\W_]*(?:[-_.][^\W_]+)*)"
_HEAD = re.compile(rf"(\*{{1,3}}|_{{1,3}})?(`?)({_ID})\2")
_NUMBERED = re.compile(r"[0-9][A-Za-z]?$")
_SEPARATOR = re.compile(r"\s*[:：]\s*|\s+-+(?:\s+|$)|\s*[–—]+\s*")
_SPECKIT_ID = re.compile(r"T[0-9]{3,}$")
_SPECKIT_TAG = re.compile(r"\[(P|US[0-9]+)\]\s*")
_IN_PARENTHESES = re.compile(r"\(([^()\s,]+(?:,\s*[^()\s,]+)*)\)")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")

# Without a separator, bold or back-ticks, only an upper-case word can be an id
# ("PROJ-12 fix the login"), and these words begin a sentence ("UTF-8 everywhere").
_BARE_ID = re.compile(r"(?:[^\W_a-z]|[-_.])+[a-z]?$")
_BARE_WORDS = frozenset({"t", "task", "tsk"})
_TERMS = frozenset({"UTF", "ISO", "SHA", "MD", "AES", "RFC", "HTTP", "TLS", "GPT", "COVID", "IEEE"})

_INLINE = re.compile(r"[(\[（]\s*([^\W\d_][^:：()\[\]（）]{0,31}?)\s*[:：]")
_DEPENDS_ON = re.compile(rf"[(\[]\s*depends[ -]on\s+`?({_ID})([^()\[\]]*)[)\]]", re.IGNORECASE)
_CLOSING = {"(": ")", "[": "]", "（": "）"}
_WORD = re.compile(r"[^\W_]+")


class Head(NamedTuple):
    """What stands in the task's own line. `id` is None where none is written."""

    id: str | None
    title: str
    fields: tuple[tuple[str, str], ...] = ()
    is_speckit: bool = False
    is_parallel: bool = False
    misspelt: tuple[tuple[str, str], ...] = ()  # as written, and as it was probably meant


def parse_head(text: str) -> Head:
    text = text.strip()
    fields: list[tuple[str, str]] = []
    wrong: list[tuple[str, str]] = []
    if "(" in text or "[" in text or "（" in text:
        text = _take_inline(text, fields, wrong)
    head = _head(text, fields)
    return head._replace(misspelt=tuple(wrong)) if wrong else head


def _head(text: str, fields: list[tuple[str, str]]) -> Head:
    match = _HEAD.match(text)
    if match is not None and is_id(match[3]):
        rest = _rest_behind_id(match, text[match.end() :])
        if rest is not None:
            return _with_id(match[3], rest, fields)
    return Head(None, _unbolded(text), tuple(fields))


def is_id(word: str) -> bool:
    """Does the word end as ids do: in a number, with one letter behind it at most?"""
    return _NUMBERED.search(word) is not None


class _Rest(NamedTuple):
    title: str
    is_separated: bool


def _rest_behind_id(match: re.Match[str], after: str) -> _Rest | None:
    """The title behind an id; None if the word before it is no id but part of a sentence."""
    word, bold = match[3], match[1] or ""
    is_formatted = bool(match[2])
    if bold and after.startswith(bold):
        after, bold, is_formatted = after[len(bold) :], "", True
    separator = _SEPARATOR.match(after)
    if separator is not None:
        after = after[separator.end() :]
        if bold and after.startswith(bold):
            return _Rest(after[len(bold) :].strip(), True)
    elif not (is_formatted or _is_bare_id(word)) or not _may_stand_alone(word, after):
        return None
    if bold:  # the whole title is bold, or its beginning
        after = after.replace(bold, "", 1)
    return _Rest(_unbolded(after), separator is not None)


def _is_bare_id(word: str) -> bool:
    first = re.split(r"[-_.]", word, maxsplit=1)[0]
    if first in _TERMS:
        return False
    return _BARE_ID.match(word) is not None or first.lower() in _BARE_WORDS


def _may_stand_alone(word: str, after: str) -> bool:
    """Can this id do without `:`? One with a hyphen can, one of spec-kit's, or one all alone."""
    if not after.strip():
        return True
    return after[0].isspace() and ("-" in word or "_" in word or bool(_SPECKIT_ID.match(word)))


def _with_id(word: str, rest: _Rest, fields: list[tuple[str, str]]) -> Head:
    title = rest.title
    if rest.is_separated or not title or not _SPECKIT_ID.match(word):
        return Head(word, title or word, tuple(fields))
    is_parallel, at = False, 0
    while tag := _SPECKIT_TAG.match(title, at):
        is_parallel = is_parallel or tag[1] == "P"
        at = tag.end()
    title = title[at:]
    for match in _IN_PARENTHESES.finditer(title):
        tokens = [token.strip("`") for token in re.split(r",\s*", match[1])]
        if all(_is_path(token) for token in tokens):
            fields.extend((FILES, f"`{token}`") for token in tokens)
    return Head(word, title.strip() or word, tuple(fields), True, is_parallel)


def _is_path(token: str) -> bool:
    if not token or "://" in token or "`" in token:
        return False
    return "/" in token or _EXTENSION.search(token) is not None


def _unbolded(title: str) -> str:
    title = title.strip()
    for bold in ("**", "__"):
        inner = title[2:-2]
        if len(title) > 4 and title.startswith(bold) and title.endswith(bold) and bold not in inner:
            return inner.strip()
    return title


def _take_inline(text: str, fields: list[tuple[str, str]], wrong: list[tuple[str, str]]) -> str:
    """The text without its `(key: value)` and `[key: value]`, which are added to `fields`; keys
    that are nearly a field's are added to `wrong`."""
    at = 0
    for _attempt in range(INLINE_FIELDS_MAX):
        match = _INLINE.search(text, at)
        if match is None:
            break
        at = match.start() + 1
        key = match[1].strip("*_`")
        name = field_name(key)
        if name == STEPS or text.count("`", 0, match.start()) % 2:
            continue
        end = _closing_at(text, match.start())
        if name is None:
            meant = misspelt.meant(key, text[match.end() : end].strip()) if end > 0 else None
            wrong += [(key, meant)] if meant is not None else []
            continue
        if end > 0:
            fields.append((name, text[match.end() : end].strip(" \t*")))
            text, at = _cut(text, match.start(), end + 1), match.start()
    depends = _DEPENDS_ON.search(text)
    if depends is not None and is_id(depends[1]):
        fields.append((BLOCKED_BY, depends[1] + depends[2]))
        text = _cut(text, depends.start(), depends.end())
    return text


def _cut(text: str, start: int, end: int) -> str:
    before, after = text[:start].rstrip(), text[end:].lstrip()
    return f"{before} {after}" if before and after else before + after


def _closing_at(text: str, start: int) -> int:
    """Where the bracket that opens at `start` is closed; -1 if it is not. Code spans are passed."""
    opening = text[start]
    closing = _CLOSING[opening]
    depth = 0
    at = start
    while at < len(text):
        char = text[at]
        if char == "`":
            at = max(at, text.find("`", at + 1))
        elif char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return -1


def slug(title: str) -> str:
    """The id of a task that has none: the same as long as its title is."""
    words = "-".join(_WORD.findall(unicodedata.normalize("NFC", title).lower()))
    if words and len(words) <= SLUG_CHARS_MAX:
        return words
    digest = hashlib.sha1(title.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:6]
    return f"{words[:32].rstrip('-') or 'task'}-{digest}"
