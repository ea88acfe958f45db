"""`segue inbox`: what waits for a person, and the command that settles it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kit.bench import Bench
from kit.questions import asked
from kit.shell import Shell


def item(kind: str, work: str = "tasklist", **more: Any) -> dict[str, Any]:
    """One that waits, as the tables tell it."""
    return {
        "id": "q_1", "kind": kind, "task": "T-1", "title": "T-1", "text": "Which one?",
        "options": [], "default": None, "age_s": None, "error": None, "url": None, "acts": [],
        "work": {"id": "w", "kind": work, "path": str(Path.cwd() / "PLAN.md")}, **more,
    }  # fmt: skip


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What is found; a test fills it."""
    found: list[dict[str, Any]] = []
    monkeypatch.setattr("segue.cli.inbox.inbox.items", lambda path, now: found)
    return found


def test_a_question_and_a_failure_are_shown_with_what_to_type(bench: Bench, segue: Shell) -> None:
    gate = asked(bench)
    said = segue("inbox")
    assert said.code == 0
    question, failure = said.out.split("\n\n")
    assert question.splitlines()[0].startswith(f"❓ {gate}  T-1")
    assert question.splitlines()[1:] == [
        "  Which database?", "  - PostgreSQL", "  - SQLite", f"  $ segue answer {gate} TEXT",
    ]  # fmt: skip
    assert failure.splitlines()[0].startswith("✘ T-2  T-2 Test")
    assert failure.splitlines()[-2:] == [
        "  $ segue retry T-2 --plan PLAN.md",
        "  $ segue skip T-2 --plan PLAN.md",
    ]


def test_a_program_reads_the_items(bench: Bench, segue: Shell) -> None:
    gate = asked(bench)
    told = segue("inbox", "--json").json
    assert list(told) == ["items"]
    assert [one["id"] for one in told["items"]] == [gate, "T-2"]


def test_nothing_waits_is_said_in_words_and_as_an_empty_list(segue: Shell) -> None:
    assert segue("inbox").out == "Nothing waits for you.\n"
    assert segue("inbox", "--json").json == {"items": []}
    korean = segue("inbox", "--lang", "ko")
    assert (korean.code, "Nothing" in korean.out) == (0, False)


def test_the_age_is_shown_where_it_is_known(segue: Shell, waits: list[dict[str, Any]]) -> None:
    waits[:] = [item("question", age_s=5400.4), item("question")]
    first, second = segue("inbox").out.split("\n\n")
    assert first.splitlines()[0] == "❓ q_1  T-1  1h 30m"
    assert second.splitlines()[0] == "❓ q_1  T-1"


@pytest.mark.parametrize(
    ("work", "acts", "commands"),
    [
        ("server", ["approve", "request_changes"],
         ["segue approve q_1", "segue task changes q_1 FEEDBACK"]),
        ("server", ["provide", "reject"],
         ["segue task provide q_1", "segue task reject q_1 --reason TEXT"]),
        ("server", ["retry", "go_without", "fail"],
         ["segue retry T-1", "segue task go-without T-1", "segue task fail T-1"]),
        ("panes", ["wake"], ["segue wake T-1"]),
        ("book", ["unskip"], ["segue unskip T-1 --plan PLAN.md"]),
        ("tasklist", ["a new act"], []),
    ],
)  # fmt: skip
def test_each_act_is_a_command_that_can_be_pasted(
    segue: Shell, waits: list[dict[str, Any]], work: str, acts: list[str], commands: list[str]
) -> None:
    """Only plans with a file are named by it; an act that this command does not know is left out."""
    waits[:] = [item("question", work, acts=acts)]
    lines = segue("inbox").out.splitlines()
    assert [line.removeprefix("  $ ") for line in lines if "$" in line] == commands


def test_the_words_of_agents_only_show(segue: Shell, waits: list[dict[str, Any]]) -> None:
    """No escape sequence, no line that looks like the next item, no unquoted name."""
    waits[:] = [
        item("question", title="a\n❓ q_2  T-2", text="one\x1b[2J\ntwo", options=["x\ny"],
             task="T 1; rm -rf .", acts=["retry"])
    ]  # fmt: skip
    lines = segue("inbox").out.splitlines()
    assert lines == [
        "❓ q_1  T 1; rm -rf . a ❓ q_2 T-2",
        "  one",
        "  two",
        "  - x y",
        "  $ segue retry 'T 1; rm -rf .' --plan PLAN.md",
    ]


def test_a_folder_that_is_not_there_is_a_usage_error(segue: Shell) -> None:
    assert segue.refused("inbox", "nowhere")["code"] == "usage"
