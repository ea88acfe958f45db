"""What an agent is told."""

from __future__ import annotations

import re

from segue.core.plan import Step, Task, TaskState
from segue.dialects import tool_channel
from segue.dialects.events import Asked, StepDone
from segue.dialects.text import Text
from segue.engine.prompts import first, permission, resumed
from segue.engine.said import SUMMARY_CHARS_MAX, summarise

STEPS = (
    Step("define the endpoints", TaskState.PENDING, 3),
    Step("write the handlers", TaskState.PENDING, 4),
)
TASK = Task("T-3", "Build the API", body="Use REST.\n", steps=STEPS, verify="pytest -q")


def test_the_first_prompt_has_everything() -> None:
    """Title, body, sub-steps, what blockers produced, the last error, the check."""
    text = first(TASK, produced=[("T-1: Schema", "tables made")], error="npm failed", nonce="n0")
    for part in (
        "T-3",
        "Build the API",
        "Use REST.",
        "1. define the endpoints",
        "2. write the handlers",
        "T-1: Schema",
        "tables made",
        "npm failed",
        "pytest -q",
    ):
        assert part in text, part


def test_what_is_not_there_is_not_mentioned() -> None:
    """A bare task's prompt has no empty headings."""
    text = first(Task("T-1", "Go"), produced=[], error=None, nonce="n0")
    assert "STEP" not in text
    assert "before" not in text
    assert "failed" not in text
    assert "check" not in text


def test_the_markers_it_teaches_are_those_that_are_understood() -> None:
    """An agent that does as it is told is heard; one that prints its prompt asks nothing."""
    text = first(TASK, produced=[], error=None, nonce="n0nce")
    report = text[text.index("=== STEP") :].replace("STEP N", "STEP 2")
    report = report.replace("question: …", "question: Why?").replace("- …", "- because")
    events = list(Text("n0nce").feed(report.encode()))
    assert StepDone(2) in events
    assert Asked("Why?", ("because",), None, "choice") in events
    assert not [e for e in Text("other").feed(report.encode()) if isinstance(e, Asked | StepDone)]


def test_a_resumed_run_gets_the_answer_or_the_text_to_go_on() -> None:
    """What the person said, even nothing, goes before the general text."""
    assert resumed("계속") == "계속\n"
    assert resumed("계속", answer="SQLite") == "SQLite\n"
    assert resumed("계속", answer="") == "\n"


def test_an_agent_with_tools_is_told_to_use_them() -> None:
    """It reports by tool call; no marker with a nonce is taught, so none can be copied."""
    text = first(TASK, produced=[], error=None, nonce="n0nce", has_tools=True)
    assert "report_step" in text
    assert "ask_question" in text
    assert "n0nce" not in text
    assert "USER_QUESTION" not in text
    bare = first(Task("T-1", "Go"), produced=[], error=None, nonce="n0nce", has_tools=True)
    assert "report_step" not in bare
    assert "ask_question" in bare


def test_the_tools_it_is_told_of_are_those_that_there_are() -> None:
    """A prompt that names a tool that nobody serves would be worse than none."""
    text = first(TASK, produced=[], error=None, nonce="n", has_tools=True)
    named = set(re.findall(r"tool `(\w+)`", text))
    assert named == {tool_channel.STEP, tool_channel.ASK}


def test_a_task_that_begins_afresh_is_told_where_it_was() -> None:
    """The last words of the lost conversation, and what a person said to it."""
    text = first(
        TASK,
        produced=[],
        error=None,
        nonce="n0",
        before="the schema is made",
        answer="use SQLite",
    )
    assert text.index("Use REST.") < text.index("the schema is made") < text.index("use SQLite")
    assert "lost" in text
    plain = first(TASK, produced=[], error=None, nonce="n0")
    assert "lost" not in plain
    assert "answer to your question" not in plain


def test_leave_is_told_with_what_it_is_for() -> None:
    """Yes and no are told apart, in words that name the tool and its use."""
    given = permission("Bash", "make {x}", is_given=True)
    refused = permission("Bash", "make {x}", is_given=False)
    for text in (given, refused):
        assert "Bash" in text
        assert "make {x}" in text
    assert "not" in refused
    assert "not" not in given


def test_a_summary_is_the_end_of_what_was_said() -> None:
    """The last lines, whole and in order, within the bound."""
    assert summarise([]) == ""
    assert summarise(["one", "two"]) == "one\ntwo"
    found = summarise([f"line {n} {'x' * 50}" for n in range(1000)]).splitlines()
    assert found[-1].startswith("line 999 ")
    assert [line.split()[1] for line in found] == [str(n) for n in range(1000 - len(found), 1000)]
    assert SUMMARY_CHARS_MAX - 100 < len("\n".join(found)) <= SUMMARY_CHARS_MAX


def test_a_summary_of_one_huge_line_is_its_end() -> None:
    """A last line over the bound is cut, not left out: those that depend on it learn something."""
    found = summarise(["before", "x" * SUMMARY_CHARS_MAX + "the end"])
    assert found.endswith("the end")
    assert len(found) <= SUMMARY_CHARS_MAX
