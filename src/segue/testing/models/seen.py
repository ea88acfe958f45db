"""What the model saw: one request of a program, whatever its wire format."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["user", "model", "tool"]
NOTE_TAGS = (
    "system-reminder",
    "environment_context",
    "user_instructions",
    "permissions instructions",
    "session_context",
    "skills_instructions",
    "turn_aborted",
)
NOTES = re.compile(rf"<({'|'.join(NOTE_TAGS)})>.*?</\1>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Message:
    """What one side said: a prompt, an answer or call of the model, the result of a tool."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Seen:
    """One request, as far as it matters to what the model does with it."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[str, ...]
    stream: bool
    side: bool
    chars: int = 0
    wanted: str = ""
    """What a side request must be answered with to be understood, where it says so."""

    @property
    def prompts(self) -> tuple[str, ...]:
        """What the user said, without the notes that the program adds by itself."""
        return tuple(message.text for message in self.messages if message.role == "user")

    @property
    def prompt(self) -> str:
        return self.prompts[-1] if self.prompts else ""

    def results_since(self, prompt: str) -> int:
        """How many tools came back after the newest occurrence of this prompt."""
        count = 0
        for message in reversed(self.messages):
            if message == Message("user", prompt):
                break
            count += message.role == "tool"
        return count


def without_notes(text: str) -> str:
    """What a person wrote, without what the program added for the model."""
    return NOTES.sub("", text).strip()


def said(role: Role, texts: Iterable[str]) -> list[Message]:
    """One message of these texts; none where nothing is left of them."""
    text = "\n".join(kept for text in texts if (kept := without_notes(text)))
    return [Message(role, text)] if text else []


def texts_of(content: Any) -> list[str]:
    """The texts in a content, which is a text or a list of blocks, in all wire formats."""
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return []
    return [b["text"] for b in content if isinstance(b, dict) and isinstance(b.get("text"), str)]
