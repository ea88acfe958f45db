"""Segue's own questions in the language of whoever looks; an agent's words as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from segue import i18n
from segue.engine.question_texts import BREAKER, BUDGET, DESIGN, ESCALATED, PERMISSION, in_words

ABOUT: dict[str, dict[str, Any]] = {
    DESIGN: {"path": "docs/design/chat.md"},
    ESCALATED: {"checkpoint": "cp-1", "tried": 3, "error": "it is not there"},
    BREAKER: {"chapter": 4, "cause": "flat dialogue"},
    BUDGET: {"budget": 20.0, "cost": 20.5},
    PERMISSION: {"tool": "Bash", "what": "make", "input": {"command": "make"}},
}


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    i18n.use("en")


def is_korean(text: str) -> bool:
    return any("가" <= letter <= "힣" for letter in text)


@pytest.mark.parametrize("category", ABOUT)
def test_it_is_asked_in_the_language_of_whoever_looks(category: str) -> None:
    """Whatever language it was stored in, and with what it is about."""
    for language in i18n.LANGUAGES:
        is_theirs = language == "ko"
        i18n.use(language)
        text = in_words(category, ABOUT[category], "stored")
        assert is_korean(text) is is_theirs
        told = [value for value in ABOUT[category].values() if isinstance(value, str)]
        assert all(value in text for value in told)


@pytest.mark.parametrize(
    ("category", "about"),
    [("", {}), ("taste", {"path": "x"}), *((category, {}) for category in ABOUT)],
)
def test_other_questions_stay_as_they_were_asked(category: str, about: dict[str, Any]) -> None:
    """An agent's, whatever category it names; and those that an older Segue has stored."""
    assert in_words(category, about, "Which one?") == "Which one?"
