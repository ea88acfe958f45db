"""What the dialects of Codex, Gemini CLI and opencode have in common.

Each prints one object a line on standard output. Standard error is text for people: chatter
of the start, traces, errors of tools (which a tool's author words). So it is no signal while
there is a better one. Its last lines are kept; only if the program ended without a structured
word about it, they are judged: a line by which the program itself says that it gave up counts,
other lines are said as they are.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime

from segue.dialects.events import ConversationLost, Event, Finished, LimitHit, Opened, Said
from segue.dialects.lines import Lines, plain
from segue.dialects.structured import Object, Objects, encoded, one_line, text_of
from segue.dialects.text import Text

NOTES_MAX = 20
NOTE_CHARS_MAX = 1_000
FAILURE_CHARS_MAX = 4_000
NESTED_MAX = 3

# It comes back to the program as an argument: nothing that could be read as an option.
_CONVERSATION = re.compile(r"[0-9A-Za-z][\w.-]{0,127}", re.ASCII)
_NEVER = re.compile(r"(?!)")

# In which field a tool tells what it is about, the most telling first.
_WHAT = (
    *("command", "cmd", "file_path", "filePath", "path", "pattern", "query", "url"),
    *("question", "prompt", "description"),
)

Words = tuple[tuple[str, str], ...]  # kind of limit, pattern on lower-case text; the first counts


class JsonLines(ABC):
    """The dialect of one process. No clock is read: `now` is there for the brands that do."""

    chatter = _NEVER  # lines of standard error that are worth nothing to anybody
    gave_up = _NEVER  # how a line begins by which the program says that it cannot continue
    lost = _NEVER  # what such a line says of a conversation that is not known

    def __init__(self, nonce: str, now: Callable[[], datetime] | None = None) -> None:
        self._nonce = nonce
        self._objects = Objects()
        self._err = Lines()
        self._notes: deque[str] = deque(maxlen=NOTES_MAX)
        self._is_open = False
        self._last = ""
        self._end: Finished | None = None

    def feed(self, data: bytes) -> Iterator[Event]:
        for told in self._objects.feed(data):
            yield from self._read(told)

    def feed_err(self, data: bytes) -> Iterator[Event]:
        for line, _is_whole in self._err.feed(data):
            yield from self._noted(plain(line))

    def close(self) -> Iterator[Event]:
        for told in self._objects.close():
            yield from self._read(told)
        for line, _is_whole in self._err.close():
            yield from self._noted(plain(line))
        yield from self._closed()
        if self._end is None:
            yield from self._judged()

    def _read(self, told: Object | Event) -> Iterator[Event]:
        if isinstance(told, dict):
            yield from self._told(told)
        elif isinstance(told, Said):
            yield from self._noted(told.text)
        else:
            yield told

    # What each brand says in its own way

    @abstractmethod
    def _told(self, told: Object) -> Iterator[Event]:
        """One object of standard output."""

    @abstractmethod
    def _kind(self, text: str) -> str | None:
        """The limit that an error's text reports; None where it is another error."""

    def _noted(self, line: str) -> Iterator[Event]:
        """One line of text."""
        self._keep(line)
        return iter(())

    def _closed(self) -> Iterator[Event]:
        """No more will come: what was only to be believed now."""
        return iter(())

    # What they share

    def _opened(self, conversation: object) -> Iterator[Event]:
        if self._is_open or not isinstance(conversation, str):
            return
        if _CONVERSATION.fullmatch(conversation):
            self._is_open = True
            yield Opened(conversation)

    def _spoke(self, text: str) -> Iterator[Event]:
        """A whole text of the agent's own. A fence or a block left open ends with it."""
        words = Text(self._nonce, is_own=True)
        yield from words.feed(encoded(text))
        yield from words.close()
        self._last = text_of(text)

    def _keep(self, line: str) -> None:
        if line.strip() and not self.chatter.match(line):
            self._notes.append(line[:NOTE_CHARS_MAX].rstrip())

    def _done(self, reason: str) -> Iterator[Event]:
        yield from self._ends(Finished(False, self._last.strip(), one_line(reason)))

    def _failed(self, text: str, reason: str, limit: LimitHit | None) -> Iterator[Event]:
        if self._end is None and limit is not None:
            yield limit
        yield from self._ends(Finished(True, spoken(text), one_line(reason)))

    def _ends(self, end: Finished) -> Iterator[Event]:
        """The same end is often reported twice: the first report counts."""
        if self._end is None:
            self._end = end
            yield end

    def _limit(self, text: str) -> LimitHit | None:
        kind = self._kind(text[:FAILURE_CHARS_MAX].lower())
        return LimitHit(kind, text=text_of(text[:FAILURE_CHARS_MAX])) if kind else None

    def _judged(self) -> Iterator[Event]:
        """It ended without a word on standard output: what standard error said last."""
        notes = list(self._notes)
        self._notes.clear()
        first = next((n for n, line in enumerate(notes) if self.gave_up.match(line)), None)
        if first is None:
            yield from map(Said, notes)
            return
        text = "\n".join(notes[first:])
        if not self._is_open and self.lost.search(text):
            yield ConversationLost(text)
            yield from self._failed(text, "", None)
        else:
            yield from self._failed(text, "", self._limit(text))


def by_words(words: Words, text: str) -> str | None:
    return next((kind for kind, pattern in words if re.search(pattern, text)), None)


def by_status(status: int | None) -> str | None:
    """The kind of limit that an HTTP status means."""
    match status:
        case 401 | 403:
            return "auth"
        case 402:
            return "billing"
        case 408:
            return "network"
        case 413:
            return "context_limit"
        case 429:
            return "rate_limit"
    return "overloaded" if status is not None and 500 <= status <= 599 else None


def spoken(text: object) -> str:
    """An error's text for people: an answer of the API that stands in it as JSON gives way
    to the message in that."""
    found = text_of(text)[:FAILURE_CHARS_MAX]
    for _ in range(NESTED_MAX):
        begin, end = found.find("{"), found.rfind("}") + 1
        try:
            answer = json.loads(found[begin:end]) if 0 <= begin < end else None
        except (ValueError, RecursionError):
            break
        match answer:
            case {"error": {"message": str(message)}} if message.strip():
                found = found[:begin] + text_of(message) + found[end:]
            case _:
                break
    return found


def what(given: Object) -> str:
    """In one line what a tool is used with."""
    first = next((given[key] for key in _WHAT if isinstance(given.get(key), str)), None)
    if first is None:
        first = next((value for value in given.values() if isinstance(value, str)), "")
    return one_line(first)
