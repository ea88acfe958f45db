"""Commands: everything that people can ask of the server. The API, the page and the command line
call the same methods.

Each act is one transaction with all that follows from it; the second of two gets a refusal that
says what the state is and what is allowed in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from segue.core.machines import Trigger
from segue.core.plan import TaskState
from segue.core.serving import AGENT, AgentState, allowed_actions
from segue.engine.limits import CONTEXT
from segue.i18n import _
from segue.store.changes import Change, Note, Put, Remove, Value, stamp
from segue.work.phases import blocked_tasks, moves, parking
from segue.work.phases.create import NewTask
from segue.work.phases.gate_acts import GateActs
from segue.work.phases.messages import MessageActs
from segue.work.phases.parking_acts import ParkingActs
from segue.work.phases.refused import Refused
from segue.work.phases.retrying import RetryActs
from segue.work.phases.rewind import RewindActs
from segue.work.phases.shapes import Json

__all__ = ["Commands", "NewTask"]

SLOTS_MAX = 64


@dataclass(slots=True)
class Commands(GateActs, RewindActs, ParkingActs, RetryActs, MessageActs):
    def delete_task(self, id: str) -> None:
        task, agent = self._both(id)
        if "delete" not in allowed_actions(task.state, agent.state):
            self._not_allowed(task, "delete")
        self._commit(
            Remove("task", id, task.state, task.version, Trigger.DELETE),
            *blocked_tasks.deleted(self.supervisor.records, id, self.supervisor.clock.now()),
        )
        self.supervisor.saving.delete(task)

    def cancel(self, id: str, reason: str | None = None) -> Json:
        """Out of the queue; or, once it has begun, ended and failed."""
        task, agent = self._both(id)
        if task.state is TaskState.PENDING:
            self._act(task, Trigger.CANCEL, sets={"submitted_at": None})
            return self.task(id)
        now = self.supervisor.clock.now()
        why = _("cancelled") + (f": {reason}" if reason else "")
        sets: dict[str, Value] = {"error": why, "failed_at": stamp(now), "is_cancelled": 1}
        changes: list[Change] = [
            self._move(task, Trigger.CANCEL, sets=sets, data={"reason": reason})
        ]
        changes.append(moves.move_agent(agent, Trigger.CANCEL, sets={"step": None}))
        changes += self._let_go(task)
        changes.append(moves.notice(id, "failed", why, now))
        changes += blocked_tasks.failed(self.supervisor.records, id, now)
        self._commit(*changes)
        self.supervisor.saving.save(id, "final")
        self.supervisor.reconcile(id)
        return self.task(id)

    def pause(self, id: str) -> Json:
        task, agent = self._both(id)
        if (
            Trigger.PAUSE not in AGENT.allowed(agent.state)
            or task.state is not TaskState.IN_PROGRESS
        ):
            self._not_allowed(task, "pause")
        self._commit(moves.move_agent(agent, Trigger.PAUSE, sets={"is_by_person": 1}))
        self.supervisor.saving.save(id, "pause")
        self.supervisor.reconcile(id)
        return self.task(id)

    def resume(self, id: str) -> Json:
        task, agent = self._both(id)
        if (
            Trigger.RESUME not in AGENT.allowed(agent.state)
            or task.state is not TaskState.IN_PROGRESS
        ):
            self._not_allowed(task, "resume")
        sets: dict[str, Value] = {"is_by_person": 0, "kind": None, "resets_at": None}
        changes: list[Change] = [moves.move_agent(agent, Trigger.RESUME, sets=sets)]
        park = self.supervisor.records.park_of(id)
        if park is not None and park.kind == CONTEXT:
            changes += parking.resumed(self.supervisor, task, agent, park)
        elif not self.supervisor.records.open_runs(id):
            changes += self.supervisor.continuation.on(task, agent, self.supervisor.resume_text)
        if park is not None:  # the person takes the limit to be over: this task tries it first
            changes += [
                *parking.ended_by_hand(self.supervisor, id),
                *self.supervisor.accounts.woken(park.account),
            ]
        self._commit(*changes)
        self.supervisor.reconcile(id)
        return self.task(id)

    def wake(self, id: str) -> Json:
        """It resumes now, whatever it waits for by the clock."""
        _task, agent = self._both(id)
        if agent.state is not AgentState.PAUSED:
            raise Refused(409, "not_parked", _("{task} is not parked").format(task=id))
        return self.resume(id)

    def archive(self, id: str) -> Json:
        task, agent = self._both(id)
        if "archive" not in allowed_actions(task.state, agent.state):
            self._not_allowed(task, "archive")
        self._commit(Note("task", id, {"is_archived": 1}))
        return self.task(id)

    # Settings

    def change_settings(self, changes: Mapping[str, Any]) -> Json:
        """Only how many agents work at once can be changed while it runs."""
        slots = changes.get("slots")
        if changes.keys() - {"slots"} or type(slots) is not int or not 1 <= slots <= SLOTS_MAX:
            text = _("you can change only `slots`, to a number from 1 to {most}").format(
                most=SLOTS_MAX
            )
            raise Refused(422, "bad_value", text, {"field": "slots"})
        self._commit(Put("settings", {"key": "slots", "value": str(slots)}))
        self.supervisor.kick()
        return self.settings()
