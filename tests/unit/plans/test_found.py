"""What the scanner finds."""

from __future__ import annotations

import pytest

from segue.plans.found import Block, Entry
from segue.plans.head import parse_head


@pytest.mark.parametrize(
    ("fence", "line", "is_closed"),
    [
        (b"```", b"```\n", True),
        (b"```", b"`````  \r\n", True),
        (b"```", b"``\n", False),
        (b"```", b"~~~\n", False),
        (b"```", b"``` sh\n", False),
        (b"~~~~", b"~~~\n", False),
        (b"~~~~", b"~~~~\n", True),
        (b"", b"the end -->\n", True),
        (b"", b"```\n", False),
    ],
)
def test_a_block_is_closed_by_its_own_marker(fence: bytes, line: bytes, is_closed: bool) -> None:
    """At least as long, and alone in its line; a comment is closed by its arrow."""
    block = Block(0, fence, 0, is_owned=True, script=None)
    assert block.is_closed_by(line) is is_closed


def test_a_new_entry_has_the_fields_of_its_line() -> None:
    """Each with the index of the line where it stands; nothing else is known yet."""
    entry = Entry(7, 3, 0, 2, parse_head("T-1: one (agent: shell)"))
    assert entry.fields == [("agent", "shell", 7)]
    assert (entry.anchor, entry.own, entry.steps, entry.errors) == (7, [], [], [])


def test_entries_share_nothing() -> None:
    """What is found of one task does not show up in another."""
    one, other = (Entry(n, 3, 0, 2, parse_head(f"T-{n}: x")) for n in (1, 2))
    one.own.append(5)
    one.fields.append(("agent", "shell", 5))
    assert (other.own, other.fields) == ([], [])
