"""Masking: the same for any chunks, nothing of a secret left, everything else untouched."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from segue.drivers import masking
from segue.drivers.masking import MASK, Masker, forms

# Few letters: secrets overlap themselves and each other all the time.
VALUES = st.lists(st.text("ab", min_size=4, max_size=9), min_size=1, max_size=4)
STREAMS = st.binary(max_size=60) | st.text("abc", max_size=80).map(str.encode)
CUTS = st.lists(st.integers(0, 80), max_size=12)


def chunks(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    return [data[a:b] for a, b in pairwise(places)]


def plainly(values: list[str], data: bytes) -> bytes:
    """What masking means, byte by byte: covered by any form or not."""
    covered = bytearray(len(data))
    for form in (form for value in values for form in forms(value)):
        for at in range(len(data) - len(form) + 1):
            if data[at : at + len(form)] == form:
                covered[at : at + len(form)] = b"\1" * len(form)
    masked = b""
    for at, byte in enumerate(data):
        if not covered[at]:
            masked += bytes([byte])
        elif not at or not covered[at - 1]:
            masked += MASK
    return masked


@given(VALUES, STREAMS, CUTS)
@settings(max_examples=600)
def test_any_chunks_are_masked_as_the_whole(
    values: list[str], data: bytes, cuts: list[int]
) -> None:
    """However a stream is cut, each stretch that some form covers becomes one mask."""
    masker = Masker(values)
    told = b"".join([masker.feed(chunk) for chunk in chunks(data, cuts)] + [masker.close()])
    assert told == plainly(values, data)


@given(VALUES, STREAMS, CUTS)
def test_only_the_beginning_of_a_secret_is_held_back(
    values: list[str], data: bytes, cuts: list[int]
) -> None:
    """After any chunk, what is not shown yet could still become a secret."""
    masker = Masker(values)
    starts = {form[:n] for value in values for form in forms(value) for n in range(len(form))}
    seen = b""
    for chunk in chunks(data, cuts):
        seen += chunk
        masker.feed(chunk)
        assert masker._held == max((end for end in starts if seen.endswith(end)), key=len)


@given(st.text("ab+/%é\n ", min_size=4, max_size=30), st.integers(4, 7), CUTS)
def test_a_long_secret_leaves_nothing(value: str, piece: int, cuts: list[int]) -> None:
    """A secret that is longer than a piece is masked whole, by parts that touch."""
    data = b"<" + value.strip().encode() + b">"
    before, masking.PIECE_BYTES = masking.PIECE_BYTES, piece
    try:
        masker = Masker([value])
        told = b"".join([masker.feed(chunk) for chunk in chunks(data, cuts)] + [masker.close()])
        is_short = len(value.strip()) < masking.VALUE_CHARS_MIN
        assert told == (data if is_short else b"<" + MASK + b">")
    finally:
        masking.PIECE_BYTES = before
