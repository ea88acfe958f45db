"""What clients may send: names in camelCase, exact types, bounded lengths, nothing unknown."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from segue.server import bodies

TASK = {"title": "t", "type": "custom"}


def problems(model: type[bodies.Body], given: dict[str, Any]) -> list[tuple[object, str]]:
    """Where it does not fit, and how."""
    with pytest.raises(ValidationError) as caught:
        model.model_validate(given)
    return [(error["loc"][0], error["type"]) for error in caught.value.errors()]


def test_a_task_needs_a_title_and_a_type_and_the_rest_has_defaults() -> None:
    made = bodies.GivenTask.model_validate(TASK)
    assert (made.description, made.agent, made.depends_on) == ("", "", [])
    assert (made.priority, made.submit) == (0, False)
    assert problems(bodies.GivenTask, {}) == [("title", "missing"), ("type", "missing")]


def test_names_are_those_of_the_api_alone() -> None:
    """`dependsOn`, not `depends_on`: the same thing has one name on the wire."""
    made = bodies.GivenTask.model_validate(TASK | {"dependsOn": ["task_1"]})
    assert made.depends_on == ["task_1"]
    assert problems(bodies.GivenTask, TASK | {"depends_on": ["task_1"]}) == [
        ("depends_on", "extra_forbidden")
    ]


@pytest.mark.parametrize(
    ("field", "value", "kind"),
    [
        ("priority", "5", "int_type"),
        ("priority", True, "int_type"),
        ("priority", 1_000_001, "less_than_equal"),
        ("submit", "yes", "bool_type"),
        ("title", 7, "string_type"),
        ("title", "x" * 301, "string_too_long"),
        ("type", "", "string_too_short"),
        ("description", "x" * 100_001, "string_too_long"),
        ("dependsOn", ["task"] * 201, "too_long"),
        ("dependsOn", [""], "string_too_short"),
        ("status", "completed", "extra_forbidden"),
    ],
)
def test_a_field_of_the_wrong_kind_or_size_is_refused(field: str, value: object, kind: str) -> None:
    """Nothing is converted: a number in quotes is a mistake of the client."""
    assert problems(bodies.GivenTask, TASK | {field: value}) == [(field, kind)]


def test_only_the_fields_that_were_sent_change() -> None:
    """An empty value that was sent is a change; a field that was not sent is none."""
    given = bodies.Changes.model_validate({"agent": "", "dependsOn": []}).given()
    assert given == {"agent": "", "depends_on": []}
    assert bodies.Changes.model_validate({}).given() == {}


def test_a_comment_is_on_a_line_that_can_exist() -> None:
    remark = {"file": "a.md", "text": "why?"}
    good = {"feedback": "f", "comments": [remark, remark | {"line": 1}]}
    assert [each.line for each in bodies.RequestChanges.model_validate(good).comments] == [None, 1]
    for bad in (remark | {"line": 0}, remark | {"text": ""}, remark | {"file": ""}):
        assert problems(bodies.RequestChanges, {"feedback": "f", "comments": [bad]})


@pytest.mark.parametrize(
    ("model", "given"),
    [
        (bodies.Answer, {"answer": ""}),
        (bodies.Provide, {"value": ""}),
        (bodies.RequestChanges, {"feedback": ""}),
        (bodies.Rewind, {}),
        (bodies.Nothing, {"reason": "x"}),
    ],
)
def test_an_act_without_its_words_is_refused(
    model: type[bodies.Body], given: dict[str, Any]
) -> None:
    assert problems(model, given)


def test_a_rejection_and_an_approval_need_no_words() -> None:
    assert bodies.Reject.model_validate({}).reason == ""
    assert bodies.Approve.model_validate({}).comment is None
    assert bodies.Fork.model_validate({}).checkpoint_id is None


def deep() -> object:
    found: object = 1
    for _level in range(100_000):
        found = [found]
    return found


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), "\ud800", deep()], ids=["nan", "inf", "half", "deep"]
)
def test_settings_that_cannot_be_written_again_are_refused(value: object) -> None:
    """What is taken can be stored and shown."""
    settings = TypeAdapter(bodies.Settings)
    with pytest.raises(ValidationError, match="cannot be kept"):
        settings.validate_python({"slots": value})
    assert settings.validate_python({"slots": 3, "글": "é"}) == {"slots": 3, "글": "é"}


def test_there_are_only_so_many_settings() -> None:
    settings = TypeAdapter(bodies.Settings)
    settings.validate_python({str(n): n for n in range(bodies.SETTINGS_MAX)})
    with pytest.raises(ValidationError):
        settings.validate_python({str(n): n for n in range(bodies.SETTINGS_MAX + 1)})
