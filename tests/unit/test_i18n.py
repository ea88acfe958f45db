"""Which language is spoken, and whether its texts fit those of the code."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from babel.messages.pofile import read_po

from segue import i18n

FIELD = re.compile(r"\{[^{}]*\}")


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    i18n.use("en")


@pytest.mark.parametrize(
    ("option", "environ", "language"),
    [
        ("ko", {"SEGUE_LANG": "en", "LANG": "en_US.UTF-8"}, "ko"),
        ("en", {"SEGUE_LANG": "ko", "LANG": "ko_KR.UTF-8"}, "en"),
        (None, {"SEGUE_LANG": "ko", "LANG": "en_US.UTF-8"}, "ko"),
        (None, {"SEGUE_LANG": "en", "LC_ALL": "ko_KR.UTF-8"}, "en"),
        (None, {"LANG": "ko_KR.UTF-8"}, "ko"),
        (None, {"LANG": "ko"}, "ko"),
        (None, {"LANG": "ko_KR@hangul"}, "ko"),
        (None, {"LANG": "ko.UTF-8"}, "ko"),
        (None, {"SEGUE_LANG": "KO-kr"}, "ko"),
        (None, {"LC_ALL": "C.UTF-8", "LANG": "ko_KR.UTF-8"}, "en"),
        (None, {"LC_ALL": "", "LC_MESSAGES": "ko_KR.UTF-8", "LANG": "en_US"}, "ko"),
        (None, {"SEGUE_LANG": "", "LANG": "ko_KR.UTF-8"}, "ko"),
        (None, {"LANG": "fr_FR.UTF-8"}, "en"),
        (None, {"LANG": "kok_IN"}, "en"),
        (None, {"LANG": "POSIX"}, "en"),
        (None, {}, "en"),
    ],
)
def test_the_language_is_the_options_then_segue_lang_then_the_locales(
    option: str | None, environ: dict[str, str], language: str
) -> None:
    """The first wish that fits is taken; English where none does."""
    assert i18n.choose(option, environ) == language


def test_english_is_the_text_in_the_code() -> None:
    """Nothing is looked up in English; plurals follow the number."""
    i18n.use("en")
    assert i18n.language() == "en"
    assert i18n._("whatever text") == "whatever text"
    assert i18n.ngettext("{n} task", "{n} tasks", 1) == "{n} task"
    assert i18n.ngettext("{n} task", "{n} tasks", 2) == "{n} tasks"
    assert i18n.N_("marked") == "marked"


def test_korean_is_spoken_after_it_was_chosen_and_until_another_is() -> None:
    """One process speaks one language at a time."""
    i18n.use("ko")
    assert i18n.language() == "ko"
    assert i18n._("[1] retry - run it again (the count starts anew)").startswith("[1] 재시도")
    assert i18n._("a text that no catalogue has") == "a text that no catalogue has"
    i18n.use("en")
    assert i18n._("[1] retry - run it again (the count starts anew)").startswith("[1] retry")


def test_every_language_has_a_catalogue() -> None:
    """Each language but English can be spoken."""
    for language in i18n.LANGUAGES:
        i18n.use(language)
        assert i18n.language() == language


@pytest.mark.parametrize("language", [known for known in i18n.LANGUAGES if known != "en"])
def test_translated_texts_keep_their_fields(language: str) -> None:
    """Each has the same {fields} as in English: one with another would fail when it is shown."""
    path = i18n.LOCALE_DIR / language / "LC_MESSAGES" / f"{i18n.DOMAIN}.po"
    with path.open("rb") as file:
        catalogue = read_po(file)
    wrong, seen = [], 0
    for message in catalogue:
        if not message.id:
            continue
        ids = [message.id] if isinstance(message.id, str) else list(message.id)
        told = message.string or ""
        texts = [told] if isinstance(told, str) else list(told)
        if not all(texts):
            continue
        seen += 1
        known = {field for text in ids for field in FIELD.findall(text)}
        for text in texts:
            if not set(FIELD.findall(text)) <= known or (
                not message.pluralizable and set(FIELD.findall(text)) != known
            ):
                wrong.append((ids[0], text))
    assert wrong == []
    assert seen
