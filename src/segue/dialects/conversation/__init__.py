"""An agent's output as a conversation that people can read: text, tool calls with their results,
to-do lists, diffs and errors.

Each program has a reader here: bytes in, items out, whatever the chunks. A tool call is emitted
when it begins, and again, under the same number, when its result is known. Nothing here decides
anything: that is what the events of the dialects are for.
"""

from __future__ import annotations

from collections.abc import Callable

from segue.dialects.conversation.claude import ClaudeReader
from segue.dialects.conversation.codex import CodexReader
from segue.dialects.conversation.gemini import GeminiReader
from segue.dialects.conversation.item import Item, Reader
from segue.dialects.conversation.opencode import OpencodeReader
from segue.dialects.conversation.text import TextReader

__all__ = ["Item", "Reader", "reader_of"]

READERS: dict[str, Callable[[], Reader]] = {
    "claude": ClaudeReader,
    "codex": CodexReader,
    "gemini": GeminiReader,
    "opencode": OpencodeReader,
}


def reader_of(kind: str) -> Reader:
    """The reader for an agent of this kind; all programs without one print plain text."""
    return READERS.get(kind, TextReader)()
