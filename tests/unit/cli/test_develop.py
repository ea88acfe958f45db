"""`segue develop`: what is to be done about the work that is there, and who is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kit.git import git
from kit.shell import Shell

STATE = """\
phase: IMPLEMENT
strategy: direct
feature: "chat"
checkpoints:
  cp-1: { status: passed, iteration: 1 }
  cp-2: { status: in_progress, iteration: 2 }
"""
COMPLETE = STATE.replace("IMPLEMENT", "DONE").replace("in_progress", "passed")
SHORT = STATE.replace("IMPLEMENT", "DONE").replace("in_progress", "escalated")


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What would be developed: the options, one for each start."""
    found: list[Any] = []

    def go(options: Any, environ: dict[str, str], *, as_json: bool) -> int:
        found.append(options)
        return 0

    monkeypatch.setattr("segue.cli.develop.go", go)
    return found


def feature(alone: Path, text: str = STATE) -> Path:
    folder = alone / ".develop-workflow"
    folder.mkdir()
    (folder / "state.yaml").write_text(text)
    return folder / "state.yaml"


def test_a_new_feature_begins_with_what_the_options_say(segue: Shell, begun: list[Any]) -> None:
    said = segue(
        "develop", "real-time chat", "--gates", "--agent", "codex", "-j", "2", "--no-wait",
        "--strategy", "subagent", "--on-escalated", "skip", "--merge-command", "make pr",
    )  # fmt: skip
    assert (said.code, said.out) == (0, "")
    (one,) = begun
    assert (one.feature, one.is_fresh, one.has_gates, one.agent) == (
        "real-time chat", True, True, "codex",
    )  # fmt: skip
    assert (one.jobs, one.wait, str(one.strategy)) == (2, False, "subagent")
    assert (one.on_escalated, one.merge_command, one.is_approved) == ("skip", "make pr", False)


@pytest.mark.parametrize("args", [("--resume",), ("chat", "--resume"), ("--approve",)])
def test_unfinished_work_is_continued_without_a_question(
    segue: Shell, alone: Path, begun: list[Any], args: tuple[str, ...]
) -> None:
    """Where it stands is said first."""
    feature(alone)
    said = segue("develop", *args)
    assert said.out == (
        "Earlier work: 'chat', phase IMPLEMENT\n"
        "Checkpoints: cp-1 passed, cp-2 in_progress (iter 2/3)\n"
    )
    assert [(one.feature, one.is_fresh) for one in begun] == [("chat", False)]
    assert begun[0].is_approved == ("--approve" in args)


@pytest.mark.parametrize(
    ("args", "name"), [(("--fresh",), "chat"), (("search", "--fresh"), "search")]
)
def test_fresh_starts_over_without_a_question(
    segue: Shell, alone: Path, begun: list[Any], args: tuple[str, ...], name: str
) -> None:
    """With the name that was there, if no other is given."""
    feature(alone)
    assert segue("develop", *args).code == 0
    assert [(one.feature, one.is_fresh) for one in begun] == [(name, True)]


@pytest.mark.parametrize(("number", "name", "is_fresh"), [(1, "chat", False), (2, "search", True)])
def test_a_person_at_a_terminal_chooses_between_the_old_and_the_new(
    segue: Shell, alone: Path, begun: list[Any], monkeypatch: pytest.MonkeyPatch,
    number: int, name: str, is_fresh: bool,
) -> None:  # fmt: skip
    feature(alone)
    monkeypatch.setattr("segue.cli.develop.choose", lambda question, most: number)
    said = segue("develop", "search", is_terminal=True)
    assert "'chat' is not finished, but you asked for 'search'." in said.out
    assert "  1. continue 'chat'\n  2. from the start\n" in said.out
    assert [(one.feature, one.is_fresh) for one in begun] == [(name, is_fresh)]


def test_a_pipe_is_told_which_option_to_give(segue: Shell, alone: Path, begun: list[Any]) -> None:
    """Exit code 3: a person must choose."""
    feature(alone)
    said = segue("develop", "chat")
    assert (said.code, begun) == (3, [])
    assert said.out.endswith("Choose: --resume (continue it) or --fresh (start over)\n")


def test_after_a_complete_feature_another_one_begins(
    segue: Shell, alone: Path, begun: list[Any]
) -> None:
    feature(alone, COMPLETE)
    said = segue("develop", "search")
    assert said.out == "The last feature is complete. Starting a new one.\n"
    assert [(one.feature, one.is_fresh) for one in begun] == [("search", True)]


def test_a_feature_that_ended_without_a_checkpoint_ends_so_again(
    segue: Shell, alone: Path, begun: list[Any]
) -> None:
    """Not everything was done: the exit code says it, and a program reads which."""
    feature(alone, SHORT)
    last = segue("develop", "--resume", "--json").finished
    assert (last["exit"], last["completed"], last["failed"]) == (1, ["cp-1"], ["cp-2"])
    assert begun == []


@pytest.mark.parametrize(
    ("args", "code", "hint"),
    [
        ((), "usage", 'segue develop "FEATURE"'),
        (("  ",), "usage", 'segue develop "FEATURE"'),
        (("--resume",), "nothing_to_resume", 'segue develop "FEATURE"'),
        (("--resume", "--fresh"), "usage", ""),
        (("x", "--jobs", "0"), "usage", "--help"),
        (("x", "--strategy", "waterfall"), "usage", "--help"),
    ],
)
def test_what_cannot_be_begun_is_refused(
    segue: Shell, begun: list[Any], args: tuple[str, ...], code: str, hint: str
) -> None:
    error = segue.refused("develop", *args)
    assert error["code"] == code
    assert hint in (error["hint"] or "")
    assert begun == []


def test_a_broken_state_is_never_taken_for_none(
    segue: Shell, alone: Path, begun: list[Any]
) -> None:
    """It is named with its line, and stays as it is."""
    path = feature(alone, "phase: IMPLEMENT\nfeature: [\n")
    error = segue.refused("develop", "chat")
    assert (error["code"], error["file"]) == ("broken_state", str(path))
    assert "--repair" in error["hint"]
    assert begun == []


def test_the_state_goes_into_gitignore_of_a_repository(
    segue: Shell, alone: Path, begun: list[Any]
) -> None:
    """Once; what stood there stays."""
    git(alone, "init", "-q")
    (alone / ".gitignore").write_text("*.log\n")
    said = segue("develop", "chat")
    assert said.out == "add .develop-workflow/ to .gitignore\n"
    assert (alone / ".gitignore").read_text() == "*.log\n.develop-workflow/\n"
    assert segue("develop", "chat").out == ""
    assert len(begun) == 2
