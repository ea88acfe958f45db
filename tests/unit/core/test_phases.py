"""The phases of a task, as the database keeps them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from segue.core.phases import Phase, from_text, to_text

WORDS = st.lists(st.text(max_size=9), max_size=3).map(tuple)
MAYBE = st.none() | st.text(max_size=9)
PHASES = st.builds(Phase, st.text(), WORDS, st.integers(0, 10**9), MAYBE, MAYBE, WORDS)


@given(st.lists(PHASES, max_size=3).map(tuple))
def test_phases_come_back_as_they_were(phases: tuple[Phase, ...]) -> None:
    """Whatever their names and paths are."""
    assert from_text(to_text(phases)) == phases


def test_people_can_read_what_is_kept() -> None:
    """Letters of all languages stand as they are."""
    assert "초안" in to_text((Phase("초안"),))
