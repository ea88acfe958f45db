"""The Gemini API, as the Gemini CLI asks it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from segue.testing.models.acts import Refuse, Speak
from segue.testing.models.http import Request
from segue.testing.models.seen import Message, Seen, said, texts_of
from segue.testing.models.wire import Answer, new_id, sse

QUOTA = "You exceeded your current quota, please check your plan and billing details."
OVERLOADED = "The model is overloaded. Please try again later."
BAD_KEY = "API key not valid. Please pass a valid API key."
TOO_LONG = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
REFUSALS = {
    "400": (400, "INVALID_ARGUMENT", "This is not how it is done."),
    "401": (400, "INVALID_ARGUMENT", BAD_KEY),
    "403": (403, "PERMISSION_DENIED", "You may not do this."),
    "404": (404, "NOT_FOUND", "The model is not found."),
    "413": (413, "INVALID_ARGUMENT", "The request is too large."),
    "429": (429, "RESOURCE_EXHAUSTED", QUOTA + " Please retry in {wait_s}s."),
    "429u5h": (429, "RESOURCE_EXHAUSTED", QUOTA),
    "429u7d": (429, "RESOURCE_EXHAUSTED", QUOTA),
    "429quota": (429, "RESOURCE_EXHAUSTED", QUOTA),
    "500": (500, "INTERNAL", "An internal error has occurred."),
    "503": (503, "UNAVAILABLE", OVERLOADED),
    "529": (503, "UNAVAILABLE", OVERLOADED),
    "credit": (429, "RESOURCE_EXHAUSTED", QUOTA),
    "long": (400, "INVALID_ARGUMENT", TOO_LONG),
}
TYPE = "type.googleapis.com/google.rpc."
PER_MINUTE = "GenerateRequestsPerMinutePerProjectPerModel"
PER_DAY = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"


class Gemini:
    name = "gemini"

    def see(self, request: Request) -> Seen:
        body = request.body or {}
        model, _colon, method = request.url.path.rpartition("/")[2].partition(":")
        tools = tuple(
            function["name"]
            for tool in body.get("tools") or ()
            for function in tool.get("functionDeclarations", ())
        )
        return Seen(
            model=model,
            messages=tuple(m for content in body.get("contents", ()) for m in _read(content)),
            tools=tools,
            stream=method.startswith("stream"),
            side=not tools or method == "countTokens",
            chars=len(request.raw),
            wanted=_wanted(body),
        )

    def voice(self, seen: Seen, act: Speak) -> GeminiVoice:
        return GeminiVoice(seen, act)

    def headers(self, _act: Speak, _now: float) -> dict[str, str]:
        return {}

    def refuse(self, act: Refuse, _now: float) -> Answer:
        status, word, message = REFUSALS[act.error]
        message = message.format(wait_s=act.wait_s or 0)
        error = {"code": status, "message": message, "status": word, "details": _details(act)}
        return Answer(status, {"error": error}, {})


class GeminiVoice:
    """One candidate of the model."""

    def __init__(self, seen: Seen, act: Speak) -> None:
        self._act, self._model = act, seen.model
        self._response_id = new_id("resp_")

    def begin(self) -> str:
        return ""

    def say(self, piece: str) -> str:
        return sse(self._chunk({"text": piece}))

    def finish(self) -> str:
        return sse(self._chunk(self._last_part(""), finishReason="STOP"))

    def broken(self, refused: Answer) -> str:
        return sse(refused.body)

    def whole(self) -> Any:
        return self._chunk(self._last_part(self._act.text), finishReason="STOP")

    def _last_part(self, text: str) -> dict[str, Any]:
        call = self._act.call
        if call is None:
            return {"text": text}
        return {"functionCall": {"name": call.tool, "args": call.arguments}}

    def _chunk(self, part: dict[str, Any], **more: Any) -> dict[str, Any]:
        usage = self._act.usage
        return {
            "candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, **more}],
            "usageMetadata": {
                "promptTokenCount": usage.input,
                "cachedContentTokenCount": usage.cached,
                "candidatesTokenCount": usage.output,
                "totalTokenCount": usage.input + usage.output,
            },
            "modelVersion": self._model,
            "responseId": self._response_id,
        }


def _wanted(body: dict[str, Any]) -> str:
    """The least JSON of the form that a routing question asks for."""
    settings = body.get("generationConfig") or {}
    schema = settings.get("responseJsonSchema") or settings.get("responseSchema")
    return json.dumps(_least(schema)) if schema else ""


def _least(schema: dict[str, Any]) -> Any:
    kind = schema.get("type", "")
    if schema.get("enum"):
        return schema["enum"][-1]
    match kind[0].lower() if isinstance(kind, list) else kind.lower():
        case "object":
            return {name: _least(part) for name, part in schema.get("properties", {}).items()}
        case "array":
            return []
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
    return "none"


def _details(act: Refuse) -> list[dict[str, Any]]:
    if act.error == "401":
        return [{"@type": TYPE + "ErrorInfo", "reason": "API_KEY_INVALID"}]
    if REFUSALS[act.error][0] != 429:
        return []
    quota = PER_MINUTE if act.error == "429" else PER_DAY
    violation = {
        "quotaMetric": "generativelanguage.googleapis.com/generate_content_requests",
        "quotaId": quota,
        "quotaValue": "10",
    }
    failure = {"@type": TYPE + "QuotaFailure", "violations": [violation]}
    if act.wait_s is None:
        return [failure]
    return [failure, {"@type": TYPE + "RetryInfo", "retryDelay": f"{act.wait_s}s"}]


def _read(content: dict[str, Any]) -> Iterator[Message]:
    parts = content.get("parts", [])
    if content.get("role") == "model":
        yield from said("model", texts_of(parts))
        return
    for part in parts:
        if "functionResponse" in part:
            yield Message("tool", json.dumps(part["functionResponse"].get("response")))
    yield from said("user", texts_of(parts))
