"""How results and errors leave the program."""

from __future__ import annotations

import json

import click
import pytest

from segue.cli import output
from segue.errors import Problem, UserError

ERROR = UserError("cycle", "T-1 → T-1", file="PLAN.md", line=3, hint="delete one\nof them")


def test_an_error_is_told_to_a_person_with_its_place_and_its_cure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """File, line, message and every line of the hint on standard error; exit 2."""
    assert output.error(ERROR, as_json=False) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == "error: PLAN.md:3: T-1 → T-1\n  → delete one\n  → of them\n"


def test_an_error_is_told_to_a_program_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """One object with code, message, file, line and hint on standard output; exit 2."""
    assert output.error(ERROR, as_json=True) == 2
    told = capsys.readouterr()
    assert told.err == ""
    assert json.loads(told.out) == {
        "error": {
            "code": "cycle",
            "message": "T-1 → T-1",
            "file": "PLAN.md",
            "line": 3,
            "hint": "delete one\nof them",
        }
    }
    assert "→" in told.out, "people read it, too"


def test_what_is_not_known_is_null(capsys: pytest.CaptureFixture[str]) -> None:
    """The names are always there."""
    output.error(UserError("usage", "x"), as_json=True)
    assert json.loads(capsys.readouterr().out)["error"] == {
        "code": "usage",
        "message": "x",
        "file": None,
        "line": None,
        "hint": None,
    }


def test_several_problems_are_told_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """To a program all of them, the first one foremost; to a person no more than they read."""
    many = UserError.of([Problem("bad", f"problem {n}", "f", n) for n in range(1, 31)])
    output.error(many, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["error"] == told["errors"][0]
    assert [problem["line"] for problem in told["errors"]] == list(range(1, 31))
    output.error(many, as_json=False)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == output.PROBLEMS_SHOWN_MAX + 1
    assert "10" in lines[-1]


def test_an_error_without_a_place_has_no_empty_one(capsys: pytest.CaptureFixture[str]) -> None:
    """No stray colon stands before the message."""
    output.error(UserError("x", "the message"), as_json=False)
    assert capsys.readouterr().err == "error: the message\n"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("statsu", "did you mean `segue status`?"),
        ("PLAN.md", "to run a plan: segue run PLAN.md"),
        ("xyzzy", "known: run, status"),
    ],
)
def test_an_unknown_command_gets_what_was_meant(name: str, hint: str) -> None:
    """A misspelt command, or a plan in its place."""
    problem = output.unknown_command(name, ("run", "status")).problem
    assert (problem.code, problem.hint) == ("usage", hint)
    assert name in problem.message


def test_a_wrong_use_is_an_error_like_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    """What the library for command lines says is told in the same shape, with where to look."""
    ctx = click.Context(click.Command("run"), info_name="segue run")
    wrong = click.UsageError("no such option", ctx)
    assert output.usage_error(wrong, as_json=True) == 2
    found = json.loads(capsys.readouterr().out)["error"]
    assert (found["code"], found["message"]) == ("usage", "no such option")
    assert "segue run --help" in found["hint"]


def test_json_is_readable_in_every_language(capsys: pytest.CaptureFixture[str]) -> None:
    """Korean stays Korean."""
    output.print_json({"title": "한글"})
    told = capsys.readouterr().out
    assert "한글" in told
    assert json.loads(told) == {"title": "한글"}
