"""A person wants something of a work, from wherever they are: the act is added, its owner hears the
bell, and what came of it is reported.

Where no process owns the work, what needs no agent is done at once under its lock; everything else
waits as a row for the next start. An account's row has no owner: it is changed at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from segue.core.limits import MANUAL
from segue.core.machines import ActState
from segue.core.plan import TaskState
from segue.engine import acts, bell, gates
from segue.engine.accounts import Accounts
from segue.engine.acts import CannotError, Verb, Wanted
from segue.engine.clock import Clock
from segue.engine.ledger import Ledger
from segue.engine.plan import deferred, manual_parks
from segue.engine.plan.manual_parks import ACCOUNT
from segue.errors import UserError
from segue.i18n import _
from segue.store.actors import Actor
from segue.store.changes import stamp
from segue.store.lock import Lock
from segue.store.rows import PANES, SERVER, GateRow
from segue.store.sqlite import Store
from segue.work import act_targets, background
from segue.work.act_targets import Target, Work
from segue.work.kinds import KINDS
from segue.work.project import Project

WAIT_S = 10.0  # for the owner to take an act in
TASK = "task"
YES = ("yes", "allow", "approve", "approved", "accept", "ok", "y", "예", "네", "허용", "승인")
NO = (
    "no", "deny", "reject", "refuse", "cancel", "abort", "stop", "n",
    "아니오", "아니요", "거부", "취소",
)  # fmt: skip
COMMANDS = {
    Verb.ANSWER: "segue answer {id} TEXT",
    Verb.APPROVE: "segue approve {id}",
    Verb.PROVIDE: "segue task provide {id}",
}


@dataclass(frozen=True, slots=True)
class Person:
    """Who acts, in which project, at what time."""

    project: Project
    actor: Actor
    clock: Clock


@dataclass(frozen=True, slots=True)
class Done:
    """What came of an act. `is_waiting`: until the next start of the work, or longer than could
    be waited for here."""

    what: str  # task, account, gate
    name: str
    kind: str  # of the work
    path: Path
    is_waiting: bool = False
    by_run: bool = False  # a process owns the work, and takes it in
    answer: str | None = None


# Gates


def settle(
    person: Person,
    id: str,
    verb: Verb,
    text: str | None = None,
    *,
    own_words: bool | None = None,
    comment: str | None = None,
) -> Done:
    """Answer a gate, or approve what waits there. `own_words`: as `acts.chosen` has it."""
    project, work, gate = act_targets.find_gate(person.project, id)
    person = Person(project, person.actor, person.clock)
    with closing(Store.open(project.database)) as store:
        acts.check_gate(store, id)
        verb, data = _said(work, gate, verb, text, own_words)
        if comment:
            data["comment"] = comment
        wanted = Wanted(verb, work.id, person.actor, gate=id, data=data)
        act = acts.add(store, wanted, person.clock.now())
        return _reported(person, store, work, act, "gate", id, data.get("answer"))


def _said(
    work: Work, gate: GateRow, verb: Verb, text: str | None, own_words: bool | None
) -> tuple[Verb, dict[str, str]]:
    """What the act says. To approve what is answered is to answer it with yes."""
    allowed = KINDS[work.kind].gate_acts(gate.kind)
    if Verb.ANSWER in allowed and verb is Verb.APPROVE:
        return Verb.ANSWER, {"answer": consent(gate)}
    if verb not in allowed:
        raise _not_allowed(gate, verb, allowed)
    if verb is not Verb.ANSWER:
        return verb, {}
    own = gates.takes_own_words(gate, own_words)
    answer = acts.chosen(text or "", gate.options, own_words=own)
    return verb, {"answer": answer, "own_words": "yes" if answer not in gate.options else ""}


def _not_allowed(gate: GateRow, verb: Verb, allowed: Sequence[str]) -> UserError:
    if Verb.WAKE in allowed:
        hint = _("go to the pane, or wake it: segue wake {pane}").format(pane=gate.about["pane"])
        return UserError("not_allowed", _("answer this in its pane"), hint=hint)
    command = COMMANDS[Verb(allowed[0])].format(id=gate.id)
    text = _("`{verb}` is not possible here: this is a {kind}").format(verb=verb, kind=gate.kind)
    return UserError("not_allowed", text, hint=_("try: {command}").format(command=command))


def consent(gate: GateRow) -> str:
    """Yes, in the gate's own word; the first option where none says yes."""
    by_case = {option.casefold(): option for option in gate.options}
    for word in YES:
        if word in by_case:
            return by_case[word]
    if gate.options and gate.options[0].casefold() not in NO:
        return gate.options[0]
    match gate.kind, gate.category:
        case _ if gate.options:
            pass
        case ("review", _) | (_, "design"):
            return "approve"
        case _, "permission":
            return "allow"
        case _, "confirmation" | "budget":
            return "yes"
    names = ", ".join(gate.options)
    text = _("none of the options means yes") + (f": {names}" if names else "")
    hint = _("answer it: {command}").format(command=f"segue answer {gate.id} TEXT")
    raise UserError("no_consent", text, hint=hint)


# Tasks and accounts


def about_task(person: Person, verb: Verb, name: str, plan: Path | None = None) -> Done:
    """Retry or skip a task."""
    with _task_open(person, verb, name, plan) as (store, target):
        return _add(person, store, target, verb, {})


def send_message(person: Person, name: str, text: str, plan: Path | None = None) -> Done:
    """Send a message to the agent of a task. It reads it at once or with its next turn, so nobody
    waits here until it did."""
    if not text.strip():
        raise UserError("empty", _("enter a message"))
    if len(text.encode("utf-8", "replace")) > acts.TEXT_BYTES_MAX:
        raise UserError(
            "message_too_long",
            _("the message is too long: at most {n} bytes").format(n=acts.TEXT_BYTES_MAX),
            hint=_("put it into a file in the project and name the file"),
        )
    with _task_open(person, Verb.MESSAGE, name, plan) as (store, target):
        wanted = _wanted(person, target, Verb.MESSAGE, {"text": text})
        acts.add(store, wanted, person.clock.now())
        bell.ring(person.project.bell)
        work = target.work
        is_owned = work.owner(person.project) is not None
        return Done(TASK, name, work.kind, work.path, is_waiting=not is_owned, by_run=is_owned)


@contextmanager
def _task_open(
    person: Person, verb: Verb, name: str, plan: Path | None
) -> Iterator[tuple[Store, Target]]:
    """The task of this name, if its work takes such an act and it is not over. That is said at
    once, whether anybody runs the work or not."""
    if not person.project.database.exists():
        raise _no_task(name)
    with closing(Store.open(person.project.database)) as store:
        target = act_targets.find_task(store, person.project, name, plan)
        if target is None:
            raise _no_task(name)
        _check_taken(target, verb)
        _check_open(target, verb)
        yield store, target


def _no_task(name: str) -> UserError:
    text = _("no task `{name}` here").format(name=name)
    return UserError("unknown_name", text, hint=_("segue status shows what is here"))


def _check_taken(target: Target, verb: Verb) -> None:
    """Some works do not take everything."""
    match target.work.id, verb:
        case str(work), Verb.MESSAGE if work == PANES:
            text = _("Segue does not type messages into panes")
            hint = _("go to the pane and type it there")
        case str(work), Verb.RETRY | Verb.SKIP if work == PANES:
            text = _("a person starts and ends the programs in panes; Segue does not")
            hint = _("if it is parked, wake it: segue wake {pane}").format(pane=target.name)
        case str(work), Verb.SKIP if work == SERVER:
            text = _("a task of the server is cancelled, not skipped")
            hint = _("try: {command}").format(command=f"segue task cancel {target.name}")
        case _:
            return
    raise UserError("not_allowed", text, hint=hint)


def _check_open(target: Target, verb: Verb) -> None:
    """Its own files may say more of how a task stands: then the owner decides."""
    asks_files = verb is not Verb.MESSAGE and KINDS[target.work.kind].has_own_states
    if not asks_files and target.state in (TaskState.COMPLETED, TaskState.SKIPPED):
        text = _("{task} has not failed") if verb is Verb.RETRY else _("{task} has already ended")
        hint = _("segue status shows what is here")
        raise UserError("not_allowed", text.format(task=target.name), hint=hint)


def park_or_wake(
    person: Person,
    verb: Verb,
    name: str,
    *,
    until: datetime | None,
    known_accounts: frozenset[str],
    plan: Path | None = None,
) -> Done:
    """Park or wake what has this name: a task, a pane, else an account."""
    if not person.project.database.exists():
        if name not in known_accounts:
            raise _unknown(name)
        if verb is Verb.WAKE:  # nothing was ever parked here
            return Done(ACCOUNT, name, ACCOUNT, person.project.memory)
        person.project.prepare()
    with closing(Store.open(person.project.database)) as store:
        target = act_targets.find_task(store, person.project, name, plan)
        if target is None:
            if name not in known_accounts and not act_targets.has_account(store, name):
                raise _unknown(name)
            return _account(person, store, verb, name, until)
        data = {"until": stamp(until)} if until else {}
        wanted = _wanted(person, target, verb, data)
        is_of_plan = target.work.id not in (SERVER, PANES)
        if is_of_plan and _do_now(person, store, target.work, wanted, until):
            return Done(TASK, name, target.work.kind, target.work.path)
        return _add(person, store, target, verb, data)


def _unknown(name: str) -> UserError:
    return UserError(
        "unknown_name",
        _("no task or account `{name}` here").format(name=name),
        hint=_("segue status shows what is here"),
    )


def _wanted(person: Person, target: Target, verb: Verb, data: dict[str, str]) -> Wanted:
    return Wanted(verb, target.work.id, person.actor, target.task, data=data)


def _add(person: Person, store: Store, target: Target, verb: Verb, data: dict[str, str]) -> Done:
    act = acts.add(store, _wanted(person, target, verb, data), person.clock.now())
    return _reported(person, store, target.work, act, TASK, target.name)


def _account(person: Person, store: Store, verb: Verb, name: str, until: datetime | None) -> Done:
    accounts = Accounts(store, person.clock)
    by_run = False
    if verb is Verb.PARK:
        assert until is not None
        accounts.park(name, MANUAL, until)
    else:
        accounts.wake(name)
        for work in act_targets.works_that_wait_for(store, name):
            wanted = Wanted(verb, work.id, person.actor, data={ACCOUNT: name})
            if not _do_now(person, store, work, wanted, None):
                acts.add(store, wanted, person.clock.now())
                by_run = True
    bell.ring(person.project.bell)
    return Done(ACCOUNT, name, ACCOUNT, person.project.memory, by_run=by_run)


def _do_now(
    person: Person, store: Store, work: Work, wanted: Wanted, until: datetime | None
) -> bool:
    """Carry it out under the lock of a plan that is not running; False: it is."""
    if work.owner(person.project) is not None:
        return False
    held = Lock(work.lock(person.project))
    now = person.clock.now()
    if held.take(since=stamp(now), command=" ".join(sys.argv)) is not None:
        return False
    try:
        ledger = Ledger(store, person.clock, work.path, work.kind)
        if account := wanted.data.get(ACCOUNT):
            manual_parks.wake_account(ledger, str(account), person.clock)
            deferred.forget(ledger, str(account))
        else:
            task = (wanted.task or "").removeprefix(f"{work.id}/")
            accounts = Accounts(store, person.clock)
            manual_parks.move(ledger, accounts, wanted.verb, task, until, person.clock)
        acts.done(store, wanted, now, then=ledger.unstage)
    except CannotError as error:
        hint = _("segue status shows what is parked")
        raise UserError("not_parked", str(error), hint=hint) from error
    finally:
        held.release()
    return True


# The outcome


def _reported(
    person: Person,
    store: Store,
    work: Work,
    act: str,
    what: str,
    name: str,
    answer: str | None = None,
) -> Done:
    """Ring, wait for the owner, and say what came of it."""
    bell.ring(person.project.bell)
    is_owned = work.owner(person.project) is not None
    found = acts.outcome(store, act)
    is_started = found.state is ActState.WAITING and background.wake(
        person.project, work.id, os.environ
    )
    if is_owned or is_started:
        owned = lambda: is_started or work.owner(person.project) is not None  # noqa: E731 - asked again and again
        found = acts.wait_for(store, act, WAIT_S, owned)
    if found.state is ActState.REFUSED:
        raise UserError("refused", found.reason or _("Segue refused it"))
    is_waiting = found.state is ActState.WAITING
    return Done(what, name, work.kind, work.path, is_waiting, is_owned or is_started, answer)
