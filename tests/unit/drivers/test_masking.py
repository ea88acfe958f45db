"""Secrets in outputs: in which forms they are found, and what masking costs."""

from __future__ import annotations

import base64
import json
import time
from urllib.parse import quote, quote_plus

import pytest

from segue.drivers.masking import MASK, PIECE_BYTES, Masker, forms

SECRET = 's3cr€t/+ pass"word\\ü~!(x)'


def mask(text: str | bytes, *values: str) -> bytes:
    masker = Masker(values)
    return masker.feed(text if isinstance(text, bytes) else text.encode()) + masker.close()


@pytest.mark.parametrize(
    "printed",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        quote(SECRET, safe=""),
        quote(SECRET),
        quote_plus(SECRET),
        quote(SECRET, safe="!*'()"),
        quote(SECRET, safe="").replace("%E2", "%e2").replace("%2F", "%2f").lower(),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
        base64.b64encode(SECRET.encode()).decode().rstrip("="),
    ],
)
def test_a_secret_is_found_in_each_form(printed: str) -> None:
    """As it is, as JSON has it, as URLs have it, as base64: one mask, nothing else changed."""
    told = mask(f"Authorization: {printed}\n", SECRET)
    if printed.endswith("=") or not printed.isascii():
        assert told == b"Authorization: " + MASK + b"\n"
    assert told.startswith(b"Authorization: " + MASK)
    assert len(told) <= len(b"Authorization: " + MASK + b"x\n")  # of base64: bits of a neighbour


@pytest.mark.parametrize("before", ["", "u", "us", "user:"])
@pytest.mark.parametrize("after", ["", ":", "::", "@host"])
def test_a_secret_inside_of_other_base64_is_found(before: str, after: str) -> None:
    """`user:secret` in a header: the characters that are the secret's alone are masked."""
    whole = base64.b64encode(f"{before}hunter2-hunter2{after}".encode())
    alone = base64.b64encode(b"hunter2-hunter2")
    told = mask(b"Basic " + whole + b"\n", "hunter2-hunter2")
    assert MASK in told
    assert len(told.replace(MASK, b"")) <= len(b"Basic \n") + len(whole) - len(alone) + 3


def test_what_is_too_short_is_left_alone() -> None:
    """Three characters are found everywhere; five are masked as they are, not as base64."""
    assert mask("abc abc", "abc", "", " \n") == b"abc abc"
    assert mask("abcd", "abcd") == MASK
    encoded = base64.b64encode(b"abcde")
    assert mask(encoded, "abcde") == encoded
    assert mask(base64.b64encode(b"abcdef"), "abcdef") == MASK


def test_words_of_every_structured_output_are_no_secrets() -> None:
    """A variable that is `true` must not make an agent's output unreadable."""
    line = b'{"is_error": true, "x": null, "y": false}'
    assert mask(line, "true", "null", "false", "True", "None") == line


def test_the_lines_of_a_secret_are_masked_each_for_itself() -> None:
    """A key of several lines is found whole, line by line, and behind a terminal's line ends."""
    key = "-----BEGIN KEY-----\nabcdefghijkl\nmnopqrstuvwx\n}\n-----END KEY-----\n"
    assert mask(key, key) == MASK + b"\n"
    assert mask("x mnopqrstuvwx y\n} z", key) == b"x " + MASK + b" y\n} z"
    masked = mask(key.replace("\n", "\r\n"), key)
    assert masked == b"\r\n".join([MASK, MASK, MASK, b"}", MASK, b""])


def test_space_around_a_secret_is_none_of_it() -> None:
    """A value that was pasted with its line end is found without it."""
    assert mask("key=hunter2;", "  hunter2\n") == b"key=" + MASK + b";"


def test_overlapping_secrets_leave_nothing_of_either() -> None:
    """Two secrets that share characters become one mask; those that touch, too."""
    assert mask("<abcdef>", "abcd", "cdef") == b"<" + MASK + b">"
    assert mask("<aaaaaaa>", "aaaa") == b"<" + MASK + b">"
    assert mask("<aabaaabaa>", "aabaa") == b"<" + MASK + b">"  # by one letter, and not by two
    assert mask("<abcdabcd>", "abcd") == b"<" + MASK + b">"
    assert mask("<abcd abcd>", "abcd") == b"<" + MASK + b" " + MASK + b">"
    assert mask("<hunter2000>", "hunter2", "hunter2000") == b"<" + MASK + b">"


def test_a_mask_is_one_over_many_chunks() -> None:
    """Secrets that overlap or touch over the ends of chunks are still one mask."""
    masker = Masker(["abcd", "cdefgh"])
    told = [masker.feed(chunk) for chunk in (b"<ab", b"cd", b"ef", b"gh", b"abcd", b">")]
    assert b"".join(told) == b"<" + MASK + b">"
    assert told[1] == MASK  # as soon as it is known


def test_output_is_shown_at_once() -> None:
    """Only what may be the beginning of a secret waits; without secrets nothing does."""
    masker = Masker(["hunter2"])
    assert masker.feed(b"Which one? ") == b"Which one? "
    assert masker.feed(b"a hunt") == b"a "
    assert masker.feed(b"ing dog\n") == b"hunting dog\n"
    assert masker.feed(b"hun") == b""
    assert masker.close() == b"hun"
    data = b"x" * 10
    assert Masker([]).feed(data) is data


def test_bytes_that_are_no_text_are_masked_around() -> None:
    """An output need not be UTF-8, and neither need a value of the environment be."""
    assert mask(b"\xff\x00hunter2\xfe", "hunter2") == b"\xff\x00" + MASK + b"\xfe"
    odd = b"hunter\xff2".decode("utf-8", "surrogateescape")
    assert mask(b"<hunter\xff2>", odd) == b"<" + MASK + b">"
    assert forms("lone \ud800 surrogate")


def test_a_long_secret_is_held_in_pieces() -> None:
    """Memory is bounded by a piece, whatever a secret's length; nothing of it is shown."""
    secret = "".join(f"{n:x}" for n in range(20_000))
    masker = Masker([secret])
    told = b""
    for at in range(0, len(secret), 100):
        told += masker.feed(secret[at : at + 100].encode())
        assert len(masker._held) < PIECE_BYTES
    assert told + masker.close() == MASK


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (["sk-" + "x9Yb" * 10, *(f"token-{n}-abcdefghij" for n in range(9))], b'{"type":"x"}\n'),
        (["a" * 4000 + "b"], b"a"),
        (["ab" * 1000 + "c" + "ab" * 1000], b"ab"),
        (["a" * 50], b"a"),
    ],
)
def test_masking_is_fast_whatever_comes(values: list[str], text: bytes) -> None:
    """Ten secrets or one that nearly repeats itself: no stream makes it slow."""
    chunk = (text * 65536)[:65536]
    masker = Masker(values)
    started = time.process_time()
    for _ in range(32):
        masker.feed(chunk)
    bytes_per_s = 32 * len(chunk) / (time.process_time() - started)
    assert bytes_per_s > 2_000_000  # usually ten times that, and more
