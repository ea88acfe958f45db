"""The section in which agents find their place: everything outside of it stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.plans.place import CLOSE, OPEN, put

contents = st.binary(max_size=40) | st.text(max_size=40).map(lambda text: text.encode())


@given(st.none() | contents, st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=3))
def test_a_section_that_is_taken_out_leaves_what_was_there(
    before: bytes | None, told: list[str]
) -> None:
    """To the byte, and no file where there was none; however often it changed meanwhile."""
    data = before
    for text in told:
        data = put(data, "PLAN.md", f"place {text}")
    assert data is not None
    assert data.startswith(before or b"")
    assert put(data, "PLAN.md", "") == before


def test_the_newest_place_is_shown_alone() -> None:
    """The section is brought up to date, not added to."""
    data = put(put(b"# Mine\n", "PLAN.md", "first"), "PLAN.md", "second")
    assert data == f"# Mine\n{OPEN}\n<!-- plan: PLAN.md -->\nsecond\n{CLOSE}\n".encode()


def test_two_plans_have_a_part_each() -> None:
    """What one of them takes out is its own."""
    both = put(put(None, "A.md", "at a"), "B.md", "at b")
    assert both is not None
    assert both.count(OPEN.encode()) == 1
    assert put(both, "A.md", "") == put(None, "B.md", "at b")
    assert put(put(both, "A.md", ""), "B.md", "") is None


def test_a_section_stays_where_a_person_has_moved_it() -> None:
    """What stands behind it stays behind it."""
    data = f"above\n{OPEN}\n{CLOSE}\nbelow\n".encode()
    new = put(data, "P", "here")
    assert new == f"above\n{OPEN}\n<!-- plan: P -->\nhere\n{CLOSE}\nbelow\n".encode()
    assert put(new, "P", "") == b"above\nbelow\n"


@pytest.mark.parametrize("text", [f"a {CLOSE} b", f"{OPEN} x", "<!-- plan: P -->\nx", "-->"])
def test_no_title_can_break_out_of_it(text: str) -> None:
    """Comments in what is told are not comments any more."""
    new = put(b"mine\n", "P", text)
    assert new is not None
    assert new.count(b"<!--") == 3
    assert put(new, "P", "") == b"mine\n"


def test_a_section_without_an_end_is_not_swallowed() -> None:
    """A marker that somebody left alone does not make the rest of the file ours."""
    data = f"{OPEN}\nprecious\n".encode()
    new = put(data, "P", "here")
    assert new is not None
    assert b"precious" in new
    assert put(new, "P", "") == data


def test_nothing_to_take_out_changes_nothing() -> None:
    """No section, no file: nothing is made."""
    assert put(None, "P", "") is None
    assert put(b"text", "P", " \n") == b"text"
