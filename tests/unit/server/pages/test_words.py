"""What states, acts and refusals are called on the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from segue import i18n
from segue.core.machines import GateState
from segue.core.plan import TaskState
from segue.core.serving import STAGES, AgentState, allowed_actions
from segue.server.pages import words
from segue.server.pages.speech import speaking
from segue.work.phases.refused import Refused

ACTS = {act for s in STAGES for a in AgentState for act in allowed_actions(TaskState(s), a)}


@pytest.mark.parametrize(
    ("table", "keys"),
    [
        (words.STAGES, STAGES),
        (words.MARKS, STAGES),
        (words.AGENTS, AgentState),
        (words.SETTLED, {"pending", "approved", "answered", "provided", "rejected"}),
        (words.ACTIONS, ACTS - {"approve", "request_changes"}),  # those have forms of their own
    ],
    ids=["stages", "marks", "agents", "settled", "actions"],
)
def test_every_state_and_every_act_has_a_name(
    table: Mapping[str, str], keys: Iterable[object]
) -> None:
    assert {str(key) for key in keys} - table.keys() == set()


def test_every_name_of_a_settled_gate_is_a_state_of_gates() -> None:
    assert words.SETTLED.keys() <= {str(state) for state in GateState}


def test_names_are_in_the_language_of_the_reader() -> None:
    assert words.name(words.STAGES, TaskState.DRAFT) == "Draft"
    with speaking("ko"):
        korean = {words.name(words.STAGES, stage) for stage in STAGES}
    assert korean.isdisjoint(words.STAGES.values())


def test_what_has_no_name_is_shown_as_it_is() -> None:
    """A type of the user's own, or a state of a newer server."""
    assert words.name(words.TYPES, "my_report") == "my report"
    assert words.about("my_report") == ""
    assert words.about("create_app") != ""


@pytest.mark.parametrize(
    ("task", "shown"),
    [
        ({"error": None}, ""),
        ({"error": "boom: x", "outcome": "failed"}, "boom: x"),
        ({"error": "cancelled: too late: x", "outcome": "cancelled"}, "cancelled: too late: x"),
        ({"error": None, "outcome": "cancelled"}, "cancelled"),
    ],
)
def test_why_a_task_ended_is_said_once(task: dict[str, str | None], shown: str) -> None:
    assert words.error(task) == shown


def test_a_state_of_the_journal_is_named_by_whose_it_is() -> None:
    """`failed` is said differently of an agent and of a task; before the first there is a dash."""
    entry = {"from": None, "to": "failed"}
    assert words.state(entry | {"entity": "task"}, "to") == "Failed"
    assert words.state(entry | {"entity": "agent"}, "to") == "has failed"
    assert words.state(entry | {"entity": "other"}, "from") == "–"


@pytest.mark.parametrize(
    ("code", "facts", "text"),
    [
        ("not_allowed", {"allowedActions": ["pause", "cancel"]}, "Possible: Pause, Cancel"),
        ("not_allowed", {}, "Possible: –"),
        ("bad_answer", {"suggestion": "Postgres"}, "“Postgres”"),
        ("bad_answer", {"options": ["a"]}, "Choose one"),
        ("bad_answer", {}, "Enter a text"),
        ("bad_value", {"field": "value"}, "Enter a value"),
        ("bad_value", {}, "the command's words"),
        ("unknown_task", {}, "Not found"),
        ("something_new", {}, "the command's words"),
    ],
)
def test_a_refusal_says_what_to_do(code: str, facts: dict[str, object], text: str) -> None:
    """What the page has no words for is said in those of the command."""
    assert text in words.refusal(Refused(422, code, "the command's words", facts))


def test_a_refusal_is_in_the_language_of_the_reader() -> None:
    refused = Refused(422, "invalid", "This is too long.", {"field": "title"})
    with speaking("ko"):
        assert words.refusal(refused) not in ("", "This is too long.")
    assert i18n.language() == "en"
