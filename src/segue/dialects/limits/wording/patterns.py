"""What a message that stops an agent looks like: one table, in the order of weight.

The grammar comes first, since wordings drift; what is known of single brands, with the versions
it was seen in, stands here.
"""

from __future__ import annotations

from segue.dialects.limits.wording.pattern import one
from segue.dialects.limits.wording.troubles import CONTEXT, DENIED, LOGINS, SERVERS, WIRES
from segue.dialects.limits.wording.used_up import MONEY, RATE, USAGE, WAITS

BRANDS = (
    # Claude Code 1.0 to 2.1
    one(
        "claude-extra-usage", "", r"(?:you're )?out of extra usage", agents="claude", needs="extra"
    ),
    one(
        "claude-wraps-up",
        "",
        r"usage limit reached · (?:limit resets|continuing|wrapping up)",
        begins="usage",
    ),
    one(
        "claude-messages",
        "session_limit",
        r"you've hit your limit for claude messages",
        needs="messages",
    ),
    # Codex 0.20 to 0.166
    one("codex-retries", "rate_limit", r"exceeded retry limit, last status: 429", needs="status:"),
    one("codex-status", "overloaded", r"exceeded retry limit, last status: 5\d\d", needs="status:"),
    one("codex-capacity", "overloaded", r"selected model is at capacity", begins="selected"),
    # Gemini CLI 0.1 to 0.61 and what is made from it
    one(
        "gemini-quota",
        "daily_quota",
        r"you have exhausted your (?:daily quota|capacity) on this",
        needs="exhausted",
    ),
    one(
        "gemini-resource",
        "rate_limit",
        r"resource (?:has been )?exhausted|resource_exhausted",
        begins="resource",
    ),
    one("gemini-capacity", "overloaded", r"no capacity (?:is )?available", needs="capacity"),
    one(
        "gemini-submit",
        "",
        r"please submit a new query to continue",
        agents="gemini qwen",
        needs="submit",
    ),
    # Services behind any of them
    one("zai-rate", "rate_limit", r"\[130[2-5]\]\[", begins="["),
    one("zai-balance", "billing", r"\[1113\]\[", begins="["),
    one("zai-package", "billing", r"\[1309\]\[", begins="["),
    one("zai-limit", "", r"\[13(?:08|1\d)\]\[", begins="["),
)

PATTERNS = (*BRANDS, *USAGE, *CONTEXT, *RATE, *SERVERS, *MONEY, *LOGINS, *DENIED, *WIRES, *WAITS)
