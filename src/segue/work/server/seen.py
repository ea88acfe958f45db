"""An agent is seen at work: its account's limit is over, and the others of it may follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.core.limits import holds_account
from segue.core.serving import AgentState
from segue.store.changes import Change
from segue.work.server import moves
from segue.work.server.attempt import Attempt
from segue.work.server.timers import SPACING

if TYPE_CHECKING:
    from segue.work.server.supervisor import Supervisor

GOT_ON = frozenset(
    {
        AgentState.COMPLETED,
        AgentState.WAITING_DEPENDENCY,
        AgentState.WAITING_QUESTION,
        AgentState.WAITING_REVIEW,
    }
)
PARKED = (
    "SELECT a.id, a.kind FROM server_timers t JOIN server_agents a ON a.id = t.task"
    " WHERE t.kind = 'wake' AND a.account = ? AND a.state = ? ORDER BY t.at"
)


def at_work(office: Supervisor, attempt: Attempt, words: str | None = None) -> None:
    """The first words of a canary: the others of its account may follow. One that has run into
    the limit again has parked the account before. The same goes for a task that a person resumed
    before its limit was over, unless its words are that it is not."""
    account = attempt.run.account
    if account in office.probing:
        office.probing.discard(account)
        office.accounts.open(account)
    if attempt.run.task in office.resumed and not _is_refusal(office, attempt, words):
        office.resumed.discard(attempt.run.task)
        _reopen(office, account)


def ended(office: Supervisor, attempt: Attempt) -> None:
    """The end of a canary says as much as its first word; that of a resumed task, if it got on."""
    agent = office.records.agent(attempt.run.task)
    if agent is not None and agent.state is AgentState.PAUSED:
        office.resumed.discard(attempt.run.task)
    if agent is not None and agent.state in GOT_ON:
        at_work(office, attempt)
    elif attempt.run.account in office.probing:
        office.probing.discard(attempt.run.account)
        office.accounts.open(attempt.run.account)


def _is_refusal(office: Supervisor, attempt: Attempt, words: str | None) -> bool:
    if attempt.limit is not None:
        return True
    if words is None:
        return False
    from segue.dialects.limits import detect  # noqa: PLC0415 - many patterns, needed by few runs

    tool, now = attempt.profile.name, office.clock.now()
    return not words.strip() or detect(words, tool=tool, now=now, tz=office.tz).paused


def _reopen(office: Supervisor, account: str) -> None:
    """Those that wait for the same limit go on, one after the other."""
    office.accounts.reopen(account)
    now = office.clock.now()
    rows = office.records.store.all(PARKED, account, AgentState.PAUSED)
    waiting = [row["id"] for row in rows if row["kind"] and holds_account(row["kind"])]
    wakes: list[Change] = [
        moves.timer("wake", id, now + n * SPACING) for n, id in enumerate(waiting, 1)
    ]
    if wakes:
        office.commit(*wakes)
    office.kick()
