"""Lines that keep their index while others come and go."""

from __future__ import annotations

import pytest

from segue.plans.lines import Lines

PLAN = b"one\ntwo\r\nthree\n"


def test_an_untouched_file_is_rendered_byte_by_byte() -> None:
    """Whatever its line ends are, and without one at its end."""
    for data in (PLAN, b"", b"\n", b"no end", b"a\rb\r\nc"):
        assert Lines(data).render() == data


def test_a_line_put_in_stands_behind_its_own() -> None:
    """Several in the order in which they came; the indexes of all others stay."""
    lines = Lines(PLAN)
    lines.add(0, b"first", b"\n")
    lines.add(0, b"second", b"\n")
    assert lines.render() == b"one\nfirst\nsecond\ntwo\r\nthree\n"
    assert lines[1] == b"two\r\n"


def test_numbers_are_those_that_a_person_sees() -> None:
    """After lines were put in and taken out above."""
    lines = Lines(PLAN)
    assert [lines.number(index) for index in range(3)] == [1, 2, 3]
    lines.add(0, b"new", b"\n")
    assert [lines.number(index) for index in range(3)] == [1, 3, 4]
    lines.remove(1)
    assert (lines.number(0), lines.number(2)) == (1, 3)


def test_a_change_of_numbers_is_a_new_version() -> None:
    """A change of one byte is not."""
    lines = Lines(PLAN)
    lines.set_byte(0, 0, b"O")
    assert (lines.render(), lines.version) == (b"One\ntwo\r\nthree\n", 0)
    lines.add(0, b"new", b"\n")
    assert lines.version == 1


def test_what_was_put_in_can_be_taken_out() -> None:
    """The file is as before; and its numbers are."""
    lines = Lines(PLAN)
    first, second = (lines.add(0, text, b"\n") for text in (b"first", b"second"))
    assert lines.remove(first) and lines.render() == b"one\nsecond\ntwo\r\nthree\n"
    assert lines.remove(second) and lines.render() == PLAN
    assert lines.number(2) == 3


def test_another_text_keeps_indent_and_line_end() -> None:
    """In a line of the file and in one that was put in."""
    lines = Lines(b"a\n  \t<!-- old -->\r\n")
    lines.replace(1, b"<!-- new -->")
    added = lines.add(0, b"  <!-- x -->", b"\n")
    lines.replace(added, b"<!-- y -->")
    assert lines.render() == b"a\n  <!-- y -->\n  \t<!-- new -->\r\n"


def test_a_file_without_an_end_stays_one() -> None:
    """A line behind its last gets the end that the file uses, before it."""
    lines = Lines(b"one\r\ntwo")
    added = lines.add(1, b"new", b"")
    assert lines.render() == b"one\r\ntwo\r\nnew"
    lines.remove(added)
    assert lines.render() == b"one\r\ntwo"


def test_the_line_above_a_last_one_that_goes_is_the_last() -> None:
    """It gives up its end; a line that comes later finds it again."""
    lines = Lines(b"one\r\ntwo")
    assert lines.remove(1)
    assert lines.render() == b"one"
    lines.add(0, b"new", b"")
    assert lines.render() == b"one\r\nnew"


@pytest.mark.parametrize("data", [b"one\rtwo\n\n", b"one\r<!-- x -->\n\n"])
def test_no_line_goes_whose_neighbours_would_melt(data: bytes) -> None:
    """A carriage return and a newline that meet are one line end."""
    lines = Lines(data)
    assert not lines.remove(1)
    assert lines.render() == data


def test_a_line_put_in_melts_with_nothing() -> None:
    """Its carriage return does not meet the newline behind it."""
    lines = Lines(b"one\n\nthree\r")
    lines.add(0, b"new", b"\r")
    assert lines.render().splitlines() == [b"one", b"new", b"", b"three"]
