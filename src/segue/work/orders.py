"""`segue park` and `segue wake`: a person's hand on a task or an account.

An account's row is everybody's: it is moved at once, and whoever runs a plan is nudged. A
task's rows belong to the holder of its plan's lock: it gets the order by a file in the
mailbox; if nobody runs the plan, the order is carried out here, under the lock.
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
from segue.dialects.events import LimitHit
from segue.engine.clock import Clock
from segue.errors import UserError
from segue.i18n import _
from segue.store import files, lock
from segue.store.changes import instant, stamp
from segue.store.lock import Lock
from segue.store.sqlite import Store
from segue.work.accounts import Accounts
from segue.work.ledger import Ledger
from segue.work.locks import check_held, lock_path
from segue.work.project import Project

if TYPE_CHECKING:
    from segue.work.plan_run import PlanRun

SUFFIX = ".order"
ORDERS_MAX = 1_000
PARK, WAKE = "park", "wake"


@dataclass(frozen=True, slots=True)
class Order:
    verb: str
    plan: str
    task: str
    until: datetime | None


@dataclass(frozen=True, slots=True)
class Done:
    """What came of an order. `by_run`: whoever runs the plan carries it out."""

    what: str  # "task" or "account"
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
        raise _unknown(name)
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
            return _to_task(project, store, Order(verb, tasks[0], name, until), clock)
        if plan is None and (name in known_accounts or _has_account(store, name)):
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
    if verb == PARK:
        assert until is not None
        accounts.park(name, MANUAL, until)
    else:
        accounts.wake(name)
    _nudge(project)
    return Done("account", name, until)


def _to_task(project: Project, store: Store, order: Order, clock: Clock) -> Done:
    path = Path(order.plan)
    if lock.holder(lock_path(project, path)) is not None:
        _post(project, order)
        return Done("task", order.task, order.until, by_run=True)
    held = Lock(lock_path(project, path))
    command = " ".join(sys.argv)
    check_held(held.take(since=stamp(clock.now()), command=command), order.plan)
    try:
        ledger = Ledger(store, clock, path, "tasklist")
        _move_park(ledger, Accounts(store, clock), order, clock)
        ledger.commit()
    finally:
        held.release()
    return Done("task", order.task, order.until)


def _move_park(ledger: Ledger, accounts: Accounts, order: Order, clock: Clock) -> None:
    park = next((park for park in ledger.parks.values() if park.task == order.task), None)
    if park is None:
        text = _("{task} is not parked") if order.verb == WAKE else _("{task} does not run")
        raise UserError(
            "not_parked",
            text.format(task=order.task),
            hint=_("segue status shows what is parked"),
        )
    if order.verb == WAKE:
        accounts.wake(park.account)
    ledger.delay_park(park, order.until or clock.now())


# The way to whoever runs the plan


def _post(project: Project, order: Order) -> None:
    told = {
        "verb": order.verb,
        "plan": order.plan,
        "task": order.task,
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
            case {"verb": "park" | "wake" as verb, "plan": str(plan), "task": str(task), **more}:
                until = more.get("until")
                return Order(verb, plan, task, instant(until) if until else None)
    except (OSError, ValueError, TypeError):
        pass
    return None  # nothing that we wrote


def _carry_out(run: PlanRun, order: Order) -> None:
    attempt = next((a for a in run.jobs.values() if a.task.id == order.task), None)
    if order.verb == PARK and attempt is not None and attempt.finished is not None:
        run.tell("notice", text=_("{task} has just ended").format(task=order.task))
        return
    if order.verb == PARK and attempt is not None:
        attempt.limit = LimitHit(MANUAL, resets_at=order.until, text=_("by hand"))
        attempt.is_parked_by_hand = True
        run.engine.end_soon(attempt.run.id)
        return
    try:
        _move_park(run.ledger, run.accounts, order, run.clock)
    except UserError as error:
        run.tell("notice", text=str(error.problem.message))
