"""Which limit a message means: by its code, by the words of the limit, by the brand's habit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta

from segue.dialects.limits.lazy_regex import Clue, Expression
from segue.dialects.limits.wording import languages

SESSION, WEEKLY, DAILY, RATE = "session_limit", "weekly_limit", "daily_quota", "rate_limit"
OVERLOADED, CONTEXT, BILLING, AUTH = "overloaded", "context_limit", "billing", "auth"
NETWORK, UNKNOWN = "network", "unknown"
WAITED_FOR = frozenset({SESSION, WEEKLY, DAILY, RATE, OVERLOADED, NETWORK})

A_DAY = timedelta(hours=26)  # what is further away than this is no window of hours

# What the words next to the limit say, the most telling first.
_OWN = (
    (OVERLOADED, Clue("server capacity|server-side", r"\bserver capacity\b|\bserver-side issue")),
    (
        CONTEXT,
        Clue(
            "context|token|prompt|上下文|컨텍스트|コンテキスト",
            "上下文|컨텍스트|コンテキスト",
            r"\bcontext\b|\b(?:session|model(?:'s)?) token limit\b|\bprompt (?:is )?too\b"
            r"|\btoken count\b|prompt_tokens|\bmax(?:imum)? (?:prompt|input) (?:tokens|length"
            r"|size)",
            r"(?<!\w )\btoken limit (?:reached|exceeded)",
        ),
    ),
    (
        BILLING,
        Clue.any_of(
            ("spend", r"\bspend(?:ing)?\b"),
            ("credit", r"\bcredits?\b"),
            ("budget|balance", r"\bbudget\b|\bbalance\b"),
            ("funds|billing|payment", r"\bfunds\b|\bbilling\b|\bpayment\b"),
            ("cost|overage|trial", r"\bcost\b|\boverages?\b|\btrial\b"),
            ("key limit|on-demand", r"\b(?:api )?key limit\b|\bon-demand (?:usage|spend|limit)"),
            ("premium", r"\bpremium requests?\b"),
            ("크레딧|결제|잔액|クレジット|余额", "크레딧|결제|잔액|クレジット|余额"),
        ),
    ),
)
# These count wherever in the message they stand.
_WINDOWS = (
    (
        RATE,
        Clue(
            "per m|per-m|per_m|permin|per s|per-s|per_s|persec|rpm|tpm|/min|concurren|burst",
            r"per[-_ ]?min(?:ute)?s?(?![a-z])|per[-_ ]?sec(?:ond)?(?![a-z])|\b[io]?[tr]pm\b"
            r"|\btokens per min|\brequests per min|/min\b|\bconcurren\w+|\bburst\b",
        ),
    ),
    (
        WEEKLY,
        Clue(
            "week|7-d|7 d|7d|seven",
            r"\bweek(?:s|ly)?\b|\b(?:7|seven)[- ]?days?\b",
        ),
    ),
    (
        SESSION,
        Clue(
            "session|5h|5 h|5-h|five|hourly|hour l|hour q|hour w|hour u|hour m",
            r"(?<!daily )\bsession\b|\b(?:5|five)[- ]?h(?:ours?|rs?)?\b|\bhourly\b"
            r"|\b\d{1,2}[- ]hours? (?:\w+ )?(?:limit|quota|window)",
        ),
    ),
    (
        DAILY,
        Clue(
            "daily|free |per day|per-day|per_day|perday|s day|e day|today|24h|24-h|24 h|rpd|tpd",
            r"\bdaily\b|\bfree (?:\w+ )?(?:usage|tier|quota|requests?|allowance)\b"
            r"|per[-_ ]?day(?![a-z])|\bfor (?:the|this) day\b"
            r"|(?<!resets )(?<!reset )(?<!again )(?<!later )(?<!m )(?<!\d )\btoday\b"
            r"|(?<!more than )\b24[- ]?h(?:ours?)?\b|\b[tr]pd\b",
        ),
    ),
    (
        BILLING,
        Clue(
            "month|billing",
            r"\bmonth(?:s|ly)?\b|\bbilling (?:cycle|period)\b",
        ),
    ),
    (
        RATE,
        Clue(
            "rate|throttl|too",
            r"\brate[- ]?limit|\brequest rate\b|\bthrottl\w+|\btoo many\b",
        ),
    ),
    (
        WEEKLY,
        Clue(
            "opus|sonnet|haiku|fable",
            r"\b(?:opus|sonnet|haiku|fable) (?:\w+ )?(?:limit|quota|usage)",
        ),
    ),
)
QUOTA_BRANDS = frozenset({"gemini", "qwen"})
_USUAL = {"gemini": DAILY, "qwen": DAILY, "copilot": RATE, "aider": RATE}

_STATUS = Expression(
    r"(?:\b(?:error|status|code|http|rejected|failed|failure|exception|response|returned"
    r"|got)\b[^\d\n]{0,24}|^\W{0,6}|\()"
    r"(?P<status>[45]\d\d)\b(?![.,]?\d|\s*(?:tokens|lines|ms|files))",
    re.IGNORECASE,
)
_CODES = (
    (SESSION, Clue("ratelimittype", r'"status":\s?"rejected"[^}]*"rateLimitType":\s?"five_hour"')),
    (WEEKLY, Clue("ratelimittype", r'"status":\s?"rejected"[^}]*"rateLimitType":\s?"seven_day')),
    (
        CONTEXT,
        Clue(
            "context|prompt|request|string",
            r"context_length_exceeded|prompt_too_long|ContextOverflowError|context_window_exceeded"
            r"|ContextWindowExceededError|request_too_large|string_above_max_length",
        ),
    ),
    (
        BILLING,
        Clue(
            "insufficient|billing|credit|payment|spend",
            r"insufficient_quota|billing_error|billing_hard_limit|credit_balance|payment_required"
            r"|spend_limit_reached",
        ),
    ),
    (
        AUTH,
        Clue(
            "authent|permission|api|invalid|token|oauth",
            r"authentication_error|authentication_failed|permission_error|invalid_api_key"
            r"|API_KEY_INVALID|UNAUTHENTICATED|PERMISSION_DENIED|AuthenticationError|invalid_grant"
            r"|token_expired|oauth_error",
        ),
    ),
    (
        OVERLOADED,
        Clue(
            "overloaded|server|api|unavailable|capacity",
            r"overloaded_error|overloaded\b|server_error|\"api_error\\*\"|\bUNAVAILABLE\b"
            r"|InternalServerError|ServiceUnavailable(?:Error|Exception)|MODEL_CAPACITY",
        ),
    ),
    (DAILY, Clue("perday|free", r"PerDay\w*|free_tier_requests")),
    (
        RATE,
        Clue(
            "rate|exhausted|toomany|throttling|usagelimit",
            r"rate_limit_error|rate_limit_exceeded|rateLimitExceeded|RESOURCE_EXHAUSTED"
            r"|RateLimit\w*(?:Error|Exception)"
            r"|TooManyRequests|ThrottlingException|rate_limited|UsageLimitError|ResourceExhausted",
        ),
    ),
    (
        NETWORK,
        Clue(
            "econn|enotfound|etimedout|eai|connect|timeout|und",
            r"\bECONN\w+|\bENOTFOUND\b|ETIMEDOUT|EAI_AGAIN|APIConnectionError|ConnectionError"
            r"|APITimeoutError|ConnectTimeout|ReadTimeout|UND_ERR\w*",
        ),
    ),
)


def by_code(text: str) -> str | None:
    """The kind that an error's code or HTTP status tells."""
    named = _first(_CODES, text)
    if named is not None:
        return named
    found = _STATUS.search(text)
    return by_status(int(found["status"])) if found else None


def by_status(status: int) -> str | None:
    match status:
        case 401 | 403:
            return AUTH
        case 402:
            return BILLING
        case 408:
            return NETWORK
        case 413:
            return CONTEXT
        case 429:
            return RATE
    return OVERLOADED if 500 <= status <= 599 else None


def by_words(text: str) -> str | None:
    """What the limit's own words name: a resource, or a window."""
    return _first(_OWN, text) or by_window(text)


def waited_for(text: str) -> str:
    """What a text that is known to announce a wait names, by code or window; else unknown."""
    named = by_code(text) or by_window(text)
    return named if named in WAITED_FOR else UNKNOWN


def by_window(text: str) -> str | None:
    """The window that the words name."""
    named = _first(_WINDOWS, text)
    if named is None and languages.may_be_foreign(text):
        return languages.window_in(text)
    return named


def _first(table: Iterable[tuple[str, Clue]], text: str) -> str | None:
    lower = text.lower()
    for kind, is_in in table:
        if is_in(text, lower):
            return kind
    return None


def by_habit(brand: str, resets_at: datetime | None, now: datetime) -> str:
    """What a brand means by a limit that it does not name."""
    is_far = resets_at is not None and resets_at - now > A_DAY
    return WEEKLY if is_far else _USUAL.get(brand, SESSION)
