"""Languages of which only the commonest words are known: Italian, Dutch, Polish, Turkish, …

Their messages count where the program itself speaks.
"""

from __future__ import annotations

from segue.dialects.limits.wording.language import Language


def _brief(code: str, letters: str, what: str, over: str, never: str, rate: str = "") -> Language:
    pieces = {"rate_limit": rate} if rate else {}
    return Language(
        code,
        letters=letters,
        what=what,
        over=over,
        never=never,
        report=r"[«»“”„\"]|☐|☒|☑",
        beside=r"\w{1,3}|\w+",
        pieces=pieces,
        windows={},
    )


MORE = (
    _brief(
        "it", "[àèéìòù]", r"limit[ei]|quota|crediti?", "raggiunt[oai]|superat[oai]|esaurit[oai]",
        r"\b(?:se|quando|quasi)\b",
    ),
    _brief("nl", "[ëï]", r"\w*limiet|quotum|tegoed", "bereikt|overschreden|opgebruikt",
           r"\b(?:als|wanneer|bijna)\b"),
    _brief("pl", "[ąćęłńóśźż]", r"limit\w*", "osiągnięt|przekroczon|wyczerpan",
           r"\b(?:jeśli|gdy|prawie)\b"),
    _brief("tr", "[çğışöü]", r"limit\w*|kota\w*", "ulaşt|aşıldı|doldu|tükendi", r"\b(?:eğer)\b"),
    _brief("ru", "[а-яё]", r"лимит\w*|квот\w*|кредит\w*",
           "достиг|исчерпа|превыс|превышен|закончил", r"\b(?:если|когда|почти)\b",
           "слишком много запросов"),
    _brief("pt", "[ãõçáéíóú]", "limites?|cota|cr[eé]ditos?|saldo",
           r"atingi(?:u|d[oa])|excedid[oa]|esgotad[oa]s?|acab\w+", r"\b(?:se|quando|quase)\b",
           r"\bmuitas solicitações\b"),
)  # fmt: skip
