"""A person parks a task of the server until a time, or wakes one that is parked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from segue.core.limits import MANUAL
from segue.core.machines import RunState, Trigger
from segue.core.plan import TaskState
from segue.core.serving import AgentState
from segue.engine.limits import Park
from segue.engine.parking import add_park
from segue.i18n import _
from segue.store.changes import Change, Note, Value, stamp
from segue.store.rows import SERVER, AgentRow, PhaseTaskRow
from segue.work.phases import moves
from segue.work.phases.act_base import ActBase
from segue.work.phases.shapes import Json


@dataclass(slots=True)
class ParkingActs(ActBase):
    def park(self, id: str, until: datetime) -> Json:
        """Its agent ends and its conversation is kept; one that is parked gets another time."""
        task, agent = self._both(id)
        is_limited = agent.state is AgentState.PAUSED and not agent.is_by_person
        is_at_work = agent.state is AgentState.RUNNING
        if task.state is not TaskState.IN_PROGRESS or not (is_limited or is_at_work):
            self._not_allowed(task, "park")
        park = self.supervisor.records.park_of(id)
        if is_limited and park is not None:
            self._commit(
                Note("agent", id, {"resets_at": stamp(until)}),
                Note("park", park.id, {"wakes_at": stamp(until)}),
            )
            self.supervisor.kick()
            return self.task(id)
        self._commit(*self._parked(task, agent, until))
        self.supervisor.saving.save(id, "limit")
        self.supervisor.reconcile(id)
        return self.task(id)

    def _parked(self, task: PhaseTaskRow, agent: AgentRow, until: datetime) -> list[Change]:
        runs = self.supervisor.records.open_runs(task.id)
        if any(run.role != "work" or run.state is not RunState.RUNNING for run in runs):
            why = _(
                "its agent is not running now: Segue is checking its work, or the task "
                "waits for a slot"
            )
            self._not_allowed(task, "park", why)
        sets: dict[str, Value] = {"kind": MANUAL, "resets_at": stamp(until), "is_by_person": 0}
        data = {"kind": MANUAL, "wakes_at": stamp(until)}
        changes: list[Change] = [moves.move_agent(agent, Trigger.LIMIT, sets=sets, data=data)]
        for run in runs:
            changes.append(moves.end_run(run, RunState.PARKED, Trigger.PARK))
            changes.append(add_park(SERVER, run, Park(MANUAL, until, until))[1])
        return changes
