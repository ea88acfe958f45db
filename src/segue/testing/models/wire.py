"""What a wire format has to offer: it reads requests, and words what the model does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import uuid4

from segue.testing.models.acts import Refuse, Speak
from segue.testing.models.http import Request
from segue.testing.models.seen import Seen


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole HTTP answer."""

    status: int
    body: Any
    headers: Mapping[str, str]


class Voice(Protocol):
    """One answer in the making: each method gives the next events of its stream."""

    def begin(self) -> str: ...
    def say(self, piece: str) -> str: ...
    def finish(self) -> str: ...
    def broken(self, refused: Answer) -> str: ...
    def whole(self) -> Any:
        """The same answer in one piece, for who did not ask for a stream."""
        ...


class Wire(Protocol):
    """One vendor's way to ask a model."""

    name: str

    def see(self, request: Request) -> Seen: ...
    def voice(self, seen: Seen, act: Speak) -> Voice: ...
    def headers(self, act: Speak, now: float) -> dict[str, str]: ...
    def refuse(self, act: Refuse, now: float) -> Answer: ...


def sse(data: Any, event: str | None = None) -> str:
    """One server-sent event."""
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n"


def new_id(prefix: str) -> str:
    return prefix + uuid4().hex[:20]
