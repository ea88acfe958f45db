"""Plain output (`command`, `shell`, `script`) as a conversation: one item for each paragraph."""

from __future__ import annotations

from collections.abc import Iterator

from segue.dialects.conversation.item import TEXT, Item
from segue.dialects.lines import Lines, plain, plain_text

PARAGRAPH_CHARS_MAX = 8_000


class TextReader:
    def __init__(self) -> None:
        self._lines = Lines()
        self._paragraph: list[str] = []
        self._chars = 0
        self._count = 0

    def feed(self, data: bytes) -> Iterator[Item]:
        for line, _is_whole in self._lines.feed(data):
            yield from self._line(plain(line))

    def close(self) -> Iterator[Item]:
        for line, _is_whole in self._lines.close():
            yield from self._line(plain(line))
        yield from self.flush()

    def flush(self) -> Iterator[Item]:
        for item in self.peek():
            self._count = item.n
            yield item
        self._paragraph, self._chars = [], 0

    def peek(self) -> Iterator[Item]:
        text = plain_text("\n".join(self._paragraph)).strip("\n")
        if text.strip():
            yield Item(self._count + 1, TEXT, text)

    def _line(self, line: str) -> Iterator[Item]:
        if not line.strip():
            yield from self.flush()
            return
        self._paragraph.append(line)
        self._chars += len(line)
        if self._chars > PARAGRAPH_CHARS_MAX:
            yield from self.flush()
