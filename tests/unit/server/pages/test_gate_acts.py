"""What people say to reviews, questions and dependencies by forms."""

from __future__ import annotations

import pytest

from kit.front import Client, FakeCommands


def test_the_page_that_follows_is_where_it_was_done(
    visitor: Client, commands: FakeCommands, task: str
) -> None:
    """The inbox, or the page of the task; an address in the form leads nowhere else."""
    form = {"task": task, "from": "task"}
    wanted = {"/inbox": {}, f"/tasks/{task}": form, "/": form | {"task": "/evil.example"}}
    for place, more in wanted.items():
        review = commands.open("review", task)
        answer = visitor.post(f"/reviews/{review}/approve", data=more)
        assert answer.headers["location"] == f"{place}?said=approved"


def test_an_approval_takes_a_comment_or_none(
    visitor: Client, commands: FakeCommands, task: str
) -> None:
    first, second = commands.open("review", task), commands.open("review", task)
    visitor.post(f"/reviews/{first}/approve", data={"comment": " well done "})
    visitor.post(f"/reviews/{second}/approve", data={"comment": "  "})
    assert commands.gates[first]["feedback"] == "well done"
    assert commands.gates[second]["feedback"] is None


def test_a_review_without_words_is_not_sent_back(
    visitor: Client, commands: FakeCommands, task: str
) -> None:
    review = commands.open("review", task)
    answer = visitor.post(f"/reviews/{review}/request-changes", data={"feedback": " \r\n "})
    assert answer.status_code == 422
    assert "Describe what to change." in answer.text
    assert commands.gates[review]["status"] == "pending"


@pytest.mark.parametrize("line", ["x", "-1", "0", "1.5", "9" * 5_000])
def test_a_remark_on_a_line_that_cannot_be_is_refused(
    visitor: Client, commands: FakeCommands, task: str, line: str
) -> None:
    """What was typed comes back, and no half of it was sent."""
    review = commands.open("review", task)
    form = {"feedback": "my words", "file": "a.md", "line": line, "text": "why?"}
    answer = visitor.post(f"/reviews/{review}/request-changes", data=form)
    assert (answer.status_code, "my words" in answer.text) == (422, True)
    assert commands.gates[review]["status"] == "pending"


@pytest.mark.parametrize("number", ["0", "3", "-1", "x", "²", "", "9" * 5_000, "00000000199"])
def test_a_number_that_names_no_option_is_no_answer(
    visitor: Client, commands: FakeCommands, task: str, number: str
) -> None:
    """However long it is and with whatever zeros: it is refused, and nothing breaks."""
    asked = commands.open("question", task, options=["A", "B"])
    answer = visitor.post(f"/questions/{asked}/answer", data={"option": number})
    assert answer.status_code == 422
    assert commands.gates[asked]["status"] == "pending"


def test_own_words_go_before_the_option(visitor: Client, commands: FakeCommands, task: str) -> None:
    """Who has written something means it; the suggestion that was asked back goes before both."""
    first, second = (commands.open("question", task, options=["A", "B"]) for _n in range(2))
    form = {"own": " neither of them ", "option": "1"}
    visitor.post(f"/questions/{first}/answer", data=form)
    visitor.post(f"/questions/{second}/answer", data=form | {"suggested": "2"})
    assert commands.gates[first]["answer"] == "neither of them"
    assert commands.gates[second]["answer"] == "B"


def test_a_question_that_was_settled_meanwhile_is_said_to_be(
    visitor: Client, commands: FakeCommands, task: str
) -> None:
    asked = commands.open("question", task, options=["A", "B"])
    assert visitor.post(f"/questions/{asked}/answer", data={"option": "1"}).status_code == 303
    answer = visitor.post(f"/questions/{asked}/answer", data={"option": "2"})
    assert (answer.status_code, "already decided" in answer.text) == (409, True)
    assert commands.gates[asked]["answer"] == "A"


def test_a_value_is_provided_as_it_is_and_an_empty_one_is_none(
    visitor: Client, commands: FakeCommands, task: str
) -> None:
    """Blanks at its ends belong to it: it may be a key."""
    needed = commands.open("dependency", task)
    assert visitor.post(f"/dependencies/{needed}/provide", data={"value": ""}).status_code == 422
    visitor.post(f"/dependencies/{needed}/provide", data={"value": " k3y "})
    assert commands.values == {needed: " k3y "}


def test_a_rejection_needs_no_reason(visitor: Client, commands: FakeCommands, task: str) -> None:
    needed = commands.open("dependency", task)
    answer = visitor.post(f"/dependencies/{needed}/reject", data={"from": "task", "task": task})
    assert answer.headers["location"] == f"/tasks/{task}?said=refused"
    assert commands.gates[needed]["reason"] == ""


def test_what_is_not_there_is_said_on_a_page(visitor: Client) -> None:
    for place in ("reviews/no/approve", "questions/no/answer", "dependencies/no/provide"):
        answer = visitor.post(f"/{place}", data={"option": "1", "value": "x"})
        assert answer.status_code == 404, place
        assert "Not found, or deleted" in answer.text
