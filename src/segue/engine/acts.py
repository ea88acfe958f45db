"""Acts: what people want of a work, as rows that its owner takes in once.

Any terminal, the page or an MCP client adds one. What can be checked is checked in the transaction
that adds it: the gate waits, and was not settled before. The owner commits `taken` together
with all that follows from the act, so a death leaves both or neither; what cannot be done any more
is `refused`, with the reason for the person who added it.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

from segue.core.machines import ActState, GateState, Trigger
from segue.engine.outage import is_trouble
from segue.errors import UserError
from segue.i18n import _
from segue.store.actors import TIMER, Actor, acting
from segue.store.changes import Add, Change, Move, Value, instant
from segue.store.rows import ActRow, act_row, key_of, new_id
from segue.store.sqlite import Store

logger = logging.getLogger("segue.acts")

ALREADY_SETTLED = "already_settled"
TEXT_BYTES_MAX = 64 * 1024
TAKEN_MAX = 1_000  # in one go; the rest follow
LOOK_S = 0.05  # between two looks while waiting for an outcome
WAITING = (
    "SELECT * FROM acts WHERE work = ? AND state = 'waiting' ORDER BY created_at, rowid LIMIT ?"
)
WAITS_FOR_OWNER = (
    "SELECT * FROM acts WHERE gate = ? AND state = 'waiting' ORDER BY created_at, rowid LIMIT 1"
)
SETTLED = (
    "SELECT * FROM journal WHERE entity_id = ? AND entity = 'gate' AND from_state IS NOT NULL"
    " ORDER BY seq DESC LIMIT 1"
)


class Verb(StrEnum):
    ANSWER = "answer"
    APPROVE = "approve"
    REQUEST_CHANGES = "request_changes"
    PROVIDE = "provide"
    REJECT = "reject"
    RETRY = "retry"
    SKIP = "skip"
    UNSKIP = "unskip"
    PARK = "park"
    WAKE = "wake"
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    CANCEL = "cancel"
    MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a verb is about: a gate, which is in the state `settles` then, or a task or work.
    `is_once`: a second one of the same task says nothing more."""

    settles: GateState | None = None
    is_once: bool = False


VERBS: dict[Verb, Meaning] = {
    Verb.ANSWER: Meaning(GateState.ANSWERED),
    Verb.APPROVE: Meaning(GateState.APPROVED),
    Verb.REQUEST_CHANGES: Meaning(GateState.CHANGES_REQUESTED),
    Verb.PROVIDE: Meaning(GateState.PROVIDED),
    Verb.REJECT: Meaning(GateState.REJECTED),
    Verb.RETRY: Meaning(is_once=True),
    Verb.SKIP: Meaning(is_once=True),
    Verb.UNSKIP: Meaning(),
    Verb.PARK: Meaning(),
    Verb.WAKE: Meaning(),
    Verb.PAUSE: Meaning(),
    Verb.RESUME: Meaning(),
    Verb.STOP: Meaning(),
    Verb.CANCEL: Meaning(is_once=True),
    Verb.MESSAGE: Meaning(),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """An act that is to be added. `task`: its id among the tasks of all works."""

    verb: Verb
    work: str
    actor: Actor
    task: str | None = None
    gate: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict, hash=False)


class CannotError(Exception):
    """The owner cannot carry an act out; the text says why."""


# Adding


def add(store: Store, wanted: Wanted, at: datetime) -> str:
    """Add an act for the owner of its work; its id. UserError: it is checked, and cannot be."""
    id = new_id("act")
    with acting(wanted.actor):
        store.move(at=at, then=lambda: _added(store, id, wanted))
    return id


def adding(store: Store, wanted: Wanted) -> tuple[str, list[Change]]:
    """The same for whoever commits it: its id, and the change. Asked for within a transaction
    (`then` of a move), nobody else can be first."""
    id = new_id("act")
    return id, list(_added(store, id, wanted))


def done(
    store: Store, wanted: Wanted, at: datetime, then: Callable[[], Iterable[Change]] = tuple
) -> str:
    """Add an act that is carried out at once: `then` is what follows, in the same transaction."""
    id = new_id("act")

    def changes() -> Iterable[Change]:
        yield from _added(store, id, wanted)
        yield Move("act", id, ActState.WAITING, ActState.TAKEN, Trigger.TAKE, data=_who(wanted))
        yield from then()

    with acting(wanted.actor):
        store.move(at=at, then=changes)
    return id


def _added(store: Store, id: str, wanted: Wanted) -> Iterable[Change]:
    if wanted.gate is not None:
        check_gate(store, wanted.gate)
    elif VERBS[wanted.verb].is_once:
        _check_first(store, wanted)
    row: dict[str, Value] = {
        "work": wanted.work,
        "task": wanted.task,
        "gate": wanted.gate,
        "verb": wanted.verb,
        "data": json.dumps(wanted.data, ensure_ascii=False),
        "actor": wanted.actor.name,
        "via": wanted.actor.via,
    }
    yield Add("act", id, ActState.WAITING, row, data=_who(wanted))


def _who(wanted: Wanted) -> dict[str, object]:
    """For the journal. What was said is in the row, and in the gate once it is settled."""
    found = {"verb": str(wanted.verb), "actor": wanted.actor.name, "via": wanted.actor.via}
    about = {"task": key_of(wanted.task, wanted.work), "gate": wanted.gate}
    return {**found, **{name: id for name, id in about.items() if id}}


def check_gate(store: Store, gate: str) -> None:
    """UserError: there is no gate with this id, or another act has settled it or is about to."""
    row = store.one("SELECT state FROM gates WHERE id = ?", gate)
    if row is None:
        raise unknown_gate(gate)
    if row["state"] != GateState.PENDING:
        raise settled(store, gate)
    before = store.one(WAITS_FOR_OWNER, gate)
    if before is not None:
        state = VERBS[Verb(before["verb"])].settles or GateState.ANSWERED
        raise _second(gate, state, before["created_at"], before["actor"])


def _check_first(store: Store, wanted: Wanted) -> None:
    sql = "SELECT * FROM acts WHERE task = ? AND verb = ? AND state = 'waiting' LIMIT 1"
    before = store.one(sql, wanted.task, wanted.verb) if wanted.task else None
    if before is not None:
        text = _("{who} already requested this ({time}): {verb}")
        raise UserError(
            "already_wanted",
            text.format(who=before["actor"], time=_clock(before["created_at"]), verb=wanted.verb),
            hint=_("Segue does this at the next start of the work"),
        )


def unknown_gate(gate: str) -> UserError:
    return UserError(
        "unknown_gate",
        _("nothing with the id `{id}` is waiting here").format(id=gate[:64]),
        hint=_("see what waits: segue inbox"),
    )


def settled(store: Store, gate: str) -> UserError:
    """Another act was first: how, by whom and when, as the journal has it."""
    row = store.one(SETTLED, gate)
    if row is None:  # the journal of an older Segue
        return _second(gate, GateState.ANSWERED, None, "?")
    who = row["actor"] or json.loads(row["data"] or "{}").get("actor") or "?"
    if row["via"] == TIMER.via:
        who = _("the default, after its deadline")
    return _second(gate, row["to_state"], row["at"], who)


def _second(gate: str, state: str, at: str | None, who: str) -> UserError:
    text = _("{id} is already {state}: by {who}, {time}")
    shown = text.format(id=gate, state=state, who=who, time=_clock(at) if at else "–")
    return UserError(ALREADY_SETTLED, shown, hint=_("the first answer counts"))


def _clock(at: str) -> str:
    return f"{instant(at).astimezone():%Y-%m-%d %H:%M:%S}"


# What a person answers


def chosen(text: str, options: Sequence[str], *, own_words: bool | None = False) -> str:
    """The option that a text means: exact, then by other capitals. A close one is only suggested.
    Other text counts as the person's own words if they say so (`own_words`), or (None) if it is
    close to no option."""
    text = text.strip()
    if not text:
        raise UserError("bad_answer", _("enter an answer"))
    if len(text.encode("utf-8", "replace")) > TEXT_BYTES_MAX:
        raise UserError(
            "answer_too_long",
            _("the answer is too long: at most {n} bytes").format(n=TEXT_BYTES_MAX),
            hint=_("put it into a file in the project and name the file"),
        )
    if not options or text in options:
        return text
    lowered = {option.casefold(): option for option in options}
    if text.casefold() in lowered:
        return lowered[text.casefold()]
    if own_words:
        return text
    close = get_close_matches(text.casefold(), lowered, 1)
    if not close and own_words is None:
        return text
    raise NotAnOptionError(text, options, lowered[close[0]] if close else None)


class NotAnOptionError(UserError):
    """A text that means none of the options; `suggestion`: the one that is close to it."""

    def __init__(self, text: str, options: Sequence[str], suggestion: str | None) -> None:
        message = _("`{answer}` is not one of the options").format(answer=text)
        if suggestion:
            message += "; " + _("did you mean `{name}`?").format(name=suggestion)
        hint = _("the options: {names}").format(names=", ".join(options))
        super().__init__("bad_answer", message, hint=hint)
        self.suggestion = suggestion


# Taking in


Handler = Callable[[ActRow], bool]  # it commits `taken` with what follows; False: the act waits on


@dataclass(frozen=True, slots=True)
class Intake:
    """Takes in what people want of one work. A kind of work gives a handler for each verb that it
    knows; a handler that cannot do what is wanted raises CannotError before it changes anything.

    `survives`: an error of a handler's own leaves nothing half done, so the act is refused for it,
    and the others are taken in; otherwise it is raised to the caller."""

    handlers: Mapping[Verb, Handler]
    refuse: Callable[[ActRow, str], None]
    survives: bool = True

    def take(self, waiting: Iterable[ActRow]) -> bool:
        """All that waits, the oldest first; whether anything came of it."""
        has_changed = False
        for act in waiting:
            try:
                with acting(by(act)):
                    has_changed |= self._handler(act)(act)
            except CannotError as why:
                self.refuse(act, str(why))
                has_changed = True
            except Exception as error:
                if not self.survives or is_trouble(error):
                    raise
                logger.exception("act %s", act.id)
                self.refuse(act, repr(error))
                has_changed = True
        return has_changed

    def _handler(self, act: ActRow) -> Handler:
        known = act.verb in Verb.__members__.values()
        handler = self.handlers.get(Verb(act.verb)) if known else None
        if handler is None:
            text = _("`{verb}` is not possible for this kind of work")
            raise CannotError(text.format(verb=act.verb))
        return handler


def said(act: ActRow, name: str) -> str:
    """What an act must bring along."""
    if name not in act.data:
        text = _("`{verb}` requires `{name}`").format(verb=act.verb, name=name)
        raise CannotError(text)
    return str(act.data[name])


def until(act: ActRow) -> datetime:
    """The time that an act names."""
    text = said(act, "until")
    try:
        return instant(text)
    except ValueError as error:
        raise CannotError(_("`{text}` is not a time").format(text=text)) from error


def waiting(store: Store, work: str) -> list[ActRow]:
    """What the owner of a work has not taken in yet, the oldest first."""
    return [act_row(row) for row in store.all(WAITING, work, TAKEN_MAX)]


def by(act: ActRow) -> Actor:
    """Who wanted it: what follows from it is theirs in the journal (`acting`)."""
    return Actor(act.actor, act.via)


def taken(act: ActRow) -> Move:
    """To be committed with what follows from it."""
    data = _told(act)
    to, cause = ActState.TAKEN, Trigger.TAKE
    return Move("act", act.id, act.state, to, cause, {}, act.version, data, by=by(act))


def refused(act: ActRow, reason: str) -> Move:
    sets: dict[str, Value] = {"reason": reason}
    data = {**_told(act), "reason": reason}
    to, cause = ActState.REFUSED, Trigger.REFUSE
    return Move("act", act.id, act.state, to, cause, sets, act.version, data, by=by(act))


def _told(act: ActRow) -> dict[str, object]:
    """For the journal."""
    found = {"verb": act.verb, "actor": act.actor, "via": act.via}
    return {**found, **({"task": act.task} if act.task else {})}


# The outcome


def outcome(store: Store, id: str) -> ActRow:
    row = store.one("SELECT * FROM acts WHERE id = ?", id)
    if row is None:  # its work or task was deleted meanwhile
        raise UserError("act_gone", _("it was deleted in the meantime"))
    return act_row(row)


def wait_for(store: Store, id: str, wait_s: float, is_owned: Callable[[], bool]) -> ActRow:
    """The act when its owner has dealt with it; as it is when the time is over, or no one owns the
    work any more."""
    ends = time.monotonic() + wait_s
    while (act := outcome(store, id)).state is ActState.WAITING:
        if time.monotonic() >= ends or not is_owned():
            return outcome(store, id)
        time.sleep(LOOK_S)
    return act
