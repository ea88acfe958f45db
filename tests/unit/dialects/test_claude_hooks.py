"""Segue's hooks in Claude Code's settings: put in and taken out, and nothing else is touched."""

from __future__ import annotations

import json
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.dialects import claude_hooks
from segue.dialects.claude_hooks import EVENTS, BadSettings, event_of, installed, merged, without

PROGRAM = "/opt/venv/bin/segue"
SOME_HOOK = {"type": "command", "command": "echo hi"}
some_times = hypothesis.settings(max_examples=60, deadline=None)


def _in_order(rest: dict[str, Any], own: dict[str, Any] | None, where: int) -> dict[str, Any]:
    items = list(rest.items())
    if own is not None:
        items.insert(where, ("hooks", own))
    return dict(items)


texts = st.text(max_size=8)
scalars = st.none() | st.booleans() | st.integers() | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
)
groups = st.lists(
    st.fixed_dictionaries(
        {"hooks": st.lists(st.just(SOME_HOOK) | values, max_size=3)},
        optional={"matcher": texts, "note": values},
    )
    | values.filter(lambda value: not isinstance(value, dict) or "hooks" not in value),
    max_size=3,
)
hooks = st.dictionaries(st.sampled_from([*EVENTS, "PreToolUse"]), groups, max_size=4)
settings = st.builds(
    _in_order,
    st.dictionaries(texts.filter(lambda key: key != "hooks"), values, max_size=4),
    st.none() | hooks,
    st.integers(0, 4),
)
layouts = st.sampled_from(
    [
        {"indent": 2},
        {"indent": 4},
        {"indent": "\t"},
        {},
        {"separators": (",", ":")},
        {"indent": 2, "separators": (" ,", " : ")},
    ]
)
ends = st.sampled_from(["", "\n", "\n\n", " "])


@some_times
@given(settings, layouts, ends, st.booleans())
def test_what_is_put_in_can_be_taken_out_to_the_byte(
    before: dict[str, Any], layout: dict[str, Any], end: str, is_dos: bool
) -> None:
    """Whatever the settings are and however they are laid out: they come back as they were."""
    text = json.dumps(before, ensure_ascii=False, **layout) + end
    if is_dos:
        text = text.replace("\n", "\r\n")
    new = merged(text, PROGRAM)
    assert set(installed(new.text)) == set(EVENTS)
    assert without(new.text, new.empty) == text


@some_times
@given(settings, layouts)
def test_nothing_of_a_person_s_is_lost_or_moved(
    before: dict[str, Any], layout: dict[str, Any]
) -> None:
    """Each key, hook and group stands where it stood, in its order; ours come behind."""
    after = json.loads(merged(json.dumps(before, **layout), PROGRAM).text)
    assert [key for key in after if key in before] == list(before)
    assert {k: v for k, v in after.items() if k != "hooks"} == {
        k: v for k, v in before.items() if k != "hooks"
    }
    for event, listed in before.get("hooks", {}).items():
        assert after["hooks"][event][: len(listed)] == listed


@some_times
@given(settings, layouts)
def test_a_second_time_changes_nothing(before: dict[str, Any], layout: dict[str, Any]) -> None:
    """Installing is idempotent."""
    once = merged(json.dumps(before, **layout), PROGRAM).text
    assert merged(once, PROGRAM).text == once


def test_the_hooks_are_those_that_claude_code_reads() -> None:
    """One group for each event, with a matcher only where there is something to match."""
    told = json.loads(merged("{}", PROGRAM).text)["hooks"]
    assert list(told) == ["SessionStart", "PreCompact", "Stop", "StopFailure"]
    (group,) = told["SessionStart"]
    assert group["matcher"] == "startup|resume|compact"
    assert group["hooks"] == [
        {
            "type": "command",
            "command": f"{PROGRAM} hook SessionStart 2>/dev/null || true",
            "timeout": 10,
        }
    ]
    assert "matcher" not in told["Stop"][0]


def test_a_new_file_is_laid_out_by_two_spaces() -> None:
    """What Claude Code itself would write, with a line's end behind it."""
    text = merged("{}\n", PROGRAM).text
    assert text == json.dumps(json.loads(text), indent=2) + "\n"


def test_a_segue_that_has_moved_is_put_right_in_its_place() -> None:
    """Only the command changes: a timeout or a matcher that a person chose stays."""
    text = merged("{}", PROGRAM).text.replace('"timeout": 10', '"timeout": 33')
    text = text.replace("startup|resume|compact", "compact")
    again = merged(text, "'/new home/segue'").text
    assert again == text.replace(PROGRAM, "'/new home/segue'")
    assert installed(again)["Stop"].startswith("'/new home/segue' hook Stop")


def test_a_hook_that_a_person_put_into_our_group_stays() -> None:
    """Only ours goes; the group stays with theirs."""
    told = json.loads(merged("{}", PROGRAM).text)
    told["hooks"]["Stop"][0]["hooks"].insert(0, SOME_HOOK)
    left = json.loads(without(json.dumps(told), {}))
    assert left == {"hooks": {"Stop": [{"hooks": [SOME_HOOK]}]}}


def test_what_stood_empty_before_stands_empty_after() -> None:
    """A list that a person left empty is not ours to remove."""
    text = '{\n  "hooks": {\n    "Stop": [ ],\n    "PreCompact": []\n  }\n}\n'
    new = merged(text, PROGRAM)
    assert without(new.text, new.empty) == text
    assert json.loads(without(new.text, {})) == {}, "nobody knows any more who made it"


@pytest.mark.parametrize(
    ("command", "event"),
    [
        ("segue hook Stop", "Stop"),
        ("segue hook Stop 2>/dev/null || true", "Stop"),
        ("'/a b/segue' hook PreCompact", "PreCompact"),
        ("/usr/bin/python3 -P -m segue hook Stop || true", "Stop"),
        ("trap '' TERM; segue hook StopFailure || true", "StopFailure"),
        ("segue hook Other", None),
        ("mysegue hook Stop", None),
        ("echo segue hook Stop", None),
        ("segue run hook Stop", None),
        ("segue hook", None),
        ("segue hook 'Stop", None),
        ("", None),
        (None, None),
        (["segue", "hook", "Stop"], None),
    ],
)
def test_ours_are_known_by_their_command(command: object, event: str | None) -> None:
    """A program called segue, `hook`, an event; what only mentions it is a person's."""
    assert event_of(command) == event


def test_every_command_of_ours_is_known_again() -> None:
    """What is installed is found."""
    for event in EVENTS:
        assert event_of(claude_hooks.command("'/a b/segue'", event)) == event


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ("[]", "", 1),
        ('{\n"hooks": []}', "hooks", 2),
        ('{"hooks": {\n\n"Stop": {}}}', "hooks.Stop", 3),
        ('"text"', "", 1),
    ],
)
def test_settings_of_another_shape_are_refused(text: str, name: str, line: int) -> None:
    """Valid JSON that Claude Code would not understand is not mended by guessing."""
    with pytest.raises(BadSettings) as caught:
        merged(text, PROGRAM)
    assert str(caught.value) == name
    assert text.count("\n", 0, caught.value.at) + 1 == line
