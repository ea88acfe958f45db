"""Languages of which only the commonest words are known."""

from __future__ import annotations

from segue.dialects.limits.wording.more_languages import MORE


def test_each_has_words_for_what_is_over() -> None:
    """A table without rows would never tell anything."""
    assert all(language.rows for language in MORE)
    assert {"it", "nl", "pl", "tr", "ru", "pt"} == {language.code for language in MORE}
