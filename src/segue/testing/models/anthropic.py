"""The Anthropic messages API, as Claude Code asks it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from segue.testing.models.acts import Refuse, Speak
from segue.testing.models.http import Request
from segue.testing.models.seen import Message, Seen, said, texts_of
from segue.testing.models.wire import Answer, new_id, sse

RATE_LIMITED = "This request would exceed your account's rate limit. Please try again later."
REFUSALS = {
    "400": (400, "invalid_request_error", "messages.0: this is not how it is done"),
    "401": (401, "authentication_error", "invalid x-api-key"),
    "403": (403, "permission_error", "Your account does not have access to this."),
    "404": (404, "not_found_error", "model: no such model"),
    "413": (413, "request_too_large", "Request exceeds the maximum size"),
    "429": (429, "rate_limit_error", RATE_LIMITED),
    "429u5h": (429, "rate_limit_error", RATE_LIMITED),
    "429u7d": (429, "rate_limit_error", RATE_LIMITED),
    "429quota": (429, "rate_limit_error", "You have reached your specified API usage limits."),
    "500": (500, "api_error", "Internal server error"),
    "503": (503, "api_error", "Service unavailable"),
    "529": (529, "overloaded_error", "Overloaded"),
    "credit": (
        400,
        "invalid_request_error",
        "Your credit balance is too low to access the Anthropic API. "
        "Please go to Plans & Billing to upgrade or purchase credits.",
    ),
    "long": (
        400,
        "invalid_request_error",
        "prompt is too long: 210203 tokens > 200000 maximum",
    ),
}
WINDOWS = {"429u5h": "five_hour", "429u7d": "seven_day"}
FAR_S = {"five_hour": 2 * 3600, "seven_day": 2 * 86400}


class Anthropic:
    name = "anthropic"

    def see(self, request: Request) -> Seen:
        body = request.body or {}
        tools = tuple(tool.get("name", "") for tool in body.get("tools") or ())
        return Seen(
            model=body.get("model", ""),
            messages=tuple(m for message in body.get("messages", ()) for m in _read(message)),
            tools=tools,
            stream=bool(body.get("stream")),
            side=not tools or request.url.path.endswith("/count_tokens"),
            chars=len(request.raw),
        )

    def voice(self, seen: Seen, act: Speak) -> AnthropicVoice:
        return AnthropicVoice(seen, act)

    def headers(self, act: Speak, now: float) -> dict[str, str]:
        headers = {"request-id": new_id("req_")}
        if act.window is not None:
            warned = act.window.used >= 0.9
            status = "allowed_warning" if warned else "allowed"
            resets_at = int(now) + act.window.resets_in_s
            headers |= _unified("five_hour", status, act.window.used, resets_at, now)
            if warned:
                headers["anthropic-ratelimit-unified-5h-surpassed-threshold"] = "0.9"
        return headers

    def refuse(self, act: Refuse, now: float) -> Answer:
        status, kind, message = REFUSALS[act.error]
        request_id = new_id("req_")
        headers = {"request-id": request_id}
        if act.wait_s is not None:
            headers["retry-after"] = str(act.wait_s)
        if act.error in WINDOWS:
            resets_at = int(now) + (act.wait_s or 0)
            headers |= _unified(WINDOWS[act.error], "rejected", 1.0, resets_at, now)
        error = {"type": kind, "message": message}
        return Answer(status, {"type": "error", "error": error, "request_id": request_id}, headers)


class AnthropicVoice:
    """One message of the model."""

    def __init__(self, seen: Seen, act: Speak) -> None:
        self._act = act
        self._message: dict[str, Any] = {
            "id": new_id("msg_"),
            "type": "message",
            "role": "assistant",
            "model": seen.model,
            "stop_sequence": None,
        }

    def begin(self) -> str:
        usage = self._usage(1)
        empty = {**self._message, "content": [], "stop_reason": None, "usage": usage}
        block: dict[str, Any] = {"type": "text", "text": ""}
        if self._act.call is not None:
            block = {**self._block, "input": {}}
        return _event("message_start", message=empty) + _event(
            "content_block_start", index=0, content_block=block
        )

    def say(self, piece: str) -> str:
        return _delta({"type": "text_delta", "text": piece})

    def finish(self) -> str:
        called = ""
        if self._act.call is not None:
            arguments = json.dumps(self._act.call.arguments)
            called = _delta({"type": "input_json_delta", "partial_json": arguments})
        stop = {"stop_reason": self._stop_reason, "stop_sequence": None}
        usage = {"output_tokens": self._act.usage.output}
        return (
            called
            + _event("content_block_stop", index=0)
            + _event("message_delta", delta=stop, usage=usage)
            + _event("message_stop")
        )

    def broken(self, refused: Answer) -> str:
        return sse(refused.body, "error")

    def whole(self) -> Any:
        usage = self._usage(self._act.usage.output)
        content = [self._block]
        return {
            **self._message,
            "content": content,
            "stop_reason": self._stop_reason,
            "usage": usage,
        }

    @property
    def _block(self) -> dict[str, Any]:
        call = self._act.call
        if call is None:
            return {"type": "text", "text": self._act.text}
        toolu = new_id("toolu_")
        return {"type": "tool_use", "id": toolu, "name": call.tool, "input": call.arguments}

    @property
    def _stop_reason(self) -> str:
        return "end_turn" if self._act.call is None else "tool_use"

    def _usage(self, output: int) -> dict[str, int]:
        usage = self._act.usage
        return {
            "input_tokens": usage.input - usage.cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": usage.cached,
            "output_tokens": output,
        }


def _read(message: dict[str, Any]) -> Iterator[Message]:
    content = message.get("content")
    if message.get("role") == "assistant":
        yield from said("model", texts_of(content))
    elif message.get("role") == "user":
        for block in content if isinstance(content, list) else ():
            if block.get("type") == "tool_result":
                yield Message("tool", "\n".join(texts_of(block.get("content"))))
        yield from said("user", texts_of(content))


def _event(kind: str, **more: Any) -> str:
    return sse({"type": kind, **more}, kind)


def _delta(delta: dict[str, str]) -> str:
    return _event("content_block_delta", index=0, delta=delta)


def _unified(claim: str, status: str, used: float, resets_at: int, now: float) -> dict[str, str]:
    """What the service tells a subscriber about both of its windows."""
    headers = {
        "status": status,
        "reset": str(resets_at),
        "representative-claim": claim,
        "fallback-percentage": "0.5",
        "overage-status": "rejected",
        "overage-disabled-reason": "org_level_disabled",
    }
    for short, window in (("5h", "five_hour"), ("7d", "seven_day")):
        mine = window == claim
        headers[f"{short}-status"] = status if mine else "allowed"
        headers[f"{short}-reset"] = str(resets_at if mine else int(now) + FAR_S[window])
        headers[f"{short}-utilization"] = f"{used if mine else 0.3:.2f}"
    return {f"anthropic-ratelimit-unified-{name}": text for name, text in headers.items()}
