"""What is wrong with a plan as a whole."""

from __future__ import annotations

import pytest

from segue.errors import Problem
from segue.plans.check import check
from segue.plans.tasklist import Document


def problems(text: str | bytes) -> list[Problem]:
    data = text.encode() if isinstance(text, str) else text
    return check(Document.parse(data, file="my.md"))


def only(text: str | bytes) -> Problem:
    found = problems(text)
    assert len(found) == 1, found
    return found[0]


def test_a_good_plan_has_no_problems() -> None:
    """A plan whose blockers exist and stand in no later wave can run."""
    assert problems("## Wave 1\n- [ ] T-1: a\n## Wave 2\n- [ ] T-2: b (deps: T-1)\n") == []


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        ("", 1, "- [ ] **T-001**"),
        ("# Title\n\nwords\n- plain\n", 1, "- [ ] **T-001**"),
        ("# Title\n- plain\n  - [ ] nested\n", 3, "line 3 is nested"),
        ("words\n```\n- [ ] T-1: a\n", 2, "line 2"),
        ("words\n\n<!--\n- [ ] T-1: a\n", 3, "line 3"),
        ("---\nagent: x\n- [ ]\n---\n", 1, "- [ ] **T-001**"),
    ],
)
def test_a_plan_without_tasks_says_what_to_do(text: str, line: int, hint: str) -> None:
    """No tasks: the hint names the line that hides them, or shows how to write one."""
    problem = only(text)
    assert (problem.code, problem.file, problem.line) == ("no_tasks", "my.md", line)
    assert hint in (problem.hint or "")


def test_an_unknown_blocker_is_named_with_the_nearest_id() -> None:
    """The line is that of the field; the hint asks whether the like-sounding id was meant."""
    problem = only("- [ ] API-01: a\n- [ ] T-2: b\n  - blocked by: API-1\n")
    assert (problem.code, problem.line) == ("unknown_blocker", 3)
    assert problem.hint == "did you mean API-01?"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("- [ ] T-2: b\n  - blocked by: T-9\n", "write the id of a task"),
        ("- [ ] T-2: b\n  - blocked by: t-2\n", "write the id of a task"),
        ("- [ ] T-22: b\n  - blocked by: T-21\n- [ ] T-31: c\n", "did you mean T-31?"),
    ],
)
def test_a_task_is_never_told_to_wait_for_itself(text: str, hint: str) -> None:
    """The nearest id may be its own; then another is named, or none."""
    problem = only(text)
    assert problem.code == "unknown_blocker"
    assert (problem.hint or "").startswith(hint)


def test_an_unknown_blocker_that_is_like_nothing_gets_another_hint() -> None:
    """Where no id is near, none is guessed."""
    problem = only("- [ ] T-1: a (deps: something-else)\n")
    assert problem.code == "unknown_blocker"
    assert "did you mean" not in (problem.hint or "")


def test_a_duplicate_names_the_first_line() -> None:
    """The second task with an id is the problem; the first line is told."""
    problem = only("- [ ] T-1: a\n- [ ] T-2: b\n- [ ] T-1: c\n")
    assert (problem.code, problem.line) == ("duplicate_id", 3)
    assert "line 1" in problem.message


def test_a_cycle_prints_its_chain() -> None:
    """The chain begins and ends with the first of its tasks in the file."""
    problem = only(
        "- [ ] T-0: z (deps: T-3)\n- [ ] T-1: a (deps: T-2)\n"
        "- [ ] T-2: b (deps: T-3)\n- [ ] T-3: c (deps: T-1)\n"
    )
    assert (problem.code, problem.line) == ("cycle", 2)
    assert "T-1 → T-2 → T-3 → T-1" in problem.message


def test_each_cycle_is_reported() -> None:
    """Two circles are two problems."""
    found = problems(
        "- [ ] T-1: a (deps: T-2)\n- [ ] T-2: b (deps: T-1)\n- [ ] T-3: c (deps: T-3)\n"
    )
    assert [(problem.code, problem.line) for problem in found] == [("cycle", 1), ("cycle", 3)]


def test_a_very_long_chain_is_no_trouble() -> None:
    """A chain far longer than any recursion passes, and so does the circle it can become."""
    n = 20_000
    chain = "".join(f"- [ ] T-{i}: x\n  - deps: T-{i + 1}\n" for i in range(n))
    assert problems(chain + f"- [ ] T-{n}: last\n") == []
    problem = only(chain + f"- [ ] T-{n}: last (deps: T-0)\n")
    assert problem.code == "cycle"
    assert len(problem.message) < 500


def test_a_blocker_in_a_later_wave() -> None:
    """A task cannot wait for a later wave, which waits for its own."""
    problem = only("## Wave 1\n- [ ] T-1: a\n  - deps: T-2\n## Wave 2\n- [ ] T-2: b\n")
    assert (problem.code, problem.line) == ("later_wave_blocker", 3)


def test_conflict_markers() -> None:
    """A conflict of git is one problem, at its first marker; in a fence it is text."""
    conflict = "<<<<<<< HEAD\n- [ ] T-1: a\n=======\n- [ ] T-2: b\n>>>>>>> other\n"
    problem = only(conflict)
    assert (problem.code, problem.line) == ("conflict_markers", 1)
    assert [p.line for p in problems(conflict + conflict.replace("T-", "U-"))] == [1, 6]
    assert only("- [ ] T-1: a\n>>>>>>> other\n").code == "conflict_markers"
    assert problems(f"- [ ] T-3: a\n\n```\n{conflict}```\n") == []
    assert problems("- [ ] T-3: a\n\nTitle\n=======\n") == []


def test_lines_that_are_not_utf8() -> None:
    """A task or a field must be text; other lines may hold any bytes."""
    assert (only(b"- [ ] T-1: a\xff\n").code, only(b"- [ ] T-1: a\n  - run: \xff\n").line) == (
        "not_utf8",
        2,
    )
    assert problems(b"\xff\n- [ ] T-1: a\n  \xff\n  - [ ] \xff\n") == []


def test_utf_16_is_named() -> None:
    """A file in UTF-16 is told apart from one without tasks."""
    found = problems("- [ ] T-1: a\n".encode("utf-16"))
    assert found[0].code == "not_utf8"
    assert "UTF-16" in found[0].message


def test_problems_come_in_the_order_of_the_file() -> None:
    """All problems are told at once, from the top to the bottom."""
    found = problems(
        "- [ ] T-1: a (deps: T-9)\n- [ ] T-1: b\n  - timeout: 5\n  - retries: x\n- [ ] T-3: c\xe9\n"
    )
    assert [problem.line for problem in found] == [1, 2, 3, 4]
