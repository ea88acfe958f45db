"""What an agent at work tells Segue by tool call: one line each in the file that Segue follows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from kit.clock import START
from segue.dialects import tool_channel
from segue.dialects.events import (
    Asked,
    DependencyAsked,
    ErrorReported,
    Event,
    PhaseDone,
    StepDone,
    TaskDone,
)
from segue.mcp import agent
from segue.mcp.tools import Refused

NONCE = "c0ffee"
QUESTION = {"question": "Which one?", "options": ["A", "B"]}
KEY = {"type": "api_key", "name": "STRIPE_KEY", "description": "to pay"}


class Run:
    """An agent's tools, and what Segue reads of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        environ = {"SEGUE_TOLD": str(path), "SEGUE_NONCE": NONCE}
        self.tools = {tool.name: tool for tool in agent.tools(environ, lambda: START)}

    def __call__(self, tool: str, **given: Any) -> str:
        return self.tools[tool].answer(given)

    def refused(self, tool: str, **given: Any) -> str:
        with pytest.raises(Refused) as caught:
            self(tool, **given)
        return str(caught.value)

    @property
    def heard(self) -> list[Event]:
        dialect = tool_channel.ToolChannel(NONCE)
        data = self.path.read_bytes() if self.path.exists() else b""
        return [*dialect.feed(data), *dialect.close()]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path / "T-1.told")


@pytest.mark.parametrize(
    ("tool", "given", "event", "said"),
    [
        ("ask_question", QUESTION, Asked, "Asked. Stop working now and end your turn"),
        ("request_dependency", KEY, DependencyAsked, "Requested. Stop working now"),
        ("report_step", {"n": 3}, StepDone, "Noted: step 3 is done. Continue."),
        (
            "complete_phase",
            {"summary": "done", "phase": 2},
            PhaseDone,
            "End your turn now: Segue checks",
        ),
        ("complete_task", {"summary": "done"}, TaskDone, "Noted. End your turn now."),
        ("report_error", {"message": "no disk"}, ErrorReported, "Continue with what you can do"),
    ],
)
def test_each_call_is_heard_and_tells_the_agent_what_to_do_next(
    run: Run, tool: str, given: dict[str, Any], event: type[Event], said: str
) -> None:
    assert said in run(tool, **given)
    assert type(run.heard[-1]) is event
    assert len(run.path.read_bytes().splitlines()) == 1
    assert run.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"type": "fatal", "recovery": "checkpoint_and_fail"},
            "Stop working now and end your turn.",
        ),
        ({"recovery": "pause_and_retry"}, "you will be started again later."),
        ({"recovery": "notify_user"}, "Continue with what you can do without it"),
    ],
)
def test_an_error_says_whether_the_agent_goes_on(
    run: Run, given: dict[str, str], said: str
) -> None:
    assert said in run("report_error", message="no disk", **given)


def test_a_question_keeps_all_that_was_said(run: Run) -> None:
    """Its kind follows from whether there are options, where none is named."""
    run("ask_question", **QUESTION, default="B", required=False, deadline="30m")
    run("ask_question", question="What is it called?")
    first, second = run.heard
    assert isinstance(first, Asked)
    assert first == Asked("Which one?", ("A", "B"), "B", "choice", False, 1800.0)
    assert isinstance(second, Asked)
    assert second.category == "clarification"


@pytest.mark.parametrize(
    ("tool", "given", "why"),
    [
        ("ask_question", {"question": " "}, "question"),
        ("ask_question", {**QUESTION, "default": "C"}, "default is not one of the options"),
        ("ask_question", {**QUESTION, "required": False}, "needs a default"),
        ("ask_question", {**QUESTION, "deadline": "soon"}, "deadline is not a duration"),
        ("ask_question", {**QUESTION, "category": "gossip"}, "category"),
        ("request_dependency", {**KEY, "name": "not a variable"}, "name"),
        ("report_step", {"n": 0}, "n"),
        ("complete_task", {}, "summary"),
        ("report_error", {"message": "x", "recovery": "hope"}, "recovery"),
    ],
)
def test_what_segue_would_not_believe_is_refused_while_it_can_be_fixed(
    run: Run, tool: str, given: dict[str, Any], why: str
) -> None:
    text = run.refused(tool, **given)
    assert text.startswith(f"{tool}: wrong arguments; nothing was done.")
    assert why in text
    assert not run.path.exists()


def test_a_run_without_a_file_is_told_to_use_the_markers() -> None:
    (tool,) = [one for one in agent.tools({}) if one.name == "report_step"]
    with pytest.raises(Refused, match="use the text markers"):
        tool.answer({"n": 1})


def test_what_is_too_long_for_a_line_is_refused(run: Run) -> None:
    """With what to do instead; nothing of it is written."""
    many = ["한" * 4_000] * 50
    text = run.refused("complete_task", summary="x", deliverables=many)
    assert ("Too long" in text, "Put the details into a file" in text) == (True, True)
    assert not run.path.exists()


def test_a_disk_that_is_full_is_told_and_the_next_line_is_whole(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line that was cut off does not spoil the one after it."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:10]))
    assert "the disk is full" in run.refused("report_step", n=1)
    monkeypatch.undo()
    run("report_step", n=2)
    run("report_step", n=3)
    assert [one.n for one in run.heard if isinstance(one, StepDone)] == [2, 3]


def test_a_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    run = Run(tmp_path / "gone" / "T-1.told")
    assert "Could not reach Segue (No such file or directory)" in run.refused("report_step", n=1)


def test_a_model_finds_all_tools_without_looking_for_them(run: Run) -> None:
    assert list(run.tools) == [
        "ask_question", "request_dependency", "report_step", "complete_phase", "complete_task",
        "report_error",
    ]  # fmt: skip
    assert all(tool.is_always_loaded for tool in run.tools.values())
