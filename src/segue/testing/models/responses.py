"""The responses API of OpenAI, as Codex asks it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from segue.testing.models.acts import Speak
from segue.testing.models.http import Request
from segue.testing.models.openai import OpenAI
from segue.testing.models.seen import Message, Seen, said, texts_of
from segue.testing.models.wire import Answer, new_id, sse


class Responses(OpenAI):
    name = "responses"

    def see(self, request: Request) -> Seen:
        body = request.body or {}
        given = body.get("input", [])
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        tools = (tool.get("name") or tool.get("type", "") for tool in body.get("tools") or ())
        return Seen(
            model=body.get("model", ""),
            messages=tuple(message for item in items for message in _read(item)),
            tools=tuple(tools),
            stream=bool(body.get("stream")),
            side=not body.get("tools"),
            chars=len(request.raw),
        )

    def voice(self, seen: Seen, act: Speak) -> ResponsesVoice:
        return ResponsesVoice(seen, act)


class ResponsesVoice:
    """One response of the model."""

    def __init__(self, seen: Seen, act: Speak) -> None:
        self._act = act
        self._response = {"id": new_id("resp_"), "object": "response", "model": seen.model}
        self._item = _item(act)

    def begin(self) -> str:
        running = {**self._response, "status": "in_progress", "output": []}
        nothing: dict[str, Any] = {"arguments": ""} if self._act.call else {"content": []}
        added = {**self._item, "status": "in_progress", **nothing}
        return _event("response.created", response=running) + _event(
            "response.output_item.added", output_index=0, item=added
        )

    def say(self, piece: str) -> str:
        return _event(
            "response.output_text.delta",
            item_id=self._item["id"],
            output_index=0,
            content_index=0,
            delta=piece,
        )

    def finish(self) -> str:
        return _event("response.output_item.done", output_index=0, item=self._item) + _event(
            "response.completed", response=self.whole()
        )

    def broken(self, refused: Answer) -> str:
        error = refused.body["error"]
        told = {"code": error["code"] or error["type"], "message": error["message"]}
        failed = {**self._response, "status": "failed", "error": told}
        return _event("response.failed", response=failed)

    def whole(self) -> Any:
        usage = self._act.usage
        counts = {
            "input_tokens": usage.input,
            "input_tokens_details": {"cached_tokens": usage.cached},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.input + usage.output,
        }
        return {
            **self._response,
            "status": "completed",
            "output": [self._item],
            "usage": counts,
        }


def _item(act: Speak) -> dict[str, Any]:
    if act.call is not None:
        return {
            "type": "function_call",
            "id": new_id("fc_"),
            "call_id": new_id("call_"),
            "name": act.call.tool,
            "arguments": json.dumps(act.call.arguments),
            "status": "completed",
        }
    text = {"type": "output_text", "text": act.text, "annotations": []}
    return {
        "type": "message",
        "id": new_id("msg_"),
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }


def _read(item: dict[str, Any]) -> Iterator[Message]:
    if str(item.get("type", "")).endswith("_call_output"):
        output = item.get("output")
        yield Message("tool", "\n".join(texts_of(output)) or json.dumps(output))
    elif item.get("role") == "user":
        yield from said("user", texts_of(item.get("content")))
    elif item.get("role") == "assistant":
        yield from said("model", texts_of(item.get("content")))


def _event(kind: str, **more: Any) -> str:
    return sse({"type": kind, **more}, kind)
