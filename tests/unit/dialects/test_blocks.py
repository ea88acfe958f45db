"""Named values become events: what is kept, what is corrected, what is refused and why."""

from __future__ import annotations

import time
from typing import Any

import pytest

from segue.dialects import blocks
from segue.dialects.blocks import DEPENDENCY, ERROR, FIELD_CHARS_MAX, OPTIONS_MAX, QUESTION, read
from segue.dialects.events import Asked, DependencyAsked, ErrorReported, Garbled


def asked(**given: Any) -> Asked:
    told = blocks.question({"question": "Which?", **given})
    assert isinstance(told, Asked)
    return told


def test_a_question_has_all_its_fields() -> None:
    """As lines: each field by its name in any case, options as items, text over several lines."""
    text = """\
Category: business
question: Which plan
  for the start: small or large?
options:
  - small
  - large   one
default: LARGE one
required: No
deadline: 1h30m
priority: high
"""
    assert read(QUESTION, text.splitlines()) == Asked(
        "Which plan\nfor the start: small or large?",
        ("small", "large one"),
        "large one",
        "business",
        is_required=False,
        deadline_s=5400.0,
        priority=1,
    )


@pytest.mark.parametrize(
    ("given", "is_required"),
    [
        ({}, True),
        ({"required": True}, True),
        ({"required": False}, False),
        ({"required": "false"}, False),
        ({"required": " NO "}, False),
        ({"required": "perhaps"}, True),
        ({"required": None}, True),
        ({"required": 0}, True),
        ({"required": False, "default": ""}, True),
        ({"required": False, "default": "…"}, True),
        ({"required": False, "options": ["a", "b"]}, True),
    ],
)
def test_a_question_is_required_unless_it_clearly_is_not(
    given: dict[str, Any], is_required: bool
) -> None:
    """One that could take nothing by default must be answered, whatever it says."""
    assert asked(**{"default": "x", **given}).is_required is is_required


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30m", 1800.0), ("2h", 7200.0), ("0s", None), ("soon", None), ("30", None), (30, None)],
)
def test_a_deadline_is_a_duration(text: object, seconds: float | None) -> None:
    """A number without its unit, or a word, is no deadline."""
    assert asked(deadline=text).deadline_s == seconds


@pytest.mark.parametrize(
    ("given", "priority"),
    [("low", -1), ("Urgent", 2), ("3", 3), (-2, -2), (10**30, 9), (-99, -9), ("x", 0), (True, 0)],
)
def test_a_priority_is_a_word_or_a_small_number(given: object, priority: int) -> None:
    """Higher is shown first; what cannot be read is normal."""
    assert asked(priority=given).priority == priority


@pytest.mark.parametrize(
    ("default", "preset"),
    [("b", "b"), ("B", "b"), ("c", None), ("", None), (7, None), (["a"], None)],
)
def test_a_default_is_one_of_the_options(default: object, preset: str | None) -> None:
    """In the option's own spelling; another one is none."""
    assert asked(options=["a", "b"], default=default).preset == preset
    assert asked(options=["B", "b"], default="b").preset == "b"
    assert asked(default="anything").preset == "anything"


@pytest.mark.parametrize("category", ["budget", "permission", "dependency", 7, ["choice"], None])
def test_a_category_of_segues_own_cannot_be_claimed(category: object) -> None:
    """Whatever else it says, it is a clarification."""
    assert asked(category=category).category == "clarification"
    assert asked(category="confirmation").category == "confirmation"


@pytest.mark.parametrize("type_", blocks.DEPENDENCY_TYPES)
def test_a_dependency_has_all_its_fields(type_: str) -> None:
    """Every type, as lines."""
    lines = f"type: {type_}\nname: A_KEY\ndescription: for\n  payments\ndefault: x\nrequired: false"
    assert read(DEPENDENCY, lines.splitlines()) == DependencyAsked(
        type_, "A_KEY", "for\npayments", False, "x"
    )


@pytest.mark.parametrize(
    "name",
    ["stripe-key", "1KEY", "A KEY", "A=B", "A.B", "K\u0130Y", "SEGUE_RUN", "A" * 129, "$KEY", ""],
)
@pytest.mark.parametrize("type_", ["api_key", "env_variable"])
def test_a_variable_has_the_name_of_one(type_: str, name: str) -> None:
    """What comes in the environment must be one of its names, and none of Segue's."""
    told = blocks.dependency({"type": type_, "name": name})
    assert isinstance(told, str)
    assert told


@pytest.mark.parametrize("name", ["STRIPE_KEY", "_x", "path2", "A" * 128, "MY_SEGUE_RUN"])
def test_any_name_of_a_variable_will_do(name: str) -> None:
    """Upper case is a habit, no rule."""
    assert blocks.dependency({"type": "api_key", "name": name}) == DependencyAsked("api_key", name)


@pytest.mark.parametrize(
    ("type_", "name", "is_told"),
    [
        ("file", "config/prod.yaml", True),
        ("service", "PostgreSQL 16\n on port 5432", True),
        ("package", "x" * 200, True),
        ("package", "x" * 201, False),
        ("permission", "…", False),
        ("permission", None, False),
        ("gold", "KEY", False),
        ("", "KEY", False),
        (None, "KEY", False),
    ],
)
def test_other_names_are_one_line(type_: object, name: object, is_told: bool) -> None:
    """A file or a service is named as people name it, in one bounded line; of a known type."""
    told = blocks.dependency({"type": type_, "name": name})
    assert isinstance(told, DependencyAsked) is is_told
    if isinstance(told, DependencyAsked):
        assert "\n" not in told.name


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"type": "fatal", "message": "no disk"},
            ErrorReported("fatal", "no disk", "checkpoint_and_fail"),
        ),
        ({"message": "slow"}, ErrorReported("recoverable", "slow", "notify_user")),
        (
            {"message": "x", "recovery": "checkpoint_and_fail"},
            ErrorReported("fatal", "x", "checkpoint_and_fail"),
        ),
        (
            {"type": "odd", "message": "x", "recovery": "pause_and_retry"},
            ErrorReported("recoverable", "x", "pause_and_retry"),
        ),
        (
            {"type": "fatal", "message": "x", "recovery": "pause_and_retry"},
            ErrorReported("fatal", "x", "pause_and_retry"),
        ),
        ({"type": "fatal"}, ErrorReported("fatal", "", "checkpoint_and_fail")),
    ],
)
def test_an_error_says_what_should_follow(given: dict[str, str], told: ErrorReported) -> None:
    """What is missing follows from the rest; without any word of it an agent is only heard."""
    assert blocks.error(given) == told


@pytest.mark.parametrize(
    ("told", "is_fatal", "is_pause"),
    [
        (ErrorReported("fatal", "x", "checkpoint_and_fail"), True, False),
        (ErrorReported("fatal", "x", "pause_and_retry"), True, False),
        (ErrorReported("recoverable", "x", "checkpoint_and_fail"), True, False),
        (ErrorReported("recoverable", "x", "pause_and_retry"), False, True),
        (ErrorReported("recoverable", "x", "notify_user"), False, False),
    ],
)
def test_a_fatal_error_is_not_waited_out(
    told: ErrorReported, is_fatal: bool, is_pause: bool
) -> None:
    """Whatever it proposes."""
    assert (told.is_fatal, told.is_pause) == (is_fatal, is_pause)


@pytest.mark.parametrize("given", [{}, {"type": "odd"}, {"type": "fatal", "message": "…"}])
def test_an_error_without_a_word_is_none(given: dict[str, str]) -> None:
    """Neither a type nor a message, or the prompt's own dots."""
    assert isinstance(blocks.error(given), str)


def test_values_are_plain_and_bounded() -> None:
    """No value acts on a terminal, hides, or is longer than a field; options are so many."""
    told = asked(
        question="\x1b[31mred\x1b[0m\x00 \u202etxt\n" + "x" * 50_000,
        options=["\x1b]0;t\x07one\ntwo", "", 3, None, "y" * 50_000, *map(str, range(500))],
    )
    assert told.question.startswith("red txt\nxxx")
    assert len(told.question) <= FIELD_CHARS_MAX
    assert told.options[0] == "one two"
    assert len(told.options[1]) == FIELD_CHARS_MAX
    assert len(told.options) <= OPTIONS_MAX


def test_json_may_hold_what_lines_hold() -> None:
    """A JSON block over several lines, and one with a raw tab in a text."""
    body = '{"type": "fatal",\n "message": "no\tdisk"}'
    assert read(ERROR, body.split("\n"), is_json=True) == ErrorReported(
        "fatal", "no\tdisk", "checkpoint_and_fail"
    )


@pytest.mark.parametrize("body", ["", "null", "7", '"x"', "[]", "{", "9" * 6000, "[" * 60_000])
def test_other_json_is_garbled(body: str) -> None:
    """It is told with its size, and in words what was wrong with it."""
    told = read(ERROR, [body], is_json=True)
    assert told == Garbled(len(body) + 1)
    assert isinstance(told, Garbled)
    assert told.why == "ERROR: it is not a JSON object"


def test_why_a_block_is_refused_is_told() -> None:
    """The words name the block and the field."""
    told = read(DEPENDENCY, ["type: gold", "name: X"])
    assert isinstance(told, Garbled)
    assert told.why.startswith("DEPENDENCY_REQUEST: the type must be one of api_key, ")


def test_many_short_lines_cost_little() -> None:
    """A block of nothing but short lines is read in a moment."""
    body = ["message: x", *["y"] * 45_000]
    begin = time.process_time()
    told = read(ERROR, body)
    assert isinstance(told, ErrorReported)
    assert len(told.message) <= FIELD_CHARS_MAX
    assert time.process_time() - begin < 20.0
