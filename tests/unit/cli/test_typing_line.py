"""The line that a person types, key by key."""

from __future__ import annotations

import os
import termios

import pytest

from segue.cli.typing_line import LINE_CHARS_MAX, KeyByKey, TypingLine


@pytest.mark.parametrize(
    ("typed", "lines", "rest"),
    [
        (b"yes\n", ["yes"], ""),
        (b"one\rtwo\r\nthree", ["one", "two"], "three"),
        (b"ab\x7fc\x08d\n", ["ad"], ""),
        (b"\x7f\x7fa", [], "a"),
        ("한글".encode() + b"\x7f\n", ["한"], ""),
        (b"wrong words\x15right\n", ["right"], ""),
        (b"two words\x17", [], "two"),
        (b"a\x1b[A\x1b[1;5Cb\x1bOPc\x00\x07\n", ["abc"], ""),
        (b"  spaces \n", ["spaces"], ""),
        (b"\xff\n", ["\ufffd"], ""),
    ],
)
def test_keys_do_what_they_do_in_a_shell(typed: bytes, lines: list[str], rest: str) -> None:
    """Backspace, Ctrl-U, Ctrl-W; keys that move are no text."""
    line = TypingLine()
    assert line.feed(typed) == lines
    assert line.text == rest


def test_signs_arrive_in_pieces() -> None:
    """A letter of several bytes is one letter, however it comes."""
    line = TypingLine()
    assert [got for byte in "né 한\n".encode() for got in line.feed(bytes([byte]))] == ["né 한"]


def test_a_line_is_bounded() -> None:
    """What is pasted without an end does not pile up."""
    line = TypingLine()
    line.feed(b"x" * 3 * LINE_CHARS_MAX)
    assert len(line.text) == LINE_CHARS_MAX


def test_ctrl_d_ends_it_only_in_an_empty_line() -> None:
    """As in a shell."""
    line = TypingLine()
    line.feed(b"a\x04")
    assert not line.is_over
    line.feed(b"\n\x04")
    assert line.is_over


def test_the_terminal_is_given_back_as_it_was() -> None:
    """Keys come one by one and unseen meanwhile, Ctrl-C still interrupts; twice is once."""
    ours, theirs = os.openpty()
    before = termios.tcgetattr(theirs)
    keys = KeyByKey(theirs)
    keys.start()
    keys.start()
    flags = termios.tcgetattr(theirs)[3]
    assert not flags & (termios.ECHO | termios.ICANON)
    assert flags & termios.ISIG
    keys.stop()
    keys.stop()
    assert termios.tcgetattr(theirs) == before
    keys.start()
    os.close(ours)
    os.close(theirs)
    keys.stop()


def test_what_is_no_terminal_is_left_alone() -> None:
    """A pipe has no keys."""
    read, write = os.pipe()
    keys = KeyByKey(read)
    keys.start()
    keys.stop()
    os.close(read)
    os.close(write)
