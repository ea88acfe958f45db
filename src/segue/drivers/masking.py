"""Known secrets taken out of a stream of bytes, wherever its chunks are cut.

Theory of operation: a secret is looked for in each form that it may be printed in. Whatever any
form covers is masked, so two that overlap leave nothing of either; masks that touch become one.
Only the end of a chunk that could be the beginning of a form is held back: what an agent says
is seen at once. A form is at most a piece long, which bounds the memory; each is found by the
search of the standard library, which is linear. Keepers use this file without the rest of
Segue: standard library only.
"""

from __future__ import annotations

import json
from binascii import b2a_base64
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:  # as in typing, which is slow to import; annotations are never evaluated here
    from collections.abc import Iterable, Iterator

MASK = "••••".encode()
VALUE_CHARS_MIN = 4  # less would be found in any text
ENCODED_CHARS_MIN = 6
LINE_CHARS_MIN = 6  # of a secret of several lines; a lone brace is no secret
PIECE_BYTES = 4096
NO_SECRETS = frozenset({"true", "false", "null", "none"})  # words of every structured output

_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")
_KEPT = (_PLAIN, _PLAIN | frozenset(b"/"), _PLAIN | frozenset(b"!*'()"))  # by who encodes URLs


class Masker:
    """Bytes in, bytes out; `close` gives what was held back."""

    def __init__(self, values: Iterable[str]) -> None:
        self._forms = sorted({form for value in values for form in forms(value)})
        self._held = b""
        # How far into what is held the mask reaches that was given out last; None: it was no mask.
        self._covered: int | None = None

    def feed(self, data: bytes) -> bytes:
        if not self._forms:
            return data
        seen = self._held + data
        return self._give_out(seen, self._begun_at(seen))

    def close(self) -> bytes:
        return self._give_out(self._held, len(self._held))

    def _give_out(self, seen: bytes, until: int) -> bytes:
        """The bytes before `until`, masked; the others are kept for the next time."""
        given = []
        at = self._covered or 0
        is_open = self._covered is not None
        for start, end in sorted(self._found(seen)):
            if start >= until:
                break
            if start > at:
                given.append(seen[at:start])
                is_open = False
            if not is_open:
                given.append(MASK)
                is_open = True
            at = max(at, end)
        if at < until:
            given.append(seen[at:until])
            is_open = False
        self._covered = max(at - until, 0) if is_open else None
        self._held = seen[until:]
        return b"".join(given)

    def _found(self, seen: bytes) -> Iterator[tuple[int, int]]:
        """Every stretch that occurrences of one form cover."""
        for form in self._forms:
            start = seen.find(form)
            again = form[-_period(form) :] if start != -1 else b""
            while start != -1:
                end = start + len(form)
                # One that overlaps itself (aaaa in aaaaaa) is stepped through, not searched for.
                while seen.startswith(again, end):
                    end += len(again)
                yield start, end
                start = seen.find(form, end - len(form) + 1)

    def _begun_at(self, seen: bytes) -> int:
        """Where the longest ending begins that may become a form."""
        begun = len(seen)
        for form in self._forms:
            at = seen.find(form[:1], max(0, len(seen) - len(form) + 1), begun)
            while at != -1 and not form.startswith(seen[at:]):
                at = seen.find(form[:1], at + 1, begun)
            if at != -1:
                begun = at
        return begun


def forms(value: str) -> set[bytes]:
    """All that a secret may look like in an output; none for one too short to be distinctive."""
    value = value.strip()
    found = _forms(value, VALUE_CHARS_MIN)
    if len(lines := value.splitlines()) > 1:
        for line in lines:
            found |= _forms(line.strip(), LINE_CHARS_MIN)
    return {piece for form in found for piece in _pieces(form)}


def _forms(value: str, chars_min: int) -> set[bytes]:
    if len(value) < chars_min or value.lower() in NO_SECRETS:
        return set()
    raw = _bytes(value)
    found = {raw, *(_bytes(json.dumps(value, ensure_ascii=e)[1:-1]) for e in (True, False))}
    if len(value) >= ENCODED_CHARS_MIN:
        found.update(_base64(raw), _url(raw))
    return found


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:  # bytes of an environment that are no UTF-8
        return text.encode("utf-8", "surrogateescape" if _is_escaped(text) else "surrogatepass")


def _is_escaped(text: str) -> bool:
    return all(not "\ud800" <= char <= "\udfff" or "\udc80" <= char <= "\udcff" for char in text)


def _base64(raw: bytes) -> Iterator[bytes]:
    """By itself, and in the midst of other bytes: the characters that are the secret's alone."""
    whole = b2a_base64(raw, newline=False)
    found = [whole]
    for before in range(3):
        encoded = b2a_base64(bytes(before) + raw, newline=False)
        found.append(encoded[-(-before * 8 // 6) : (before + len(raw)) * 8 // 6])
    for form in found:
        yield form
        yield form.replace(b"+", b"-").replace(b"/", b"_")


def _url(raw: bytes) -> Iterator[bytes]:
    for kept in _KEPT:
        for pattern in ("%%%02X", "%%%02x"):
            words = [bytes([b]) if b in kept else (pattern % b).encode() for b in raw]
            yield b"".join(words)
            yield b"".join(b"+" if word == b"%20" else word for word in words)


def _pieces(form: bytes) -> Iterator[bytes]:
    """A long form in parts, the last as long as the others; masked together they touch."""
    if len(form) <= PIECE_BYTES:
        yield form
        return
    for at in range(0, len(form) - PIECE_BYTES, PIECE_BYTES):
        yield form[at : at + PIECE_BYTES]
    yield form[-PIECE_BYTES:]


@lru_cache(maxsize=256)
def _period(form: bytes) -> int:
    """By how much a form must be moved, at least, to lie upon itself."""
    border = [0] * len(form)  # of each beginning: its longest end that is its beginning, too
    length = 0
    for at in range(1, len(form)):
        while length and form[at] != form[length]:
            length = border[length - 1]
        if form[at] == form[length]:
            length += 1
        border[at] = length
    return len(form) - length
