"""The chat completions API of OpenAI, as opencode and many others ask it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from segue.testing.models.acts import Speak
from segue.testing.models.http import Request
from segue.testing.models.openai import OpenAI
from segue.testing.models.seen import Message, Seen, said, texts_of
from segue.testing.models.wire import Answer, new_id, sse


class Chat(OpenAI):
    name = "chat"

    def see(self, request: Request) -> Seen:
        body = request.body or {}
        tools = tuple(tool["function"]["name"] for tool in body.get("tools") or ())
        return Seen(
            model=body.get("model", ""),
            messages=tuple(m for message in body.get("messages", ()) for m in _read(message)),
            tools=tools,
            stream=bool(body.get("stream")),
            side=not tools,
            chars=len(request.raw),
        )

    def voice(self, seen: Seen, act: Speak) -> ChatVoice:
        return ChatVoice(seen, act)


class ChatVoice:
    """One completion of the model."""

    def __init__(self, seen: Seen, act: Speak) -> None:
        self._act = act
        self._head = {"id": new_id("chatcmpl-"), "created": 0, "model": seen.model}

    def begin(self) -> str:
        return self._chunk({"role": "assistant", "content": ""})

    def say(self, piece: str) -> str:
        return self._chunk({"content": piece})

    def finish(self) -> str:
        called = ""
        if self._act.call is not None:
            called = self._chunk({"tool_calls": [{"index": 0, **call} for call in self._calls]})
        last = self._chunk({}, finish_reason=self._finish_reason, usage=self._usage)
        return called + last + "data: [DONE]\n\n"

    def broken(self, refused: Answer) -> str:
        return sse(refused.body)

    def whole(self) -> Any:
        message: dict[str, Any] = {"role": "assistant", "content": self._act.text}
        if self._act.call is not None:
            message["tool_calls"] = self._calls
        choice = {"index": 0, "message": message, "finish_reason": self._finish_reason}
        whole = {"object": "chat.completion", "choices": [choice], "usage": self._usage}
        return {**self._head, **whole}

    def _chunk(self, delta: dict[str, Any], finish_reason: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return sse({**self._head, "object": "chat.completion.chunk", "choices": [choice], **more})

    @property
    def _calls(self) -> list[dict[str, Any]]:
        call = self._act.call
        assert call is not None
        function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
        return [{"id": new_id("call_"), "type": "function", "function": function}]

    @property
    def _finish_reason(self) -> str:
        return "stop" if self._act.call is None else "tool_calls"

    @property
    def _usage(self) -> dict[str, Any]:
        usage = self._act.usage
        return {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "total_tokens": usage.input + usage.output,
            "prompt_tokens_details": {"cached_tokens": usage.cached},
        }


def _read(message: dict[str, Any]) -> Iterator[Message]:
    texts = texts_of(message.get("content"))
    match message.get("role"):
        case "user":
            yield from said("user", (_unquoted(text) for text in texts))
        case "assistant":
            yield from said("model", texts)
        case "tool":
            yield Message("tool", "\n".join(texts))


def _unquoted(text: str) -> str:
    """What was written, where opencode has put it in quotes as one of its arguments."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('\\"', '"')
    return text
