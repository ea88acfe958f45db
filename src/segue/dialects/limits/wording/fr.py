"""French."""

from __future__ import annotations

from segue.dialects.limits.wording.language import Language

FRENCH = Language(
    "fr",
    letters="[àâçéèêëîïôûùœ]",
    what="limites?|quotas?|cr[eé]dits?|plafond|solde",
    over="atteinte?s?|dépassée?s?|épuisée?s?|insuffisante?s?",
    pieces={
        "rate_limit": r"\btrop de requêtes\b",
        "overloaded": r"\b(?:serveurs?|service|modèle) .{0,10}surchargé",
        "auth": r"\b(?:session|jeton|clé) (?:a )?expirée?",
        "network": r"\bconnexion (?:refusée|perdue|échouée)",
    },
    windows={
        "weekly_limit": r"hebdo|\bsemaine\b",
        "session_limit": r"\bsession\b",
        "daily_quota": r"quotidien|journali|\bdu jour\b|aujourd'hui",
        "billing": "mensuel",
        "rate_limit": r"par minute|\brequêtes\b",
    },
    never=(
        r"\b(?:si|quand|lorsque?|une fois|dès que|jusqu'à ce|parce|car|puisque|peut|peuvent"
        r"|pourrait|presque|bientôt"
        r"|atteindrez|dépassaient|étaient?|était)\b|\ba été (?:atteinte?|dépassée?)"
        r"|\bont été\b|\bdepuis\b"
        r"|\ba atteint ses\b|\b\d{1,2} ?% (?:utilisé|restant)"
    ),
    report=(
        r"\b(?:tests?|fenêtre|fonction|bandeau|journal|tableau|page|titre|schéma|lignes?|caractères|mémoire|disque"
        r"|serveur|données|états|corrigé|terminé|fait|migration|capture|écran|bref|bac|horloge|file|offre)\b"
        r"|\bj'|\bje\b|\bnous\b|[«»“”\"]|☐|☒|☑|\[[ x✓~]\]"
    ),
    beside=(
        r"vous|avez|votre|vos|tu|as|ton|la|le|les|l'|d'|un|une|de|des|du|à|au|aux|en|pour|par|et|ou|est|sont|ce|cette|d"
        r"|utilis\w*|réinitialis\w*|réessay\w*|essay\w*|attend\w*|patient\w*|renouvel\w*|nouveau|nouvelle|plus|tard|demain"
        r"|aujourd\w*|heure\w*|minute\w*|seconde\w*|jour\w*|semaine\w*|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche"
        r"|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre|dans|avant|après|disponib\w*"
        r"|forfait|abonnement|compte|modèle\w*|mettre|mise|niveau|veuillez|erreur|jusqu\w*|requêtes?|être|sera|h|min|prochain\w*"
    ),
)
