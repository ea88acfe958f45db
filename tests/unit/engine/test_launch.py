"""The jobs of a run: what its agent and Segue's own check are started with."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kit.plain_agent import COMMAND, NOON, STRUCTURED, PlainAgent
from segue.core.plan import Task
from segue.engine.agent import Facts, Start, Wanted
from segue.engine.executors import Job
from segue.engine.launch import JobBuilder, Launch, secret_values
from segue.engine.run_files import RunFiles

FACTS = Facts("T-1", "run-1", 2, "talk-1", "/project", "n0nce")
TASK = Task("T-1", "Build")
LINES = replace(COMMAND, takes_lines=True)


@pytest.fixture
def builder(tmp_path: Path) -> JobBuilder:
    files = RunFiles(tmp_path / "logs", tmp_path / "evidence", tmp_path / "runs")
    return JobBuilder(files, {"PATH": "/bin"}, {"LANG": "C"})


def launch(agent: PlainAgent = COMMAND, **more: Any) -> Launch:
    return Launch(agent, FACTS, Path("/folder"), **more)


def job(builder: JobBuilder, given: Launch, **more: Any) -> Job:
    return builder.agent_job(given, Wanted(TASK, "do it", "talk-9"), **more)


def test_an_agent_finds_its_facts_and_what_its_kind_of_work_adds(builder: JobBuilder) -> None:
    """What the kind adds counts most; secrets are in the environment, and masked."""
    given = launch(env={"SEGUE_PHASE": "2"}, secrets={"KEY": "sk-1234"}, deadline=NOON)
    made = job(builder, given)
    assert made.env == {
        "LANG": "C", **FACTS.environment(), "KEY": "sk-1234", "SEGUE_PHASE": "2",
    }  # fmt: skip
    assert (made.id, made.cwd, made.deadline) == ("run-1", Path("/folder"), NOON)
    assert made.masks == ("sk-1234",)
    assert "sk-1234" not in repr(made) + repr(given)


def test_the_prompt_of_a_one_shot_agent_is_its_input(builder: JobBuilder) -> None:
    """Its output and its errors are one log, and its input ends."""
    made = job(builder, launch())
    assert (made.stdin, made.is_interactive, made.err) == (b"do it", False, None)
    assert made.log == builder.files.log("run-1")


def test_the_errors_of_a_structured_agent_are_kept_apart(builder: JobBuilder) -> None:
    """Between its lines they would break them."""
    assert job(builder, launch(STRUCTURED)).err == builder.files.err("run-1")


@pytest.mark.parametrize("stays_open", [True, False])
@pytest.mark.parametrize("line", [None, {"type": "question_answer", "answer": "네"}])
def test_an_agent_that_takes_lines_reads_json(
    builder: JobBuilder, line: dict[str, str] | None, stays_open: bool
) -> None:
    """Its prompt, or what its kind of work has to say; more may follow where that says so."""
    made = job(builder, launch(LINES), line=line, stays_open=stays_open)
    assert made.stdin is not None
    assert made.stdin.endswith(b"\n")
    assert json.loads(made.stdin) == (line or {"type": "prompt", "text": "do it"})
    assert made.is_interactive is stays_open


def test_only_agents_that_take_lines_get_any(builder: JobBuilder) -> None:
    """To others the prompt is a text."""
    made = job(builder, launch(), line={"type": "prompt", "text": "x"}, stays_open=True)
    assert (made.stdin, made.is_interactive) == (b"do it", False)


def test_an_agent_that_runs_already_is_told_nothing(builder: JobBuilder) -> None:
    """It has read its prompt."""
    assert job(builder, launch(LINES), is_adopted=True).stdin is None


@pytest.mark.parametrize("reports", [True, False])
@pytest.mark.parametrize("has_tools", [True, False])
def test_tools_are_for_agents_that_can_use_them_and_are_to_report(
    builder: JobBuilder, has_tools: bool, reports: bool
) -> None:
    """Then their calls are followed like an output."""
    seen: list[Wanted] = []

    def start(wanted: Wanted) -> Start:
        seen.append(wanted)
        return Start(("agent",), None)

    made = job(
        builder, launch(replace(STRUCTURED, has_tools=has_tools, start=start)), reports=reports
    )
    calls = builder.files.tool_calls("run-1")
    assert (made.told.path if made.told else None) == (calls if has_tools and reports else None)
    assert (seen[0].tools_env.get("SEGUE_TOLD") == str(calls)) is (has_tools and reports)
    assert seen[0].conversation == "talk-9"


def test_a_check_is_a_shell_without_the_agents_secrets(builder: JobBuilder) -> None:
    """They are masked in what it prints; that is kept where no agent writes."""
    given = launch(env={"OWN": "1"}, secrets={"KEY": "sk-1234"})
    made = builder.check_job(given, "make test", "run-0")
    assert made.argv == ("/bin/sh", "-c", "make test")
    assert ("KEY" in made.env, made.env["OWN"], made.masks) == (False, "1", ("sk-1234",))
    assert made.log == builder.files.check_log("run-0")
    assert made.env["PYTHONDONTWRITEBYTECODE"] == "1"


@pytest.mark.parametrize(
    ("value", "is_secret"),
    [("sk-1234", True), ("a1", True), ("12345", False), ("123456", True), ("yes", False)],
)
def test_words_and_short_numbers_are_no_secrets(value: str, is_secret: bool) -> None:
    """Masking them would make an output unreadable."""
    assert secret_values({"KEY": value}) == ((value,) if is_secret else ())
