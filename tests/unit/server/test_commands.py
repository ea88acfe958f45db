"""The port that the front end uses: the real commands and the one in memory both fit it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from kit.front import FakeCommands
from segue.server import commands as port
from segue.work.phases.commands import Commands

PARTS = (
    port.TaskCommands,
    port.GateCommands,
    port.EventCommands,
    port.SystemCommands,
    port.Commands,
)
NAMES = sorted({name for part in PARTS for name in vars(part) if not name.startswith("_")})
METHODS = [name for name in NAMES if inspect.isfunction(getattr(port.Commands, name))]


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


@pytest.mark.parametrize("commands", [Commands, FakeCommands])
@pytest.mark.parametrize("name", METHODS)
def test_commands_take_every_call_of_the_port(commands: type, name: str) -> None:
    """With all arguments, and with those alone that have no default in the port."""
    wanted, given = getattr(port.Commands, name), getattr(commands, name)
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
def test_what_is_called_by_name_has_the_same_name_everywhere(name: str) -> None:
    """Positional-only parameters may be called differently; the others may not."""
    parameters = inspect.signature(getattr(port.Commands, name)).parameters.values()
    wanted = {each.name for each in parameters if each.kind is not each.POSITIONAL_ONLY}
    for commands in (Commands, FakeCommands):
        assert wanted <= set(inspect.signature(getattr(commands, name)).parameters), commands


def test_the_newest_number_is_read_without_a_call() -> None:
    assert [name for name in NAMES if name not in METHODS] == ["last_seq"]
    for commands in (Commands, FakeCommands):
        assert isinstance(inspect.getattr_static(commands, "last_seq"), property)


def test_commands_in_memory_can_stand_for_each_part() -> None:
    """Whoever needs one part takes it alone: mypy checks these assignments."""
    commands = FakeCommands()
    tasks: port.TaskCommands = commands
    events: port.EventCommands = commands
    made = tasks.create_task(port.NewTask("t", "d"))
    assert [event["taskId"] for event in events.events_after(0)] == [made["id"]]
