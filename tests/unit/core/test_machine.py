"""The table, its guards, and what it refuses."""

from __future__ import annotations

from enum import StrEnum

import pytest

from segue.core.machine import Facts, IllegalMove, Machine, To
from segue.errors import Bug


class Light(StrEnum):
    RED = "red"
    GREEN = "green"
    OFF = "off"


class Press(StrEnum):
    GO = "go"
    SWITCH = "switch"
    END = "end"


def is_dark(facts: Facts) -> bool:
    return facts.get("lux", 0) == 0


LIGHT = Machine(
    "light",
    Light,
    {
        (Light.RED, Press.GO): To(Light.GREEN),
        (Light.RED, Press.SWITCH): (To(Light.OFF, when=is_dark), To(Light.GREEN)),
        (Light.GREEN, Press.END): To(Light.OFF, when=is_dark),
    },
)


def test_the_first_entry_whose_guard_holds_is_taken() -> None:
    """Guards are asked in the table's order; an entry without one always holds."""
    assert LIGHT.target(Light.RED, Press.SWITCH, lux=0) is Light.OFF
    assert LIGHT.target(Light.RED, Press.SWITCH, lux=9) is Light.GREEN


def test_plain_text_is_as_good_as_a_member() -> None:
    """States and triggers read back from a database need no conversion."""
    assert LIGHT.target("red", "go") is Light.GREEN
    assert LIGHT.allows("red", "green", "go")


def test_an_illegal_move_names_the_state_the_trigger_and_what_is_allowed() -> None:
    """The error says all that is needed to see what went wrong."""
    with pytest.raises(IllegalMove) as caught:
        LIGHT.target(Light.RED, Press.END)
    assert str(caught.value) == "light: end is illegal in red (allowed: go, switch)"
    assert isinstance(caught.value, Bug)


def test_a_move_whose_guards_all_refuse_is_illegal() -> None:
    """A known trigger leads nowhere while none of its guards holds."""
    with pytest.raises(IllegalMove):
        LIGHT.target(Light.GREEN, Press.END, lux=5)


def test_allows_asks_for_the_very_move() -> None:
    """State, trigger and target must all be those of a row; guards are not asked."""
    assert LIGHT.allows(Light.RED, Light.OFF, Press.SWITCH)
    assert not LIGHT.allows(Light.RED, Light.OFF, Press.GO)
    assert not LIGHT.allows(Light.OFF, Light.RED, Press.GO)


def test_the_ends_are_the_states_without_a_way_out() -> None:
    """Without being told, a machine begins with its first state and ends where nothing leads on."""
    assert LIGHT.initial is Light.RED
    assert LIGHT.finals == {Light.OFF}
    assert LIGHT.allowed(Light.OFF) == ()


def test_the_diagram_shows_every_row_and_guard() -> None:
    """The diagram is the table: one arrow per pair of states, with triggers and guards."""
    assert LIGHT.diagram() == (
        "stateDiagram-v2\n"
        "    [*] --> red\n"
        "    red --> green: go, switch\n"
        "    red --> off: switch [is_dark]\n"
        "    green --> off: end [is_dark]\n"
        "    off --> [*]\n"
    )


def test_a_trigger_from_any_to_any_is_a_note() -> None:
    """Arrows between all states would bury the others."""
    everywhere = Machine(
        "dial",
        Light,
        {(a, Press.SWITCH): tuple(To(b) for b in Light if b is not a) for a in Light},
    )
    assert everywhere.diagram() == (
        "stateDiagram-v2\n"
        "    [*] --> red\n"
        "    note right of red : switch leads from any state to any other\n"
    )
