"""What rows and blocks say about what the agent does: busy, retrying, continuing by itself."""

from __future__ import annotations

import re
from functools import lru_cache

from segue.dialects.limits.lazy_regex import Clue, Expression
from segue.dialects.limits.screen import chrome

_IS_BUSY = Clue(
    "to interrupt|to stop|to cancel|…|...",
    r"\b(?:esc|escape|ctrl[+-]c)(?: again)? to (?:interrupt|stop)\b(?! waiting)",
    r"\((?:esc|ctrl[+-]c) to cancel\b",
    r"\bto cancel, \d+\s?s\)",
    r"^\s*[✻✶✢✽✳✷✸✹✺✼·∙*+◐◑◒◓]\s+\S[^.…]{0,60}(?:…|\.\.\.)",
    r"^\s*(?:\.\.\.|…)\s\w+\s*$",
)
_BRAILLE = Expression(r"\s*[⠀-⣿]\s")

is_retrying = Clue.any_of(
    (
        "retrying",
        r"(?<!before )(?<!when )(?<!without )(?<!try )\bretrying\b"
        r"(?!\s+(?:with(?! (?:exponential )?backoff)|the|from|a|this)\b)",
    ),
    ("trying again", r"(?<!before )\btrying again in \d+ ?s"),
    (
        "retry",
        r"\bwill (?:automatically )?retry\b|\bretry(?: attempt)? \d+\s*(?:/|of)\s*\d+"
        r"|\bauto-?retry",
    ),
    ("attempt", r"\battempt\s*#?\d+\s*(?:/|of|\))"),
    ("backing off", r"\bbacking off\b"),
    ("api_retry", r'"subtype":\s?"api_retry"'),
    ("rate limiting for", r"\brate limiting for \d"),
    (
        "waiting",
        r"\bwaiting (?:for )?\d+\s?(?:s|secs?|seconds|m|mins?|minutes)\b|\bwaiting to re-?connect",
    ),
    ("sleeping", r"\bsleeping (?:for )?\d{1,2}(?:\.\d+)?\s?(?:s|secs?|seconds)\b"),
    ("재시도|再試行|重试", "재시도 중|再試行中|重试中"),
    (
        "retry|trying again|reconnect|attempt|backing|limiting|waiting|sleeping",
        r"\bre-?connecting\b|\bbefore (?:the )?next (?:attempt|try|retry)",
    ),
)
RETRIES = Expression(
    r"\s*(?:(?:Retrying|Reconnecting|Trying again)\b.{0,40}(?:\.\.\.|…|\d)|Retry in \d[\d.]* ?s)"
)
is_resuming = Clue(
    "continu|resum|waiting",
    r"(?<!not )(?<!n't )\b(?:continu|resum)(?:ing|es?)\b[^.]{0,40}?"
    r"\b(?:automatically|shortly|on its own)",
    r"\bautomatically (?:continu|resum)(?:e|es|ing)",
    r"\bwill (?:automatically |auto-?)?(?:continue|resume)\b(?! to be)",
    r"\bwill continue automatically\b",
    r"(?<!-)\bauto-?(?:resum|continu)(?:e|es|ing)\b(?! (?:cancel|off|disabled))",
    r"\bwaiting (?:here )?(?:for|until)\b[^.]{0,60}\b(?:resets?|then continue)",
)
is_cancelled = Clue(
    "cancelled|auto-continue|autocontinue",
    r"\bautomatic continue cancelled\b",
    r"\bauto-?continue (?:is )?(?:off|disabled)",
)
is_lifted = Clue(
    "limit reset|limits reset|limit has|limits have|limit was|limits were|limit is|lifted|restored"
    "|now using|switch|falling|fell|went to|routed|continuing with|downgraded",
    r"\blimits? (?:has |have |was |were |is )?(?:been )?(?:reset|lifted|restored)\b\s*[·.,-]?\s*"
    r"(?:continu|resum|you can)",
    r"(?<!consider )(?<!try )(?<!by )(?<!recommend )(?<!suggest )(?<!or )"
    r"\b(?:now using|(?:automatically )?switched|switching (?:from|to|you|automatically)"
    r"|falling back"
    r"|fell back|went to|re-?routed|continuing with|downgraded)\b",
)

_DONE = Expression(
    r"\s*(?:[✻✶✢✽✳✷✸✹✺✼·*─-]+\s*)?[A-ZÀ-Ý][\wà-ÿ]+ for \d[\dhms. ]*(?:\s*[·•].*)?\s*-*$"
)
_HINT_BEGINS = Expression(
    r"\s*(?:⏵⏵|\?\s+for shortcuts|⎇|~/\S|/\w[\w/.-]*\s*(?:$|\()|tip:|※|💡|✨|\d+ warnings?\b"
    r"|[\w.@-]{1,32}✨\s*$|⎿\s+(?:\w+ )?dialog dismissed)",
    re.IGNORECASE,
)
_IS_HINT = Clue(
    "context left|shift+tab|ctrl| to |for agents|/effort|/help|f2 to view|update|%|ctx|tokens used",
    r"\bcontext left\b|\bshift\+tab\b|\bctrl[+-]\w\b|\b(?:enter|esc|tab) to \w+|\bfor agents\b"
    r"|/effort\b"
    r"|\B/help\b|\bf2 to view\b|\bauto-?update|\bupdate available|\bctx[: ]\s*\d|\btokens? used\b"
    r"|\b\d{1,2}% (?:used|left|context|until)\b",
)
# Where in a program it was, what is in use, what waits to be sent.
_ASIDE = Expression(
    r"\s*(?:location:\s*$|\S+\.rs:\d+\s*$|backtrace omitted\b|at [\w.<>$ ]+ \(\S+:\d+:\d+\)"
    r"|an unexpected critical error occurred|using:? \d+ [\w./-]+ (?:files?|servers?)\b)"
    r"| {2}[❯›] \S",
    re.IGNORECASE,
)
_IS_ENDED = Clue(
    "exit|terminated|ended|stopped|finished|aborted|shutting|bye|return code|killed",
    r"^\s*(?:[\[({<]?\s*(?:info|debug|error|warn(?:ing)?|notice|fatal|system|exit)\b[\])}>:]*\s*)*"
    r"(?:(?:the )?(?:script|process|program|command|job|task|run|agent|worker|step|session|claude"
    r"|codex"
    r"|gemini|opencode|npm err!?|error|make|child)\b.{0,40})?\b(?:exit(?:ed|ing|s)?|terminated"
    r"|ended"
    r"|stopped|finished|aborted|shutting down|bye|goodbye|return code|killed)\b.{0,60}$",
)


@lru_cache(maxsize=512)  # the last rows of a screen are the same again and again
def is_busy(row: str) -> bool:
    """A spinner, or the key that would stop it."""
    return (not row.isascii() and _BRAILLE.match(row) is not None) or _IS_BUSY(row)


def is_hint(row: str) -> bool:
    """A status line or a tip of the program's frame."""
    return _HINT_BEGINS.match(row) is not None or _IS_HINT(row)


def is_aftermath(row: str) -> bool:
    """An exit code, a place in a program: what comes after the last words."""
    return _IS_ENDED(row) or _ASIDE.match(row) is not None


def says_nothing(row: str) -> bool:
    """Nothing about whether the agent continues: how long it took, tasks, tips, an exit code."""
    if chrome.TASKS.match(row) or is_hint(row) or is_aftermath(row):
        return True
    return " for " in row and _DONE.match(row) is not None
