"""Agents that tell more than they are asked for, all at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.serve import GOOD, NEEDS, QUESTION, House
from kit.waiting import until


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.end_everything()


def at_once(*blocks: str) -> str:
    """Shell: print all of it in one piece."""
    return "{\n" + "".join(blocks) + '} > "$out/all"\ncat "$out/all"\n'


def test_a_living_agent_that_asks_twice_at_once_is_answered_twice(house: House) -> None:
    """The second question waits until the first is answered; nobody fails, nothing is lost."""
    second = QUESTION.replace("Which database?", "Which colour?")
    house.live("a", f"{at_once(QUESTION, second)}listen\nlisten\n{GOOD}listen\n")
    server = house.serve()
    task = server.new("a")
    for asked in ("Which database?", "Which colour?"):
        gate = until(
            lambda: next(
                (g for g in server.items(f"/tasks/{task}/questions")
                 if g["question"] == asked and g["status"] == "pending"), None),  # noqa: B023
            asked,
        )  # fmt: skip
        assert gate is not None
        server.post(f"/questions/{gate['id']}/answer", {"answer": "SQLite"}).ok()
    server.reaches(task, "review")
    assert house.starts(task) == 1
    answers = [line for line in house.lines(task, "heard") if "question_answer" in line]
    assert len(answers) == 2
    server.approve(task).ok()
    server.reaches(task, "completed")


def test_a_living_agent_that_asks_and_needs_at_once(house: House) -> None:
    """What it needs counts more than what it asks: the question opens when that is provided, and
    nothing is lost."""
    house.live(
        "a",
        f"case $n in 1) {at_once(QUESTION, NEEDS)}listen\nhold never ;; *) {GOOD}listen ;; esac\n",
    )
    server = house.serve()
    task, other = server.new("a"), server.new("a")
    for each in (task, other):
        server.provide(each, "sk-1234567890").ok()
        server.answer(each, "SQLite").ok()
        server.reaches(each, "review")
        assert house.starts(each) == 2, "what comes by the environment needs a new start"
