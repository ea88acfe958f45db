"""German."""

from __future__ import annotations

from segue.dialects.limits.wording.language import Language

GERMAN = Language(
    "de",
    letters="[äöüß]",
    what=r"\w*limits?\b|\w*kontingents?\b|\w*grenze|\w*guthaben",
    over="erreicht|überschritten|aufgebraucht|erschöpft|verbraucht|ausgeschöpft",
    pieces={
        "rate_limit": r"\bzu viele anfragen\b",
        "overloaded": r"\b(?:server|dienst|modell) (?:ist )?(?:derzeit |zurzeit )?überlastet",
        "auth": r"\b(?:anmeldung|token|sitzung) (?:ist )?abgelaufen\b|\bnicht angemeldet\b",
        "network": r"\bverbindung (?:fehlgeschlagen|abgelehnt|unterbrochen)",
    },
    windows={
        "weekly_limit": r"wöchentlich|\bwoche\b|\bwochen\w*(?:limit|kontingent)",
        "session_limit": r"\bsitzung\w*|\b\d+[- ]stunden",
        "daily_quota": r"täglich|\bheute\b|\btages\w*",
        "billing": r"monatlich|\bmonats\w*",
        "rate_limit": r"\banfragelimit|\bratenlimit|pro minute",
    },
    never=(
        r"\b(?:wenn|falls|sobald|sofern|damit|weil|ob|dass|nachdem|bevor|kann|könnte|können"
        r"|wird bald|würde)\b"
        r"|^\W*(?:ist|sind|stößt)\b|\b(?:war|waren|wurde)\b.{0,40}\b(?:erreicht|aufgebraucht|überschritten)"
        r"|(?:erreicht|aufgebraucht|überschritten) (?:war|waren|wurde|heißt|haben)\b"
        r"|inzwischen|zurückgesetzt ist"
        r"|\bfast (?:erreicht|aufgebraucht)|\bbald\b|\bnicht (?:mehr )?\w*(?:erreicht"
        r"|überschritten)"
        r"|\b\d{1,2} ?% (?:verbraucht|genutzt|übrig)|\bin etwa\b"
    ),
    report=(
        r"\b(?:ich|wir|test\w*|dialog\w*|banner|log|funktion|migration|schema|zeilen?|zeichen|speicher|server"
        r"|platten\w*|demodaten|testdaten|zustände?|behoben|fertig|erledigt|titel|bildschirmfoto|sandbox\w*"
        r"|endpunkt|dashboard|kurz)\b|[„“”\"]|☐|☒|☑|\[[ x✓~]\]"
    ),
    beside=(
        r"sie|ihr\w*|du|dein\w*|das|der|die|des|dem|den|ein\w*|ist|sind|wurde|haben|hast|hat|wird|werden|und|oder|für"
        r"|mit|bitte|versuch\w*|warten?|wieder|erneut|ab|um|am|im|in|bis|nach|uhr|morgen|möglich|verfügbar|neu\w*|anfragen?"
        r"|nutzung\w*|tarif\w*|abo|konto\w*|modell\w*|upgrade\w*|zurück\w*|setz\w*|stund\w*|minut\w*|sekund\w*|tag\w*"
        r"|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|januar|februar|märz|april|mai|juni|juli|august"
        r"|september|oktober|november|dezember|fehler|api|code|limit\w*|auf\w*|noch|es|später|mez|mesz|utc|lauf\w*|diese\w*"
    ),
)
