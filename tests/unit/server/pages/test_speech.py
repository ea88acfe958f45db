"""The language of one answer."""

from __future__ import annotations

import pytest

from segue import i18n
from segue.i18n import Language
from segue.server.pages import speech
from segue.server.pages.speech import known, speaking, wanted


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("KO-kr", "ko"),
        ("fr;q=1.0, ko; q=0.3", "ko"),
        ("en;q=0.3, ko;q=0.3", "en"),  # equal weights: the first
        ("ko;q=0", "en"),
        ("ko;q=nan", "en"),
        ("ko;q=-1", "en"),
        ("*", "en"),
        (", ;q=1,,", "en"),
        ("korean", "en"),
    ],
)
def test_the_browser_is_heard_in_the_order_of_its_weights(header: str, language: str) -> None:
    """What makes no sense counts for nothing; then it is the language of the server."""
    assert wanted({}, header) == language


def test_an_endless_header_is_read_to_a_point() -> None:
    header = ", ".join(["fr"] * speech.CHOICES_MAX + ["ko"])
    assert wanted({}, header) == "en"


def test_the_choice_of_the_person_goes_before_the_browser() -> None:
    assert wanted({speech.COOKIE: "en"}, "ko") == "en"
    assert wanted({speech.COOKIE: "xx"}, "ko") == "ko"


def test_only_languages_with_words_are_known() -> None:
    assert (known("ko"), known("en")) == ("ko", "en")
    assert [known(name) for name in ("KO", "", "de", "../ko")] == [None] * 4


def test_the_language_of_the_server_is_back_after_the_block() -> None:
    """Also if something went wrong in it."""

    def fail(language: Language) -> None:
        with speaking(language):
            assert i18n.language() == language
            raise LookupError

    for language in i18n.LANGUAGES:
        with pytest.raises(LookupError):
            fail(language)
        assert i18n.language() == "en"
