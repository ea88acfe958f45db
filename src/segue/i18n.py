"""What people read, in their language.

Texts are written in English in the code, wrapped in `_()`, and looked up in the
catalogue of the language in use. The order is `--lang`, `SEGUE_LANG`, the locale;
English where none of them fits. Nothing is loaded while English is spoken.
"""

from __future__ import annotations

import gettext
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

DOMAIN = "segue"
LOCALE_DIR = Path(__file__).parent / "locale"
Language = Literal["en", "ko"]
LANGUAGES: tuple[Language, ...] = ("en", "ko")

_in_use: gettext.NullTranslations = gettext.NullTranslations()
_language: Language = "en"


def choose(option: str | None, environ: Mapping[str, str]) -> Language:
    """The language to speak: option, SEGUE_LANG, locale; English where none fits."""
    wanted = [option, environ.get("SEGUE_LANG")]
    locale = next(
        (environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), None
    )
    for choice in [*wanted, locale]:
        name = (choice or "").replace("-", "_").split("_")[0].split(".")[0].lower()
        for known in LANGUAGES:
            if name == known:
                return known
    return "en"


def use(language: Language) -> None:
    """Speak this language from now on, in this process."""
    global _in_use, _language  # noqa: PLW0603 - a process speaks one language at a time
    _language = language
    if language == "en":
        _in_use = gettext.NullTranslations()
    else:
        _in_use = gettext.translation(DOMAIN, LOCALE_DIR, languages=[language])


def language() -> Language:
    """The language in use."""
    return _language


def _(text: str) -> str:
    return _in_use.gettext(text)


def ngettext(one: str, many: str, n: int) -> str:
    return _in_use.ngettext(one, many, n)


def N_(text: str) -> str:  # noqa: N802 - the name that gettext users know
    """Marks a text that is looked up later, when it is shown."""
    return text
