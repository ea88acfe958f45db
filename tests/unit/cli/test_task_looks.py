"""`segue task list, show, log, events`: how things stand and what happens."""

from __future__ import annotations

from typing import Any

import pytest

from kit.hand_client import AT, ONE, TWO, HandClient, gate, task
from kit.shell import Shell
from segue.cli import task_looks

REV = "rev_00000000000a"
LOG = f"tasks/{ONE}/log"


def happened(seq: int, to: str, id: str = ONE, entity: str = "task") -> dict[str, Any]:
    return {
        "seq": seq, "timestamp": AT, "taskId": id, "entity": entity, "from": None, "to": to,
        "trigger": "note", "metadata": {},
    }  # fmt: skip


def test_tasks_are_listed_up_to_a_limit(segue: Shell, client: HandClient) -> None:
    client.answers["tasks"] = [task(), task(TWO, title="Second")]
    assert segue("task", "list").out == f"○ {ONE}  pending  Shop\n○ {TWO}  pending  Second\n"
    told = segue("task", "list", "--limit", "1", "--json").json
    assert [one["id"] for one in told["items"]] == [ONE]


@pytest.mark.parametrize(
    ("option", "text"), [((), "No task matches."), (("--waiting",), "Nothing waits for you.")]
)
def test_an_empty_list_says_so(
    segue: Shell, client: HandClient, option: tuple[str, ...], text: str
) -> None:
    client.answers["tasks"] = []
    assert segue("task", "list", *option).out == f"{text}\n"
    assert segue("task", "list", *option, "--json").json == {"items": []}
    assert text not in segue("task", "list", *option, "--lang", "ko").out


def test_what_waits_is_listed_with_its_commands(segue: Shell, client: HandClient) -> None:
    client.answers["inbox"] = [gate("dependency", "dep_1")]
    assert segue("task", "list", "--waiting").out == (
        "🔑 dep_1  api_key STRIPE_KEY: to pay\n   segue task provide dep_1\n"
    )


def test_a_task_is_shown_with_all_that_is_known(segue: Shell, client: HandClient) -> None:
    """What waits for a person is its own alone."""
    client.answers |= {
        f"tasks/{ONE}": task(),
        f"tasks/{ONE}/agent": {"status": "idle"},
        f"tasks/{ONE}/phases": {"items": []},
        f"tasks/{ONE}/checkpoints": [],
        "inbox": [gate("question", "q_1"), gate("question", "q_2", taskId=TWO)],
    }
    said = segue("task", "show", "0000")
    assert said.out.startswith(f"○ {ONE}  pending  Shop\n")
    assert "  Waits for you:\n    ❓ q_1  Which one?\n" in said.out
    assert "q_2" not in said.out
    told = segue("task", "show", ONE, "--json").json
    assert told.keys() == {"task", "agent", "phases", "waiting", "checkpoints"}


def test_a_review_is_shown_by_its_own_id(segue: Shell, client: HandClient) -> None:
    client.answers[f"reviews/{REV}"] = gate("review", REV, verification={})
    assert segue("task", "show", REV).out == f"✋ {REV}  pending  1 plan (round 2)\n"
    assert segue("task", "show", REV, "--json").json["id"] == REV


def test_a_log_is_shown_harmless_line_by_line(segue: Shell, client: HandClient) -> None:
    """Whatever the pieces in which it comes; the last line needs no end."""
    client.answers[LOG] = b"one\x1b[2J\n\xff two\nthree"
    assert segue("task", "log", ONE).out == "one\n\ufffd two\nthree\n"
    assert segue("task", "log", ONE, "--json").out.splitlines() == [
        '{"line": "one"}', '{"line": "\ufffd two"}', '{"line": "three"}',
    ]  # fmt: skip


def test_pieces_and_an_endless_line_lose_nothing(
    segue: Shell, client: HandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_looks, "PIECE_BYTES", 3)
    client.answers[LOG] = "가나\n다\n".encode()
    assert segue("task", "log", ONE).out == "가나\n다\n"
    monkeypatch.setattr(task_looks, "LINE_BYTES_MAX", 5)
    client.answers[LOG] = b"x" * 12
    assert segue("task", "log", ONE).out.replace("\n", "") == "x" * 12


def test_the_raw_log_is_every_byte_as_it_was(
    segue: Shell, client: HandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed: list[bytes] = []
    monkeypatch.setattr("segue.cli.console.write_bytes", printed.append)
    client.answers[LOG] = b"one\x1b[2J\xff"
    assert segue("task", "log", ONE, "--raw").out == ""
    assert b"".join(printed) == b"one\x1b[2J\xff"


def test_a_log_is_followed_until_the_task_is_over(
    segue: Shell, client: HandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is printed after the last look at its state is not lost."""
    client.answers |= {LOG: b"one\n", f"tasks/{ONE}": task(status="in_progress")}

    def later(_seconds: float) -> None:
        assert client.answers[LOG] == b"one\n", "it is over"
        client.answers |= {LOG: b"one\ntwo\n", f"tasks/{ONE}": task(status="failed")}

    monkeypatch.setattr("segue.cli.task_looks.time.sleep", later)
    said = segue("task", "log", ONE, "--follow")
    assert (said.code, said.out) == (0, "one\ntwo\n")


@pytest.mark.parametrize(("end", "code"), [("completed", 0), ("failed", 1)])
def test_the_events_of_a_task_end_with_it(
    segue: Shell, client: HandClient, end: str, code: int
) -> None:
    """The exit code says how; other entities of the same state do not end it."""
    client.happens = [
        happened(1, end, TWO), happened(2, end, entity="phase"), happened(3, end), happened(4, "x"),
    ]  # fmt: skip
    said = segue("task", "events", ONE, "--after", "0", "--json")
    assert said.code == code
    assert [event["seq"] for event in said.events] == [2, 3]


def test_the_events_of_all_tasks_are_told_from_a_number_on(
    segue: Shell, client: HandClient
) -> None:
    client.happens = [happened(1, "draft"), happened(2, "completed"), happened(3, "draft", TWO)]
    lines = segue("task", "events", "--after", "1").out.splitlines()
    assert [line.split()[0] for line in lines] == ["2", "3"]


def test_a_task_that_is_over_has_no_events_to_wait_for(segue: Shell, client: HandClient) -> None:
    client.answers |= {
        "metrics": b"segue_journal_seq 7\n", f"tasks/{ONE}": task(status="failed"),
    }  # fmt: skip
    said = segue("task", "events", ONE)
    assert (said.code, said.out) == (1, f"✘ {ONE}  failed  Shop\n")
    assert segue("task", "events", ONE, "--json").out == ""
