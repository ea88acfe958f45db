"""What waits for a person: holds nothing else up, is answered once, from anywhere."""

from __future__ import annotations

import getpass
import time

import pytest

from contract.scenes import Question, ask, hold, limit, turn, work
from contract.subjects import Subject
from contract.subjects.records import DONE, RUNNING, WAITING

pytestmark = pytest.mark.moments


def test_a_gate_never_blocks_independent_work(subject: Subject) -> None:
    """With one slot: while the first task waits for an answer, the second runs to its end."""
    subject.plays(turn(ask()), task=0)
    subject.plays(turn(limit(3)), turn(work(1)), task=1)
    subject.begin(2, is_side_by_side=False)
    subject.wait(0, WAITING)
    subject.wait(1, DONE)
    assert subject.state(0) == WAITING


def test_status_shows_the_gate(subject: Subject) -> None:
    """`status --json` has its id, the task by its name, and the question."""
    subject.plays(turn(ask()))
    subject.begin()
    gate = subject.gate_of(0)
    assert gate.id
    assert "Which database?" in gate.text


def test_a_gate_is_answered_once_from_another_terminal(subject: Subject) -> None:
    """`segue answer` takes effect once; the second one fails and says who was first."""
    subject.plays(turn(ask()))
    subject.begin()
    gate = subject.gate_of(0)
    first = subject.answer(gate, "SQLite")
    assert first.code == 0, first.said
    second = subject.answer(gate, "PostgreSQL")
    assert second.code != 0
    assert "answered" in second.said
    assert getpass.getuser() in second.said
    assert subject.approve(gate).code != 0
    subject.drive()
    assert "SQLite" in subject.started(0, 2).prompt
    subject.wait(0, DONE)
    assert len(subject.starts(0)) == 2


def test_a_question_is_answered_by_the_api(subject: Subject) -> None:
    """`POST /questions/{id}/answer`, whatever kind of work it is of; a terminal is second then."""
    subject.plays(turn(ask()))
    subject.begin()
    gate = subject.gate_of(0)
    assert subject.answer_by_api(gate, "sqlite").status == 200
    second = subject.answer(gate, "PostgreSQL")
    assert second.code != 0
    assert "answered: by " in second.said
    assert subject.answer_by_api(gate, "SQLite").status == 409
    subject.drive()
    assert "SQLite" in subject.started(0, 2).prompt
    subject.wait(0, DONE)
    assert len(subject.starts(0)) == 2


def test_an_optional_question_takes_its_default(subject: Subject) -> None:
    """After its deadline, by itself; the agent hears the default once."""
    subject.plays(turn(ask(Question(default="SQLite", deadline="2s"))), task=0)
    subject.plays(turn(hold("go")), task=1)  # so that something drives the work meanwhile
    subject.begin(2)
    subject.wait(0, WAITING)
    asked_at = time.time()
    subject.until(lambda: time.time() > asked_at + 2, "the deadline")
    subject.drive()
    second = subject.started(0, 2)
    assert "SQLite" in second.prompt
    subject.wait(0, DONE)
    assert len(subject.starts(0)) == 2


def test_an_answer_after_the_deadline_learns_what_came_first(subject: Subject) -> None:
    """The default was taken: `segue answer` fails and says so."""
    subject.plays(turn(ask(Question(default="SQLite", deadline="6s"))), task=0)
    subject.plays(turn(hold("go")), task=1)
    subject.begin(2)
    gate = subject.gate_of(0)
    subject.until(lambda: gate.id not in [one.id for one in subject.gates()], "the default")
    late = subject.answer(gate, "PostgreSQL")
    assert late.code != 0
    assert "answered" in late.said
    assert "deadline" in late.said


def test_a_gate_is_approved_in_its_own_words(subject: Subject) -> None:
    """`segue approve ID`: the agent hears the option that means yes."""
    subject.plays(turn(ask(Question("Drop the table?", ("no", "Yes")))))
    subject.begin()
    gate = subject.gate_of(0)
    done = subject.approve(gate)
    assert done.code == 0, done.said
    subject.drive()
    assert "Yes" in subject.started(0, 2).prompt
    subject.wait(0, DONE)


def test_the_audit_names_who_answered(subject: Subject) -> None:
    """One decision for the gate: who, how, what, of which task."""
    subject.plays(turn(ask()))
    subject.begin()
    gate = subject.gate_of(0)
    assert subject.answer(gate, "SQLite").code == 0
    subject.drive()
    subject.wait(0, DONE)
    (found,) = subject.decisions(gate)
    assert found["decided"] == "answered"
    assert found["answer"] == "SQLite"
    assert found["actor"].startswith(getpass.getuser())
    assert found["task"] == subject.name(0)


def test_a_gate_that_nobody_needs_is_withdrawn(subject: Subject) -> None:
    """It leaves the inbox; a late answer fails and says so."""
    subject.plays(turn(ask()), task=0)
    subject.plays(turn(hold("go")), task=1)
    subject.begin(2)
    gate = subject.gate_of(0)
    subject.make_needless(gate)
    subject.drive()
    subject.until(lambda: gate.id not in [one.id for one in subject.gates()], "its end")
    late = subject.answer(gate, "SQLite")
    assert late.code != 0
    assert "withdrawn" in late.said


def test_a_gate_survives_kill_9(subject: Subject) -> None:
    """It is the same gate afterwards, and the agent is not started again for it."""
    subject.plays(turn(ask()))
    subject.begin()
    gate = subject.gate_of(0)
    subject.kill()
    subject.drive()
    assert subject.gate_of(0).id == gate.id
    assert len(subject.starts(0)) == 1


def test_a_gate_that_waits_for_long_is_reminded_of(subject: Subject) -> None:
    """`remind_after` of `[reviews]`: one reminder goes out, in every kind of work."""
    subject.notify_by_command()
    subject.settings.more += '[reviews]\nremind_after = "1s"\n'
    subject.plays(turn(ask()), task=0)
    subject.plays(turn(hold("go")), task=1)
    subject.begin(2)
    subject.wait(0, WAITING)
    subject.wait(1, RUNNING)

    subject.until(lambda: events(subject, "remind"), "the reminder")
    assert len(events(subject, "remind")) == 1


def events(subject: Subject, *kinds: str) -> list[str]:
    """The notices of these kinds that went out."""
    return [notice["event"] for notice in subject.notices() if notice["event"] in kinds]


def test_reminders_that_fell_due_meanwhile_go_out_at_the_next_start(subject: Subject) -> None:
    """Nothing drove the work when their times came: each goes out once all the same."""
    subject.notify_by_command()
    steps = 'remind_after = "4s"\nurgent_after = "5s"\nescalate_after = "6s"\n'
    subject.settings.more += f"[reviews]\n{steps}"
    subject.plays(turn(ask()), task=0)
    subject.plays(turn(hold("go")), task=1)
    subject.begin(2)
    subject.wait(0, WAITING)
    asked_at = time.time()
    subject.wait(1, RUNNING)
    subject.kill()
    subject.until(lambda: time.time() > asked_at + 6.5, "all of them are due")
    subject.drive()
    kinds = ("remind", "urgent", "escalate")
    subject.until(lambda: len(events(subject, *kinds)) >= len(kinds), "the notices")
    assert sorted(events(subject, *kinds)) == sorted(kinds)


def test_a_question_without_a_default_presses_at_its_deadline(subject: Subject) -> None:
    """It stays, and people learn that its time is over."""
    subject.notify_by_command()
    subject.plays(turn(ask(Question(deadline="2s"))), task=0)
    subject.plays(turn(hold("go")), task=1)
    subject.begin(2)
    subject.wait(0, WAITING)
    subject.until(lambda: events(subject, "urgent"), "the notice")
    assert "Which database?" in str(subject.notices()[-1])
    assert subject.state(0) == WAITING
