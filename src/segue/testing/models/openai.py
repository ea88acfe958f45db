"""What both APIs of OpenAI share: how they refuse, and how Codex's service tells its limits."""

from __future__ import annotations

from typing import Any

from segue.testing.models.acts import Refuse, Speak
from segue.testing.models.wire import Answer, new_id

TRY_AGAIN = (
    "Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): "
    "Limit 30000, Used 29000, Requested 2000. Please try again in {wait_s}s."
)
QUOTA = "You exceeded your current quota, please check your plan and billing details."
OVERLOADED = "The server is overloaded or not ready yet."
TOO_LONG = (
    "Your input exceeds the context window of this model. Please adjust your input and try again."
)
USAGE_LIMIT = "The usage limit has been reached"
REFUSALS: dict[str, tuple[int, str, str | None, str]] = {
    "400": (400, "invalid_request_error", "invalid_value", "This is not how it is done."),
    "401": (401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    "403": (403, "invalid_request_error", "forbidden", "You may not do this."),
    "404": (404, "invalid_request_error", "model_not_found", "The model does not exist."),
    "413": (413, "invalid_request_error", "request_too_large", "The request is too large."),
    "429": (429, "tokens", "rate_limit_exceeded", TRY_AGAIN),
    "429u5h": (429, "usage_limit_reached", None, USAGE_LIMIT),
    "429u7d": (429, "usage_limit_reached", None, USAGE_LIMIT),
    "429quota": (429, "insufficient_quota", "insufficient_quota", QUOTA),
    "500": (500, "server_error", None, "The server had an error while processing your request."),
    "503": (503, "server_error", "server_is_overloaded", OVERLOADED),
    "529": (503, "server_error", "server_is_overloaded", OVERLOADED),
    "credit": (429, "insufficient_quota", "insufficient_quota", QUOTA),
    "long": (400, "invalid_request_error", "context_length_exceeded", TOO_LONG),
}
WINDOW_MINUTES = {"primary": 5 * 60, "secondary": 7 * 24 * 60}
SUBSCRIPTION = {"429u5h": "primary", "429u7d": "secondary"}


class OpenAI:
    """The part of a wire format that both APIs have in common."""

    def headers(self, act: Speak, now: float) -> dict[str, str]:
        headers = {"x-request-id": new_id("req_")}
        if act.window is not None:
            headers |= _windows("primary", act.window.used, act.window.resets_in_s, now)
        return headers

    def refuse(self, act: Refuse, now: float) -> Answer:
        status, kind, code, message = REFUSALS[act.error]
        headers = {"x-request-id": new_id("req_")}
        message = message.format(wait_s=act.wait_s or 1)
        error: dict[str, Any] = {"message": message, "type": kind, "param": None, "code": code}
        wait_s = act.wait_s or 0
        if act.error in SUBSCRIPTION:
            resets_at = int(now) + wait_s
            error |= {"plan_type": "plus", "resets_at": resets_at, "resets_in_seconds": wait_s}
            headers |= _windows(SUBSCRIPTION[act.error], 1.0, wait_s, now)
        elif act.wait_s is not None:
            headers["retry-after"] = str(wait_s)
        return Answer(status, {"error": error}, headers)


def _windows(full: str, used: float, resets_in_s: int, now: float) -> dict[str, str]:
    """Both windows of a subscription; one of them is what this is about."""
    headers = {}
    for name, minutes in WINDOW_MINUTES.items():
        mine = name == full
        left_s = resets_in_s if mine else minutes * 30
        headers[f"x-codex-{name}-used-percent"] = f"{100 * used if mine else 30.0:.1f}"
        headers[f"x-codex-{name}-window-minutes"] = str(minutes)
        headers[f"x-codex-{name}-reset-at"] = str(int(now) + left_s)
    return headers
