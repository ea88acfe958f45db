"""The language of one answer: the person's own choice, else what their browser asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from segue import i18n
from segue.i18n import LANGUAGES, Language

COOKIE = "segue_lang"
CHOICES_MAX = 20


def wanted(cookies: Mapping[str, str], accept: str) -> Language:
    """The cookie, then the header in its order, then the language of the server."""
    chosen = known(cookies.get(COOKIE, ""))
    return chosen or _accepted(accept) or i18n.language()


def known(name: str) -> Language | None:
    for language in LANGUAGES:
        if name == language:
            return language
    return None


def _accepted(header: str) -> Language | None:
    found: list[tuple[float, int, Language]] = []
    for place, part in enumerate(header.split(",")[:CHOICES_MAX]):
        name, _semicolon, weight = part.strip().partition(";")
        language = known(name.partition("-")[0].strip().lower())
        share = _weight(weight)
        if language and share > 0:
            found.append((-share, place, language))
    return min(found)[2] if found else None


def _weight(text: str) -> float:
    name, _equals, value = text.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    """Speak it until the end of the block, which must not wait for anything in between.

    Only looking is done in it: prompts for agents are in the language of the server.
    """
    before = i18n.language()
    i18n.use(language)
    try:
        yield
    finally:
        i18n.use(before)
