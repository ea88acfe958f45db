"""Changes of a JSON text that leave every other byte as it is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.dialects.json_text import appended, container, indent_of, removed, replaced, value_of

TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
OBJECTS = st.dictionaries(st.text(), TREES, max_size=5)
LAYOUTS = st.sampled_from([None, 2, 4, "\t"])


def written(value: Any, indent: Any, line_end: str = "\n") -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False).replace("\n", line_end)


@given(OBJECTS, LAYOUTS)
def test_every_member_is_found_where_it_stands(value: dict[str, Any], indent: Any) -> None:
    """With its key and its value."""
    text = written(value, indent)
    found = container(text)
    assert {m.key: value_of(text, m) for m in found.members} == value
    assert (text[found.start], text[found.close]) == ("{", "}")


@given(OBJECTS, LAYOUTS, st.text(), TREES, st.sampled_from(["\n", "\r\n"]))
def test_a_member_more_changes_no_other(
    value: dict[str, Any], indent: Any, key: str, new: Any, line_end: str
) -> None:
    """It is the last one, and all that stood before it still stands there."""
    text = written(value, indent, line_end)
    changed = appended(text, container(text), new, key)
    assert json.loads(changed) == {**value, key: new}
    last = container(text).members[-1].end if value else 1
    assert changed[:last] == text[:last]


@given(OBJECTS.filter(bool), LAYOUTS, st.data())
def test_a_member_less_changes_no_other(value: dict[str, Any], indent: Any, data: Any) -> None:
    """Whichever it is."""
    text = written(value, indent)
    index = data.draw(st.integers(0, len(value) - 1))
    key = list(value)[index]
    rest = {name: each for name, each in value.items() if name != key}
    assert json.loads(removed(text, container(text), index)) == rest


def test_a_new_member_is_laid_out_as_its_neighbours() -> None:
    """On a line of its own where they have one, with their indent and line end."""
    text = '{\r\n    "a": [1, 2],\r\n    "b": 2\r\n}\r\n'
    assert appended(text, container(text), {"x": 1}, "c") == (
        '{\r\n    "a": [1, 2],\r\n    "b": 2,\r\n    "c": {\r\n        "x": 1\r\n    }\r\n}\r\n'
    )
    listed = container(text, container(text).members[0].value)
    assert '"a": [1, 2, 3],' in appended(text, listed, 3)


def test_an_empty_object_gets_lines() -> None:
    """With the indent of the line where it stands."""
    text = '{\n\t"hooks": {}\n}'
    inner = container(text, container(text).members[0].value)
    assert appended(text, inner, 1, "x") == '{\n\t"hooks": {\n\t\t"x": 1\n\t}\n}'


def test_the_last_member_leaves_what_is_wanted_inside() -> None:
    """Nothing, or what stood there before."""
    text = '{ "a": 1 }'
    assert removed(text, container(text), 0) == "{}"
    assert removed(text, container(text), 0, inside=" ") == "{ }"


def test_of_two_members_with_one_key_the_last_counts() -> None:
    """As all readers take it."""
    text = '{"a": 1, "a": 2}'
    member = container(text).member("a")
    assert member is not None
    assert value_of(text, member) == 2
    assert replaced(text, member, "한") == '{"a": 1, "a": "한"}'
    assert container(text).member("b") is None


@pytest.mark.parametrize(
    ("text", "indent"),
    [
        ('{"a": 1}', "  "),
        ("{}", "  "),
        ('{\n\t"a": 1}', "\t"),
        ('{\n"a": 1}', "  "),
        ('\n {\n   "a": 1}', "   "),
    ],
)
def test_one_step_of_indentation(text: str, indent: str) -> None:
    """That of the outermost members, two blanks where they have none."""
    assert indent_of(text) == indent
