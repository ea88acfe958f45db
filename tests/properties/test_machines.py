"""Random walks through every machine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.core.machine import IllegalMove
from segue.core.machines import MACHINES, PaneState, Trigger
from segue.core.plan import MARKS

SEEN = (PaneState.IDLE, PaneState.BUSY, PaneState.BLOCKED, PaneState.DONE)
FACTS = st.fixed_dictionaries(
    {
        "title": st.sampled_from(["", "a"]),
        "type": st.just("b"),
        "description": st.just("c"),
        "slot_is_free": st.booleans(),
        "is_stuck": st.booleans(),
        "verified": st.booleans(),
        "phase": st.integers(0, 2),
        "phases_total": st.integers(0, 2),
        "feedback": st.sampled_from(["", "d"]),
    }
)


@given(st.sampled_from(sorted(MACHINES)), st.lists(st.sampled_from(Trigger)), st.data())
def test_a_walk_takes_legal_moves_alone(
    name: str, triggers: list[Trigger], data: st.DataObject
) -> None:
    """Whatever happens in whatever order, each step is one that the store would allow, and
    a refused one is one that the table does not have."""
    machine = MACHINES[name]
    state = machine.initial
    for trigger in triggers:
        facts = {
            "mark": data.draw(st.sampled_from(MARKS)),
            "seen": data.draw(st.sampled_from(SEEN)),
            **data.draw(FACTS),
        }
        try:
            to = machine.target(state, trigger, **facts)
        except IllegalMove as refused:
            moves = [to for at, by, to in machine.moves() if (at, by) == (state, trigger)]
            assert all(to.when is not None and not to.when(facts) for to in moves)
            assert refused.allowed == machine.allowed(state)
        else:
            assert trigger in machine.allowed(state)
            assert machine.allows(state, to, trigger)
            state = to


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_every_state_can_be_reached(name: str) -> None:
    """No table has a state that nothing leads to."""
    machine = MACHINES[name]
    reached = {machine.initial}
    for _ in machine.states:
        reached |= {to.state for state, _trigger, to in machine.moves() if state in reached}
    assert reached == set(machine.states)


@pytest.mark.parametrize("name", ["run", "park", "gate"])
def test_what_ends_once_ends_for_good(name: str) -> None:
    """Runs, parks and gates have no way back from their ends."""
    machine = MACHINES[name]
    assert all(not machine.allowed(state) for state in machine.finals)
