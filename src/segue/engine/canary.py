"""Whether a canary works for real, so that the other tasks of its account may follow.

A greeting proves nothing, neither does a refusal. An agent with structured output works once it
used a tool or sent a second message; of a text agent or a pane only time tells: its output
continues for a few seconds. A successful end proves it in every case.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from segue.engine.accounts import Accounts

CONTINUES = timedelta(seconds=5)  # output that continues for so long is no greeting
SAME_MESSAGE = timedelta(milliseconds=500)  # the lines of one message arrive together
MESSAGES_MIN = 2


@dataclass(slots=True)
class Proof:
    """What was heard of one run, and whether it shows that the agent works for real."""

    is_structured: bool
    works: bool = False
    messages: int = 0
    first_at: datetime | None = None  # of its words since its last refusal
    last_at: datetime | None = None

    def said(self, now: datetime) -> None:
        if self.last_at is None or now - self.last_at > SAME_MESSAGE:
            self.messages += 1
        self.first_at, self.last_at = self.first_at or now, now
        if self.is_structured:
            self.works |= self.messages >= MESSAGES_MIN
        else:
            self.works |= now - self.first_at >= CONTINUES

    def used_tool(self) -> None:
        self.works = True

    def refused(self) -> None:
        """It reported the limit: what it printed before was not work."""
        self.messages, self.first_at, self.last_at = 0, None, None


@dataclass(slots=True)
class Canaries:
    """The canaries that this owner sent: by account, the task that tries it."""

    accounts: Accounts
    _tasks: dict[str, str] = field(default_factory=dict)

    def send(self, account: str, task: str) -> bool:
        """False: another owner was faster."""
        if not self.accounts.probe(account, task):
            return False
        self._tasks[account] = task
        return True

    def adopt(self, account: str, task: str) -> None:
        """One that a former owner sent is still alive."""
        self._tasks[account] = task

    def is_canary(self, account: str, task: str) -> bool:
        return self._tasks.get(account) == task

    def works(self, account: str, task: str) -> bool:
        """A task works for real; True where that opened its account."""
        if not self.is_canary(account, task):
            return False
        del self._tasks[account]
        self.accounts.opened(account)
        return True

    def forget(self) -> None:
        """This owner follows nothing any more: those that live are adopted when it does again."""
        self._tasks.clear()

    def parked(self, account: str) -> None:
        """The limit is not over; the account is parked again."""
        self._tasks.pop(account, None)

    def ended(self, account: str, task: str) -> None:
        """A task ended and proved nothing: another one tries."""
        if self.is_canary(account, task):
            del self._tasks[account]
            self.accounts.unproven(account)
