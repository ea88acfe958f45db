"""What every command needs: one transaction for all that follows from it, and a refusal
that says what the state is and what is allowed in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from segue.core.machine import IllegalMove
from segue.core.machines import RunState, Trigger
from segue.core.serving import AgentState, allowed_actions
from segue.engine import gates
from segue.i18n import _
from segue.store.changes import Add, Change, Move
from segue.store.rows import PhaseTaskRow
from segue.work.phases import blocked_tasks, moves, parking
from segue.work.phases.refused import Refused
from segue.work.phases.shapes import Json
from segue.work.phases.usage_report import UsageReading

# Given the task that an act is about, if it changes one.
Keep = Callable[[str | None], Iterable[Change]]


@dataclass(slots=True)
class ActBase(UsageReading):
    check_agent: Callable[[str], None]  # UserError: there is none of this name
    seal: Callable[[str], bytes]
    keep: Keep | None = None  # what is to be committed with the act under way

    def kept_with(self, act: Callable[[], Json], keep: Keep) -> Json:
        """Do an act; what `keep` gives is committed with it, in one transaction."""
        self.keep = keep
        try:
            return act()
        finally:
            self.keep = None

    def _act(self, task: PhaseTaskRow, cause: Trigger, **more: Any) -> None:
        self._commit(self._move(task, cause, **more))

    def _move(self, task: PhaseTaskRow, cause: Trigger, **more: Any) -> Change:
        try:
            return moves.move_task(task, cause, **more)
        except IllegalMove:
            self._not_allowed(task, cause)
            raise

    def _commit(self, *changes: Change, may_start: bool = True) -> None:
        then = self._kept_too(changes)
        if not self.supervisor.commit(*changes, then=then, may_start=may_start):
            text = _("changed by someone else; reload and retry")
            raise Refused(409, "changed_meanwhile", text)

    def _kept_too(self, changes: Sequence[Change]) -> Callable[[], Iterable[Change]]:
        keep, self.keep = self.keep, None  # the act is its first commit
        if keep is None:
            return tuple
        moved = (change for change in changes if isinstance(change, (Add, Move)))
        task = next((change.id for change in moved if change.entity == "task"), None)
        return lambda: keep(task)

    def _not_allowed(self, task: PhaseTaskRow, action: str, why: str | None = None) -> None:
        agent = self.supervisor.records.agent(task.id)
        state = agent.state if agent else AgentState.IDLE
        allowed = allowed_actions(task.state, state, blocked_tasks.acts(self._missing(task)))
        text = _("`{action}` is not possible in the state {state}; possible: {allowed}")
        names = ", ".join(allowed) or "–"
        message = text.format(action=action, state=task.state, allowed=names)
        message = f"{why}: {message}" if why else message
        facts = {"status": task.state, "agentStatus": agent.state if agent else None,
                 "allowedActions": list(allowed)}  # fmt: skip
        raise Refused(409, "not_allowed", message, facts)

    def _let_go(self, task: PhaseTaskRow) -> list[Change]:
        """Nothing of it waits or runs any more."""
        now = self.supervisor.clock.now()
        changes: list[Change] = []
        for run in self.supervisor.records.open_runs(task.id):
            to, cause = RunState.CUT_OFF, Trigger.CUT_OFF
            changes.append(moves.end_run(run, to, cause))
        for gate in self.supervisor.records.gates_of(task.id):
            changes += gates.withdraw(gate, now)
        changes += parking.ended_by_hand(self.supervisor, task.id)
        return [*changes, moves.no_timer("save", task.id)]
