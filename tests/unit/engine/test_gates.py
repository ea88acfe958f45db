"""Gates: when people are reminded, what a deadline does, what the agent hears of an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kit.plain_agent import NOON
from segue.core.machines import GateState, Trigger
from segue.dialects.events import Asked
from segue.engine import gates
from segue.engine.gates import ALLOW, DENY, Reminder, Reminders
from segue.engine.question_texts import PERMISSION
from segue.store import works
from segue.store.actors import Actor, acting
from segue.store.rows import SERVER, GateRow, gate_row
from segue.store.sqlite import Store

HOUR = timedelta(hours=1)
STEPS = gates.steps(
    SimpleNamespace(remind_after=24 * 3600.0, urgent_after=48 * 3600.0, escalate_after=72 * 3600.0)
)
GATE = GateRow("q-1", "T-1", None, "question", "Which?", ("a", "b"), created_at=NOON)


def gate(**more: Any) -> GateRow:
    return replace(GATE, **more)


def kinds(hours: float, of: GateRow = GATE) -> list[str]:
    return [one.about for one in gates.due(of, NOON + hours * HOUR, STEPS)]


@pytest.mark.parametrize(
    ("hours", "about"),
    [
        (0, []),
        (23.9, []),
        (24, ["remind:q-1"]),
        (48, ["remind:q-1", "urgent:q-1"]),
        (71, ["remind:q-1", "urgent:q-1"]),
        (1000, ["remind:q-1", "urgent:q-1", "escalate:q-1"]),
    ],
)
def test_reminders_are_due_after_their_times(hours: float, about: list[str]) -> None:
    """Also those that fell due while nothing drove the work."""
    assert kinds(hours) == about


def test_steps_come_in_the_order_of_their_times() -> None:
    """Whatever the settings call first."""
    times = SimpleNamespace(remind_after=3.0, urgent_after=1.0, escalate_after=2.0)
    assert [kind for kind, _after in gates.steps(times)] == ["urgent", "escalate", "remind"]


@pytest.mark.parametrize(
    ("more", "is_taken"),
    [
        ({"preset": "a", "is_required": False}, True),
        ({"preset": "a", "is_required": True}, False),
        ({"preset": None, "is_required": False}, False),
    ],
)
def test_only_an_optional_question_takes_its_default(more: dict[str, Any], is_taken: bool) -> None:
    """Any other stays, and people learn that its time is over."""
    asked = gate(deadline=NOON + HOUR, **more)
    assert gates.takes_default(asked) is is_taken
    assert kinds(0.9, asked) == []
    assert kinds(1, asked) == ([] if is_taken else ["deadline:q-1"])


def test_a_question_without_a_deadline_waits() -> None:
    """However long."""
    assert gates.deadline(Asked("Which?"), NOON) is None
    assert not gates.takes_default(gate(preset="a", is_required=False))
    assert not gates.is_over(GATE, NOON + 1000 * HOUR)
    assert gates.deadline(Asked("Which?", deadline_s=60), NOON) == NOON + timedelta(minutes=1)


def test_the_next_time_is_the_first_of_all_that_wait() -> None:
    """What is over is not waited for again."""
    waiting = [GATE, gate(id="q-2", created_at=NOON + 10 * HOUR, deadline=NOON + 40 * HOUR)]
    found = [gates.next_at(waiting, NOON + hours * HOUR, STEPS) for hours in (30, 35, 200)]
    assert found == [NOON + 34 * HOUR, NOON + 40 * HOUR, None]
    assert gates.next_at([], NOON, STEPS) is None


def watching(waiting: list[GateRow], told: list[str], **more: bool) -> Reminders:
    return Reminders(STEPS, lambda: waiting, lambda one: told.append(one.about), **more)


def test_a_reminder_is_told_once() -> None:
    """However often it is looked for."""
    told: list[str] = []
    reminders = watching([GATE], told)
    assert reminders.look(NOON) == NOON + 24 * HOUR
    for _again in range(2):
        assert reminders.look(NOON + 25 * HOUR) == NOON + 48 * HOUR
    assert told == ["remind:q-1"]


def test_a_reminder_that_could_not_be_written_is_told_later() -> None:
    """A full disk does not lose it."""
    told: list[str] = []
    is_full = True

    def tell(reminder: Reminder) -> None:
        if is_full:
            raise OSError
        told.append(reminder.about)

    reminders = Reminders(STEPS, lambda: [GATE], tell)
    with pytest.raises(OSError):
        reminders.look(NOON + 25 * HOUR)
    is_full = False
    reminders.look(NOON + 25 * HOUR)
    assert told == ["remind:q-1"]


def test_very_many_gates_are_looked_through_only_when_one_can_be_due() -> None:
    """One that opens after a look is due no earlier than the first step after it."""
    told: list[str] = []
    waiting: list[GateRow] = []
    reminders = watching(waiting, told, is_lazy=True)
    assert reminders.look(NOON) == NOON + 24 * HOUR
    waiting.append(gate(created_at=NOON + 1 * HOUR))
    assert reminders.look(NOON + 2 * HOUR) == NOON + 24 * HOUR
    assert reminders.look(NOON + 24 * HOUR) == NOON + 25 * HOUR
    reminders.look(NOON + 25 * HOUR)
    assert told == ["remind:q-1"]


@pytest.mark.parametrize(
    ("reminder", "words"),
    [
        (Reminder(GATE, "remind"), "is still waiting for you: x"),
        (Reminder(GATE, "urgent"), "urgent, waiting for you: x"),
        (Reminder(GATE, "escalate"), "has been waiting too long: x"),
        (Reminder(GATE, "urgent", is_late=True), "a question has passed its deadline: x"),
    ],
)
def test_reminders_in_words(reminder: Reminder, words: str) -> None:
    """The same for every kind of work."""
    assert reminder.in_words("x") == words


def test_an_answer_goes_to_the_agent_as_it_is() -> None:
    """But permission is put in words, with a person's own beside them."""
    assert gates.as_told(GATE, "a") == "a"
    about = {"tool": "Bash", "what": "make", "input": {}}
    asked = gate(category=PERMISSION, about=about, options=(ALLOW, DENY))
    assert "make" in gates.as_told(asked, ALLOW)
    assert gates.as_told(asked, ALLOW) != gates.as_told(asked, DENY)
    assert gates.as_told(asked, "use ninja").endswith("\nuse ninja")


# --- the machine


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store.open(tmp_path / "segue.db")
    works.enrol(store, SERVER, tmp_path, NOON)
    yield store
    store.close()


def opened(store: Store, **more: Any) -> GateRow:
    wanted = GateRow("", None, None, "question", "Which?", ("a", "b"), work=SERVER)
    asked, add = gates.ask(replace(wanted, **more), NOON)
    assert store.move(add, at=NOON)
    return asked


def in_table(store: Store, id: str) -> GateRow:
    row = store.one("SELECT * FROM gates WHERE id = ?", id)
    assert row is not None
    return gate_row(row)


def test_a_gate_is_stored_as_it_was_asked(store: Store) -> None:
    """Every field comes back; its id says what kind it is."""
    asked = opened(
        store, preset="a", category="choice", about={"tool": "Bash"}, deadline=NOON + HOUR,
        phase=2, round=3, name="KEY", is_required=False, priority=1,
    )  # fmt: skip
    assert in_table(store, asked.id) == asked
    assert asked.id.startswith("q_")
    assert opened(store, kind="review").id.startswith("rev_")
    assert opened(store, kind="pane").id.startswith("pane_")


def test_a_gate_is_settled_once(store: Store) -> None:
    """The second one changes nothing, whatever it wants."""
    asked = opened(store)
    with acting(Actor("ann", "page")):
        assert store.move(*gates.settle(asked, Trigger.ANSWER, NOON, "a"), at=NOON)
    assert not store.move(*gates.settle(asked, Trigger.ANSWER, NOON, "b"), at=NOON)
    assert not store.move(*gates.withdraw(asked, NOON), at=NOON)
    found = in_table(store, asked.id)
    assert (found.state, found.answer, found.settled_at) == (GateState.ANSWERED, "a", NOON)
    rows = store.all("SELECT * FROM journal WHERE entity = 'gate' ORDER BY seq")
    assert [(row["to_state"], row["cause"]) for row in rows] == [
        ("pending", "open"),
        ("answered", "answer"),
    ]
    assert rows[1]["actor"] == "ann"
    assert json.loads(rows[1]["data"]) == {"task": None, "kind": "question", "answer": "a"}


def test_what_is_withdrawn_has_its_time_and_no_answer(store: Store) -> None:
    asked = opened(store)
    assert store.move(*gates.withdraw(asked, NOON + HOUR), at=NOON + HOUR)
    found = in_table(store, asked.id)
    assert (found.state, found.answer) == (GateState.WITHDRAWN, None)
    assert found.settled_at == NOON + HOUR


def test_a_gate_is_reworded_while_it_waits(store: Store) -> None:
    """Whoever saw the old words can still settle it."""
    asked = opened(store)
    later, note = gates.reword(asked, "Which one?", {"cost": 2.0})
    assert store.move(note, at=NOON)
    assert in_table(store, asked.id) == later
    assert store.move(*gates.settle(asked, Trigger.ANSWER, NOON, "a"), at=NOON)


@pytest.mark.parametrize(
    ("category", "taken"),
    [
        ("choice", [None, False, True]),
        ("budget", [False, False, False]),
        (PERMISSION, [False, False, True]),
    ],
)
def test_own_words_are_taken_where_they_can_mean_something(
    category: str, taken: list[bool | None]
) -> None:
    """A word that is no option must not refuse a tool by mistake."""
    asked = gate(category=category)
    assert [gates.takes_own_words(asked, is_meant) for is_meant in (None, False, True)] == taken
