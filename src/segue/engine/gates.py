"""Gates: what waits for a person, by one rule for every kind of work.

`ask`, `reword`, `settle` and `withdraw` are the only ways to open and to change one. Each gives
changes that the caller commits with all that follows, in one transaction: who comes second finds
the gate in another state and changes nothing. What follows from an answer is the kind's own rule.

A gate's row says since when and until when it waits, and the row of a notice says that people were
notified. So reminders and deadlines need no rows of their own, and each goes out once, whatever
dies in between; what fell due while nothing drove the work goes out at its next start.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from segue.core.machines import GATE, GateState, Trigger
from segue.dialects.events import Asked
from segue.engine import prompts
from segue.engine.question_texts import BREAKER, BUDGET, ESCALATED, PERMISSION, PLAN_EDIT
from segue.i18n import _
from segue.store.changes import Add, Change, Drop, Move, Note, Value, stamp
from segue.store.rows import GateRow, answer_told, gate_row, id_of, new_id
from segue.store.sqlite import Store

Steps = Sequence[tuple[str, timedelta]]  # what a reminder is called, and after how long it is due
ALLOW, ALLOW_TOOL, DENY = "allow", "allow tool", "deny"
OPTIONS_ONLY = frozenset({BREAKER, BUDGET, ESCALATED, PLAN_EDIT})
PREFIXES = {"question": "q", "review": "rev", "dependency": "dep"}  # of ids; else the kind
PENDING = "SELECT * FROM gates WHERE work = ? AND state = 'pending' ORDER BY created_at"


# The machine


def ask(gate: GateRow, now: datetime) -> tuple[GateRow, Add]:
    """Open a gate; as it is from now on, with an id of its own."""
    id = new_id(PREFIXES.get(gate.kind, gate.kind))
    gate = replace(gate, id=id, state=GateState.PENDING, version=1, created_at=now)
    row: dict[str, Value] = {
        "work": gate.work,
        "task": id_of(gate.task, gate.work) if gate.task else None,
        "run": gate.run,
        "kind": gate.kind,
        "phase": gate.phase,
        "round": gate.round,
        "category": gate.category,
        "name": gate.name,
        "text": gate.text,
        "options": _json(gate.options),
        "preset": gate.preset,
        "is_required": int(gate.is_required),
        "priority": gate.priority,
        "deadline": stamp(gate.deadline) if gate.deadline else None,
        "about": _json(gate.about) if gate.about else None,
    }
    return gate, Add("gate", id, GateState.PENDING, row, Trigger.OPEN, _told(gate))


def reword(
    gate: GateRow, text: str, about: Mapping[str, Any], category: str | None = None
) -> tuple[GateRow, Note]:
    """The same question, in words that are right now."""
    gate = replace(gate, text=text, about=about, category=category or gate.category)
    sets = {"text": text, "about": _json(about), "category": gate.category}
    return gate, Note("gate", gate.id, sets)


def settle(
    gate: GateRow,
    cause: Trigger,
    now: datetime,
    answer: str | None = None,
    about: Mapping[str, Any] | None = None,
) -> list[Change]:
    """A person decided, or the default was taken. `about`: further facts that the gate keeps."""
    sets: dict[str, Value] = {"settled_at": stamp(now), "answer": answer}
    if about is not None:
        sets["about"] = _json(about)
    to = GATE.target(gate.state, cause)
    data = {**_told(gate), **answer_told(answer)}
    move = Move("gate", gate.id, gate.state, to, cause, sets, gate.version, data)
    return [move, Drop("timers", {"gate": gate.id})]


def withdraw(gate: GateRow, now: datetime) -> list[Change]:
    """The question no longer needs a decision."""
    return settle(gate, Trigger.CLOSE, now)


def _told(gate: GateRow) -> dict[str, object]:
    return {"task": gate.task, "kind": gate.kind}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# Reminders


@dataclass(frozen=True, slots=True)
class Reminder:
    """A reminder about a gate that waits. `is_late`: its deadline has passed."""

    gate: GateRow
    kind: str
    is_late: bool = False

    @property
    def about(self) -> str:
        """What makes it the same, so that it goes out once."""
        return f"{'deadline' if self.is_late else self.kind}:{self.gate.id}"

    def in_words(self, text: str) -> str:
        """`text`: what waits."""
        if self.is_late:
            return _("a question has passed its deadline: {text}").format(text=text)
        texts = {
            "remind": _("is still waiting for you: {text}"),
            "urgent": _("urgent, waiting for you: {text}"),
            "escalate": _("has been waiting too long: {text}"),
        }
        return texts[self.kind].format(text=text)


class ReminderTimes(Protocol):
    """When people are reminded, in seconds, as the settings have it."""

    @property
    def remind_after(self) -> float: ...

    @property
    def urgent_after(self) -> float: ...

    @property
    def escalate_after(self) -> float: ...


def steps(times: ReminderTimes) -> Steps:
    found = {
        "remind": times.remind_after,
        "urgent": times.urgent_after,
        "escalate": times.escalate_after,
    }
    in_order = sorted(found.items(), key=lambda one: one[1])
    return [(kind, timedelta(seconds=wait_s)) for kind, wait_s in in_order]


def deadline(asked: Asked, now: datetime) -> datetime | None:
    """Until when a question waits that was asked now."""
    return None if asked.deadline_s is None else now + timedelta(seconds=asked.deadline_s)


def takes_default(gate: GateRow) -> bool:
    """Whether its deadline answers it; any other question stays open, and people are notified."""
    return gate.deadline is not None and not gate.is_required and gate.preset is not None


def is_over(gate: GateRow, now: datetime) -> bool:
    return gate.deadline is not None and gate.deadline <= now


def due(gate: GateRow, now: datetime, steps: Steps) -> Iterator[Reminder]:
    """What people must know of it by now: reminders, and that its deadline has passed."""
    if is_over(gate, now) and not takes_default(gate):
        yield Reminder(gate, "urgent", is_late=True)
    for kind, after in steps:
        if (gate.created_at or now) + after <= now:
            yield Reminder(gate, kind)


def next_at(gates: Iterable[GateRow], now: datetime, steps: Steps) -> datetime | None:
    """When the next reminder or deadline of them all comes."""
    return min((at for gate in gates for at in _times(gate, steps) if at > now), default=None)


def _times(gate: GateRow, steps: Steps) -> Iterator[datetime]:
    if gate.deadline is not None:
        yield gate.deadline
    if gate.created_at is not None:
        yield from (gate.created_at + after for _kind, after in steps)


def pending(store: Store, work: str) -> list[GateRow]:
    return [gate_row(row) for row in store.all(PENDING, work)]


@dataclass(slots=True)
class Reminders:
    """Reminds people of the gates of one work. `tell` writes the notice, unless an earlier owner
    or another one has. Where there may be very many gates (`is_lazy`), they are looked through only
    when one can be due; their deadlines are timers then."""

    steps: Steps
    gates: Callable[[], Iterable[GateRow]]
    tell: Callable[[Reminder], None]
    is_lazy: bool = False
    _told: set[str] = field(default_factory=set, init=False)
    _look_at: datetime | None = field(default=None, init=False)

    def look(self, now: datetime) -> datetime | None:
        """Tell what is due; when to look again."""
        if self.is_lazy and self._look_at is not None and now < self._look_at:
            return self._look_at
        gates = list(self.gates())
        for reminder in (one for gate in gates for one in due(gate, now, self.steps)):
            if reminder.about not in self._told:
                self.tell(reminder)
                self._told.add(reminder.about)
        times = [next_at(gates, now, self.steps)]
        if self.is_lazy:  # what opens after this look is due no earlier than that
            times += [now + after for _kind, after in self.steps]
        self._look_at = min((at for at in times if at is not None), default=None)
        return self._look_at


# Answers


def takes_own_words(gate: GateRow, is_meant: bool | None) -> bool | None:
    """Whether other text than its options is an answer; None: unless it is close to one. Segue's
    own questions take none. One about a tool only where it is meant: it refuses the tool."""
    if gate.category in OPTIONS_ONLY:
        return False
    return bool(is_meant) if gate.category == PERMISSION else is_meant


def as_told(gate: GateRow, answer: str) -> str:
    """An answer as the agent gets it."""
    if gate.category != PERMISSION or "tool" not in gate.about:
        return answer
    is_given = answer in (ALLOW, ALLOW_TOOL)
    said = prompts.permission(gate.about["tool"], gate.about["what"], is_given=is_given)
    return said if answer in gate.options else f"{said}\n{answer}"
