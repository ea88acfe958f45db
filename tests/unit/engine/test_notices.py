"""Notices: a row beside what it tells, and the words in which it goes out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kit.plain_agent import NOON
from segue.core.machines import GateState, PlanState, Trigger
from segue.engine.notices import Subject, WorkNotices, headline, is_told, notice, once
from segue.engine.question_texts import DESIGN, ESCALATED
from segue.store.changes import Add, Move, Note
from segue.store.rows import PANES
from segue.store.sqlite import Store

ABOUT = Subject("p-1", "T-1", "T-1: Build", "here:/p")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A plan with a question."""
    made = Store.open(tmp_path / "segue.db")
    gate = {"work": "p", "kind": "question", "category": "choice", "text": "Which?"}
    assert made.move(
        Add("work", "p", PlanState.RUNNING, {"path": "/p", "kind": "tasklist"}),
        Add("gate", "q-1", GateState.PENDING, gate),
        at=NOON,
    )
    yield made
    made.close()


def settle(store: Store) -> None:
    to, sets = GateState.ANSWERED, {"answer": "a"}
    move = Move("gate", "q-1", GateState.PENDING, to, Trigger.ANSWER, sets)
    assert store.move(move, at=NOON)


def row(store: Store, **more: Any) -> dict[str, Any]:
    return {**dict(store.all("SELECT * FROM notices")[0]), **more}


def tell(store: Store, kind: str = "question") -> None:
    told = notice("p", "gate:q-1", kind, "Which?", NOON, task="T-1", gate="q-1", title="T-1: Build")
    assert store.move(at=NOON, then=once(store, told))


def test_a_notice_is_written_once(store: Store) -> None:
    """With what goes along with it."""
    told = notice("p", "gate:q-1", "question", "Which?", NOON)
    for text in ("first", "second"):
        also = Note("gate", "q-1", {"text": text})
        assert store.move(at=NOON, then=once(store, told, also))
    assert is_told(store, "p", "gate:q-1")
    assert len(store.all("SELECT * FROM notices")) == 1
    assert [gate["text"] for gate in store.all("SELECT text FROM gates")] == ["first"]


@pytest.mark.parametrize(
    ("kind", "needed", "shown"),
    [
        ("question", None, "Answer needed: T-1: Build"),
        ("escalated", None, "Decision needed: T-1: Build"),
        ("failed", None, "Failed: T-1: Build"),
        ("remind", "review", "Reminder: Review needed: T-1: Build"),
        ("escalate", "question", "Waiting too long: Answer needed: T-1: Build"),
    ],
)
def test_headlines(kind: str, needed: str | None, shown: str) -> None:
    """What is needed, or what has happened."""
    about = Subject(ABOUT.id, ABOUT.task, ABOUT.title, ABOUT.link, needed)
    assert headline(kind, about) == shown


def test_a_question_goes_out_in_its_words(store: Store) -> None:
    """With the gate, so that it can be answered."""
    tell(store)
    found = WorkNotices(store).notice(row(store))
    assert found is not None
    assert (found.id, found.headline, found.gate) == ("p-1", "Answer needed: T-1: Build", "q-1")
    assert found.outcome is None


def test_what_was_settled_before_it_could_be_sent_goes_out_as_that(store: Store) -> None:
    """In every kind of work: nobody is asked for what is answered."""
    tell(store)
    settle(store)
    found = WorkNotices(store).notice(row(store, tries=1))
    assert found is not None
    assert (found.headline, found.outcome) == ("Resolved: T-1: Build", "answered")
    assert found.text == "Which? – answered: a"


@pytest.mark.parametrize("kind", ["remind", "urgent", "escalate", "trouble"])
def test_nobody_is_reminded_of_what_is_settled(store: Store, kind: str) -> None:
    """It is not sent at all."""
    tell(store, kind)
    settle(store)
    assert WorkNotices(store).notice(row(store, tries=1)) is None


@pytest.mark.parametrize(
    ("category", "needed"), [(DESIGN, "Review"), (ESCALATED, "Decision"), ("choice", "Answer")]
)
def test_a_reminder_says_what_is_needed(store: Store, category: str, needed: str) -> None:
    """By what the gate is about."""
    assert store.move(Note("gate", "q-1", {"category": category}), at=NOON)
    tell(store, "remind")
    found = WorkNotices(store).notice(row(store))
    assert found is not None
    assert found.headline == f"Reminder: {needed} needed: T-1: Build"


def test_panes_of_two_memories_are_told_apart(store: Store) -> None:
    """The work of all panes has the same name everywhere."""
    assert store.move(notice(PANES, "x", "error", "…", NOON, place="%0"), at=NOON)
    found = WorkNotices(store, of_panes=True).notice(row(store))
    assert found is not None
    assert found.id.startswith(f"{PANES}-")
    assert found.id != f"{PANES}-1"
    assert found.link.endswith(":%0")
