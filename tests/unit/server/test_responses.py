"""The shapes that are documented are those that clients get."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ValidationError

from kit.front import FakeCommands
from segue.server import responses
from segue.server.commands import Json, NewTask


@pytest.fixture
def shown(commands: FakeCommands) -> dict[str, Json]:
    """One of each, as the server gives them."""
    task = commands.create_task(NewTask("t", "d"))["id"]
    return {
        "Task": commands.task(task),
        "Agent": commands.agent(task),
        "Review": commands.review(commands.open("review", task)),
        "Question": commands.question(commands.open("question", task)),
        "Dependency": commands.dependency(commands.open("dependency", task)),
        "Checkpoints": commands.checkpoints(task),
        "Journal": commands.journal(task),
        "Tasks": commands.list_tasks(),
        "Inbox": commands.inbox(),
    }


def names(model: type[BaseModel]) -> set[str]:
    """As they stand in the JSON."""
    return {field.alias or name for name, field in model.model_fields.items()}


@pytest.mark.parametrize(
    "name",
    [
        "Task",
        "Agent",
        "Review",
        "Question",
        "Dependency",
        "Checkpoints",
        "Journal",
        "Tasks",
        "Inbox",
    ],
)
def test_what_the_command_gives_fits_what_is_documented(shown: dict[str, Json], name: str) -> None:
    """Every member that is promised is there, with its type."""
    model = getattr(responses, name)
    model.model_validate(shown[name])
    assert names(model) <= set(shown[name])


def test_members_have_the_names_of_the_api() -> None:
    assert {"currentPhase", "dependsOn", "allowedActions", "costUsd"} <= (
        names(responses.Task) | names(responses.Usage)
    )
    assert {"from", "to", "taskId"} <= names(responses.JournalEntry)
    assert "in" in names(responses.FieldError)


def test_more_members_may_come_without_a_new_shape(shown: dict[str, Json]) -> None:
    """Clients are told so; a member of a newer server is kept."""
    found = responses.Task.model_validate(shown["Task"] | {"tags": ["a"]})
    assert found.model_dump(by_alias=True)["tags"] == ["a"]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("Task", {"status": "flying"}),
        ("Task", {"agentStatus": "asleep"}),
        ("Task", {"outcome": "perhaps"}),
        ("Review", {"status": "maybe"}),
        ("Journal", {"total": "many"}),
    ],
)
def test_a_state_that_is_none_does_not_fit(
    shown: dict[str, Json], name: str, changes: Json
) -> None:
    """The document lists the states that there are: it would be wrong otherwise."""
    with pytest.raises(ValidationError):
        getattr(responses, name).model_validate(shown[name] | changes)


def test_the_shape_of_a_dependency_has_no_place_for_its_value() -> None:
    assert "value" not in names(responses.Dependency)


def test_a_problem_names_fields_only_where_there_are_some() -> None:
    basic = {"type": "urn:x", "title": "t", "status": 404, "code": "c", "detail": "d"}
    assert responses.Problem.model_validate(basic).errors is None
    error = {"in": "body", "pointer": "#/title", "code": "missing", "detail": "needed"}
    found = responses.Problem.model_validate(basic | {"errors": [error]})
    assert found.errors is not None
    assert found.errors[0].in_ == "body"
