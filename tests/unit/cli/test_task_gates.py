"""`segue task approve, changes, answer, provide, reject`: what waits for a person gets it."""

from __future__ import annotations

from typing import Any

import pytest

from kit.hand_client import HandClient, gate, refusal
from kit.shell import Shell

REV, Q, DEP = "rev_00000000000a", "q_00000000000a", "dep_00000000000a"
ANSWER = f"POST questions/{Q}/answer"


@pytest.fixture(autouse=True)
def _waiting(client: HandClient) -> None:
    client.answers["inbox"] = [gate("review", REV), gate("question", Q), gate("dependency", DEP)]
    for path, id, status in (
        (f"reviews/{REV}/approve", REV, "approved"),
        (f"reviews/{REV}/request-changes", REV, "changes_requested"),
        (f"questions/{Q}/answer", Q, "answered"),
        (f"dependencies/{DEP}/provide", DEP, "provided"),
        (f"dependencies/{DEP}/reject", DEP, "rejected"),
    ):
        client.answers[f"POST {path}"] = {"id": id, "status": status}


@pytest.mark.parametrize(
    ("args", "path", "body", "said"),
    [
        (("approve", "task_0"), f"reviews/{REV}/approve", {}, "approved"),
        (("approve", "rev_0", "--comment", "fine"), f"reviews/{REV}/approve",
         {"comment": "fine"}, "approved"),
        (("answer", "q_0", "A"), f"questions/{Q}/answer", {"answer": "A"}, "answered"),
        (("answer", "q_0", "AB", "--own-words"), f"questions/{Q}/answer",
         {"answer": "AB", "ownWords": True}, "answered"),
        (("reject", "STRIPE_KEY", "--reason", "test mode"), f"dependencies/{DEP}/reject",
         {"reason": "test mode"}, "rejected"),
    ],
)  # fmt: skip
def test_what_waits_is_settled(
    segue: Shell, client: HandClient, args: tuple[str, ...], path: str, body: dict[str, Any],
    said: str,
) -> None:  # fmt: skip
    """Its new state is shown with its id."""
    shown = segue("task", *args)
    id = path.split("/")[1]
    assert (shown.code, shown.out) == (0, f"✔ {id}  {said}\n")
    assert client.posted == [(path, body)]
    assert segue("task", *args, "--json").json["id"] == id


@pytest.mark.parametrize(
    ("given", "comment"),
    [
        ("a.py:12: too vague", {"file": "a.py", "line": 12, "text": "too vague"}),
        ("a.py: too vague", {"file": "a.py", "text": "too vague"}),
        ("a.py:12:one: two", {"file": "a.py", "line": 12, "text": "one: two"}),
        ("docs/a b.md:3:x\ny", {"file": "docs/a b.md", "line": 3, "text": "x\ny"}),
    ],
)
def test_changes_may_be_about_lines_of_files(
    segue: Shell, client: HandClient, given: str, comment: dict[str, Any]
) -> None:
    segue("task", "changes", REV, "-", "--comment", given, said="Name the risks\n")
    assert client.posted == [
        (f"reviews/{REV}/request-changes", {"feedback": "Name the risks", "comments": [comment]})
    ]


@pytest.mark.parametrize(
    "given", ["too vague", ":12: x", "a.py:", "a.py:  ", "a.py:12:", "a.py:12: "]
)
def test_a_comment_without_a_file_or_a_text_sends_nothing(
    segue: Shell, client: HandClient, given: str
) -> None:
    error = segue.refused("task", "changes", REV, "x", "--comment", given)
    assert error["message"] == f"`{given}` is not a comment"
    assert client.posted == []


def test_an_answer_close_to_no_option_is_sent_as_own_words(
    segue: Shell, client: HandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server refuses it without a suggestion; it is sent once more, and counts."""
    sent: list[tuple[str, bool]] = []

    def answer(id: str, text: str, *, own_words: bool = False) -> dict[str, str]:
        sent.append((text, own_words))
        if not own_words:
            raise refusal(422, "bad_answer")
        return {"id": id, "status": "answered"}

    monkeypatch.setattr(client, "answer", answer)
    assert segue("task", "answer", Q, "neither").code == 0
    assert sent == [("neither", False), ("neither", True)]


def test_an_answer_close_to_an_option_is_refused_in_a_pipe(
    segue: Shell, client: HandClient
) -> None:
    """With what may be meant, and how to send it unchanged."""
    client.answers[ANSWER] = refusal(422, "bad_answer", suggestion="A")
    error = segue.refused("task", "answer", Q, "AB")
    assert error["code"] == "bad_answer"
    assert error["hint"].splitlines() == [
        "did you mean `A`?",
        "add --own-words to send it as it is",
    ]


@pytest.mark.parametrize(
    ("yes_to", "sent", "code"),
    [("mean", ("A", False), 0), ("own words", ("AB", True), 0), ("", None, 2)],
)
def test_a_person_at_a_terminal_is_asked_what_was_meant(
    segue: Shell, client: HandClient, monkeypatch: pytest.MonkeyPatch,
    yes_to: str, sent: tuple[str, bool] | None, code: int,
) -> None:  # fmt: skip
    done: list[tuple[str, bool]] = []

    def answer(id: str, text: str, *, own_words: bool = False) -> dict[str, str]:
        if text == "AB" and not own_words:
            raise refusal(422, "bad_answer", suggestion="A")
        done.append((text, own_words))
        return {"id": id, "status": "answered"}

    monkeypatch.setattr(client, "answer", answer)
    monkeypatch.setattr("segue.cli.console.confirm", lambda text: bool(yes_to) and yes_to in text)
    said = segue("task", "answer", Q, "AB", is_terminal=True)
    assert (said.code, done) == (code, [sent] if sent else [])
    assert "`AB` is not one of the options." in said.out


def test_without_an_answer_the_question_is_asked_at_a_terminal(
    segue: Shell, client: HandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its options; a pipe must give one."""
    monkeypatch.setattr("segue.cli.console.prompt", lambda text, default=None: "B")
    said = segue("task", "answer", Q, is_terminal=True)
    assert said.out.startswith("Which one?\n  - A\n  - B\n")
    assert client.posted == [(f"questions/{Q}/answer", {"answer": "B"})]
    assert segue.refused("task", "answer", Q)["message"] == "ANSWER is missing"


def test_a_secret_is_read_from_outside_and_never_shown(segue: Shell, client: HandClient) -> None:
    """Without the end of its line, and with the blanks that belong to it."""
    said = segue("task", "provide", "STRIPE_KEY", said=" sk_live \r\n")
    assert client.posted == [(f"dependencies/{DEP}/provide", {"value": " sk_live "})]
    assert "sk_live" not in said.said


def test_a_value_on_the_command_line_is_warned_about(segue: Shell, client: HandClient) -> None:
    said = segue("task", "provide", DEP, "--value", "x")
    assert (said.code, said.out) == (0, f"✔ {DEP}  provided\n")
    assert said.err.startswith("warning: other users can see a value on the command line")
    assert segue.refused("task", "provide", DEP, said="\n")["message"] == "the value is empty"
