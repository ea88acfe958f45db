"""Plain output as a conversation."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from segue.dialects.conversation.text import TextReader


def texts(*pieces: bytes) -> list[str]:
    reader = TextReader()
    found = [item for piece in pieces for item in reader.feed(piece)]
    return [item.text for item in (*found, *reader.close())]


def test_a_paragraph_is_an_item() -> None:
    assert texts(b"one\ntwo\n\n\nthree\n") == ["one\ntwo", "three"]


def test_an_endless_paragraph_is_cut() -> None:
    assert len(texts(b"x" * 100 + b"\n" + b"y\n" * 9_000)) > 1


@given(st.text(alphabet="ab\n \x1b[m", max_size=60), st.integers(1, 9))
def test_chunks_do_not_matter(text: str, size: int) -> None:
    data = text.encode()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert texts(*pieces) == texts(data)


def test_a_peek_shows_what_is_held_back_under_its_later_number() -> None:
    reader = TextReader()
    (first,) = reader.feed(b"one\n\ntwo\n")
    assert first.n == 1
    (held,) = reader.peek()
    assert (held.n, held.text) == (2, "two")
    assert list(reader.feed(b"more\n")) == []
    (whole,) = reader.close()
    assert (whole.n, whole.text) == (2, "two\nmore")
    assert list(reader.peek()) == []
