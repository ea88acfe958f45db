"""A person moves the end of what is parked in a plan: by its owner, or under its lock."""

from __future__ import annotations

from datetime import datetime

from segue.core.limits import MANUAL
from segue.engine.accounts import Accounts
from segue.engine.acts import CannotError, Verb
from segue.engine.clock import Clock
from segue.engine.ledger import Ledger
from segue.i18n import _

ACCOUNT = "account"  # what an act's data calls the account that it is about, if it is about one


def move(
    ledger: Ledger, accounts: Accounts, verb: str, task: str, until: datetime | None, clock: Clock
) -> None:
    """The parks of a task end then, or now."""
    parks = [park for park in ledger.parks.values() if park.task == task]
    if not parks:
        text = _("{task} is not parked") if verb == Verb.WAKE else _("{task} is not running")
        raise CannotError(text.format(task=task))
    if verb == Verb.WAKE:
        for account in {park.account for park in parks}:
            accounts.wake(account)
    for park in parks:
        ledger.delay_park(park, until or clock.now())


def wake_account(ledger: Ledger, account: str, clock: Clock) -> None:
    """All that waits for it. A task that a person parked does not wait for its account."""
    for park in list(ledger.parks.values()):
        if park.account == account and park.kind != MANUAL:
            ledger.delay_park(park, clock.now())
