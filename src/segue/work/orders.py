"""`segue park` and `segue wake`: a person's hand on a task or an account.

An account's row is everybody's: it is moved at once, and whoever runs a plan is nudged. A
task's rows belong to the holder of its plan's lock: it gets the order by a file in the
mailbox; if nobody runs the plan, the order is carried out here, under the lock. To wake an
account is an order to each plan with parked tasks of it.
"""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segue.core.limits import MANUAL
from segue.core.machines import ParkState
from segue.dialects.events import LimitHit
from segue.engine.clock import Clock
from segue.errors import UserError
from segue.i18n import _
from segue.store import files, lock
from segue.store.changes import instant, stamp
from segue.store.lock import Lock
from segue.store.sqlite import Store
from segue.work import held_back
from segue.work.accounts import Accounts
from segue.work.ledger import Ledger
from segue.work.locks import lock_path
from segue.work.project import Project
from segue.work.rows import ParkRow

if TYPE_CHECKING:
    from segue.work.plan_run import PlanRun

SUFFIX = ".order"
ORDERS_MAX = 1_000
PARK, WAKE = "park", "wake"
TASK, ACCOUNT = "task", "account"


@dataclass(frozen=True, slots=True)
class Order:
    """To one plan, about a task of it or about all that is parked of an account."""

    verb: str
    plan: str
    what: str  # TASK or ACCOUNT
    name: str
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What came of an order. `by_run`: whoever runs the plan carries it out."""

    what: str  # TASK or ACCOUNT
    name: str
    until: datetime | None
    by_run: bool = False


def give(
    project: Project,
    verb: str,
    name: str,
    *,
    until: datetime | None,
    clock: Clock,
    known_accounts: frozenset[str],
    plan: Path | None = None,
) -> Done:
    """Park or wake what has this name: a task of a plan, else an account."""
    if not project.database.exists():
        if name not in known_accounts:
            raise _unknown(name)
        if verb == WAKE:
            return Done(ACCOUNT, name, None)  # nothing was ever parked here
        project.prepare()
    store = Store.open(project.database)
    try:
        tasks = _tasks(store, name, plan)
        if len(tasks) > 1:
            plans = ", ".join(project.relative(Path(path)) for path in tasks)
            raise UserError(
                "ambiguous",
                _("there is a {name} in several plans: {plans}").format(name=name, plans=plans),
                hint=_("say which: --plan PATH"),
            )
        if tasks:
            order = Order(verb, tasks[0], TASK, name, until)
            return Done(TASK, name, until, by_run=_deliver(project, store, order, clock))
        if name in known_accounts or _has_account(store, name):
            return _to_account(project, store, verb, name, until, clock)
        raise _unknown(name)
    finally:
        store.close()


def _unknown(name: str) -> UserError:
    return UserError(
        "unknown_name",
        _("there is no task and no account `{name}` here").format(name=name),
        hint=_("segue status shows what is here"),
    )


def _tasks(store: Store, key: str, plan: Path | None) -> list[str]:
    """The plans that have a task of this id and were run before."""
    sql = "SELECT plans.path FROM tasks JOIN plans ON tasks.plan = plans.id WHERE tasks.key = ?"
    paths = [row["path"] for row in store.all(sql, key)]
    return [path for path in paths if plan is None or path == str(plan.resolve())]


def _has_account(store: Store, name: str) -> bool:
    if store.one("SELECT 1 FROM accounts WHERE id = ?", name) is not None:
        return True
    return store.one("SELECT 1 FROM runs WHERE account = ? LIMIT 1", name) is not None


def _to_account(
    project: Project, store: Store, verb: str, name: str, until: datetime | None, clock: Clock
) -> Done:
    accounts = Accounts(store, clock)
    by_run = False
    if verb == PARK:
        assert until is not None
        accounts.park(name, MANUAL, until)
    else:
        accounts.wake(name)
        for plan in _plans_waiting_for(store, name):
            by_run |= _deliver(project, store, Order(WAKE, plan, ACCOUNT, name), clock)
    _nudge(project)
    return Done(ACCOUNT, name, until, by_run)


def _plans_waiting_for(store: Store, account: str) -> list[str]:
    """With a task that hit the account's limit, or that was held back by it."""
    sql = (
        "SELECT path FROM plans WHERE held IS NOT NULL"
        " OR id IN (SELECT plan FROM parks WHERE account = ? AND state = ?)"
    )
    return [row["path"] for row in store.all(sql, account, ParkState.WAITING)]


def _deliver(project: Project, store: Store, order: Order, clock: Clock) -> bool:
    """Have an order carried out. Whether whoever runs the plan does it."""
    path = Path(order.plan)
    held = Lock(lock_path(project, path))
    is_run = lock.holder(lock_path(project, path)) is not None
    if is_run or held.take(since=stamp(clock.now()), command=" ".join(sys.argv)) is not None:
        _post(project, order)
        return True
    try:
        ledger = Ledger(store, clock, path, "tasklist")
        _move_parks(ledger, Accounts(store, clock), order, clock)
        if order.what == ACCOUNT:
            held_back.forget(ledger, order.name)
        ledger.commit()
    finally:
        held.release()
    return False


def _move_parks(ledger: Ledger, accounts: Accounts, order: Order, clock: Clock) -> None:
    parks = _parks_of(ledger, order)
    if not parks and order.what == TASK:
        text = _("{task} is not parked") if order.verb == WAKE else _("{task} does not run")
        raise UserError(
            "not_parked",
            text.format(task=order.name),
            hint=_("segue status shows what is parked"),
        )
    if order.verb == WAKE:
        for account in {park.account for park in parks}:
            accounts.wake(account)
    for park in parks:
        ledger.delay_park(park, order.until or clock.now())


def _parks_of(ledger: Ledger, order: Order) -> list[ParkRow]:
    """What an order is about. A task that a person parked does not wait for its account."""
    parks = list(ledger.parks.values())
    if order.what == TASK:
        return [park for park in parks if park.task == order.name]
    return [park for park in parks if park.account == order.name and park.kind != MANUAL]


# The way to whoever runs the plan


def _post(project: Project, order: Order) -> None:
    told = {
        "verb": order.verb,
        "plan": order.plan,
        order.what: order.name,
        "until": stamp(order.until) if order.until else None,
    }
    path = project.mailbox / f"{secrets.token_hex(8)}{SUFFIX}"
    try:
        files.replace(path, json.dumps(told).encode())
    except OSError as error:
        raise files.in_words(error, path) from error


def _nudge(project: Project) -> None:
    """Whoever watches the mailbox looks at the accounts again."""
    if project.mailbox.exists():
        path = project.mailbox / f".nudge-{secrets.token_hex(4)}"
        path.touch()
        path.unlink()


def take_in(run: PlanRun) -> None:
    """Orders for tasks of this plan, each carried out once."""
    folder = run.workshop.project.mailbox
    for path in sorted(folder.glob(f"*{SUFFIX}"))[:ORDERS_MAX]:
        order = _read(path)
        if order is not None and order.plan != str(run.file.path):
            continue
        path.unlink(missing_ok=True)
        if order is not None:
            _carry_out(run, order)


def _read(path: Path) -> Order | None:
    try:
        told: Mapping[str, Any] = json.loads(path.read_bytes())
        match told:
            case {"verb": "park" | "wake" as verb, "plan": str(plan), **more}:
                until = more.get("until")
                what = TASK if TASK in more else ACCOUNT
                return Order(verb, plan, what, str(more[what]), instant(until) if until else None)
    except (OSError, ValueError, TypeError, KeyError):
        pass
    return None  # nothing that we wrote


def _carry_out(run: PlanRun, order: Order) -> None:
    is_of = order.what == TASK and order.verb == PARK
    attempt = next((a for a in run.jobs.values() if is_of and a.task.id == order.name), None)
    if attempt is not None and attempt.finished is not None:
        run.tell("notice", text=_("{task} has just ended").format(task=order.name))
        return
    if attempt is not None:
        attempt.limit = LimitHit(MANUAL, resets_at=order.until, text=_("by hand"))
        attempt.is_parked_by_hand = True
        run.engine.end_soon(attempt.run.id)
        return
    try:
        _move_parks(run.ledger, run.accounts, order, run.clock)
    except UserError as error:
        run.tell("notice", text=str(error.problem.message))
