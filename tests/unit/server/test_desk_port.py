"""The port that the front end uses: the real desk and the one in memory both fit it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from kit.front import FakeDesk
from segue.server import desk_port
from segue.work.phases.commands import Commands

PARTS = (
    desk_port.TaskDesk,
    desk_port.GateDesk,
    desk_port.EventDesk,
    desk_port.SystemDesk,
    desk_port.Commands,
)
NAMES = sorted({name for part in PARTS for name in vars(part) if not name.startswith("_")})
METHODS = [name for name in NAMES if inspect.isfunction(getattr(desk_port.Commands, name))]


def arguments(method: Callable[..., Any]) -> tuple[list[object], dict[str, object]]:
    """A call as the front end may make it: everything that the port names."""
    positional: list[object] = []
    named: dict[str, object] = {}
    for parameter in inspect.signature(method).parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            named[parameter.name] = None
        else:
            positional.append(None)
    return positional, named


@pytest.mark.parametrize("desk", [Commands, FakeDesk])
@pytest.mark.parametrize("name", METHODS)
def test_a_desk_takes_every_call_of_the_port(desk: type, name: str) -> None:
    """With all arguments, and with those alone that have no default in the port."""
    wanted, given = getattr(desk_port.Commands, name), getattr(desk, name)
    positional, named = arguments(wanted)
    inspect.signature(given).bind(*positional, **named)
    needed = [
        parameter
        for parameter in inspect.signature(wanted).parameters.values()
        if parameter.default is inspect.Parameter.empty
    ]
    inspect.signature(given).bind(*(None for _parameter in needed))
    assert inspect.iscoroutinefunction(given) == inspect.iscoroutinefunction(wanted)


@pytest.mark.parametrize("name", METHODS)
def test_what_is_called_by_name_has_the_same_name_at_every_desk(name: str) -> None:
    """Positional-only parameters may be called differently; the others may not."""
    parameters = inspect.signature(getattr(desk_port.Commands, name)).parameters.values()
    wanted = {each.name for each in parameters if each.kind is not each.POSITIONAL_ONLY}
    for desk in (Commands, FakeDesk):
        assert wanted <= set(inspect.signature(getattr(desk, name)).parameters), desk


def test_the_newest_number_is_read_without_a_call() -> None:
    assert [name for name in NAMES if name not in METHODS] == ["last_seq"]
    for desk in (Commands, FakeDesk):
        assert isinstance(inspect.getattr_static(desk, "last_seq"), property)


def test_a_desk_in_memory_can_stand_for_each_part() -> None:
    """Whoever needs one part takes it alone: mypy checks these assignments."""
    desk = FakeDesk()
    tasks: desk_port.TaskDesk = desk
    events: desk_port.EventDesk = desk
    made = tasks.create_task(desk_port.NewTask("t", "d"))
    assert [event["taskId"] for event in events.events_after(0)] == [made["id"]]
