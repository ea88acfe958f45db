"""Errors by who must act."""

from __future__ import annotations

import pytest

from segue.errors import Problem, UserError


@pytest.mark.parametrize(
    ("file", "line", "where"),
    [(None, None, ""), (None, 3, ""), ("PLAN.md", None, "PLAN.md"), ("PLAN.md", 3, "PLAN.md:3")],
)
def test_a_problem_says_where_it_is(file: str | None, line: int | None, where: str) -> None:
    """As compilers do; a line without a file means nothing."""
    assert Problem("bad", "it is bad", file, line).where == where


def test_a_problem_as_json_has_every_field() -> None:
    """Also those that are empty: a program need not ask whether they are there."""
    assert Problem("bad", "it is bad").to_json() == {
        "code": "bad", "message": "it is bad", "file": None, "line": None, "hint": None,
    }  # fmt: skip


def test_an_error_carries_its_problem() -> None:
    """With the words that a traceback shows."""
    error = UserError("bad", "it is bad", file="PLAN.md", line=3, hint="make it good")
    assert error.problems == [Problem("bad", "it is bad", "PLAN.md", 3, "make it good")]
    assert (error.problem, str(error)) == (error.problems[0], "it is bad")


def test_one_error_carries_all_problems() -> None:
    """The first one foremost, in the order in which they were found."""
    found = [Problem("a", "first", "PLAN.md", 1, "one"), Problem("b", "second")]
    error = UserError.of(found)
    assert (error.problems, error.problem, str(error)) == (found, found[0], "first")
