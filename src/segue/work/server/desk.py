"""The desk: everything that people can ask of the server. The API, the page and the command line
use the same.

Each act is one transaction with all that follows from it; whoever is second gets a refusal that
says what the state is and what is allowed in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from segue.core.serving import AGENT, Cause, Stage, allowed_actions
from segue.i18n import _
from segue.store.changes import Change, Note, Put, Remove, Value, stamp
from segue.work.server import moves, stuck
from segue.work.server.gate_acts import GateActs
from segue.work.server.going_back import GoingBack
from segue.work.server.making import NewTask
from segue.work.server.refused import Refused
from segue.work.server.retrying import Retrying
from segue.work.server.shapes import Json

__all__ = ["Desk", "NewTask"]

SLOTS_MAX = 64


@dataclass(slots=True)
class Desk(GateActs, GoingBack, Retrying):
    def delete_task(self, id: str) -> None:
        task, agent = self._both(id)
        if "delete" not in allowed_actions(task.state, agent.state):
            self._not_allowed(task, "delete")
        self._commit(
            Remove("server_task", id, task.state, task.version, Cause.DELETE),
            *stuck.deleted(self.office.records, id, self.office.clock.now()),
        )
        self.office.saving.delete(task)

    def cancel(self, id: str, reason: str | None = None) -> Json:
        """Out of the queue; or, once it has begun, ended and failed."""
        task, agent = self._both(id)
        if task.state is Stage.PENDING:
            self._act(task, Cause.CANCEL, sets={"submitted_at": None})
            return self.task(id)
        now = self.office.clock.now()
        why = _("cancelled") + (f": {reason}" if reason else "")
        sets: dict[str, Value] = {"error": why, "failed_at": stamp(now), "is_cancelled": 1}
        changes: list[Change] = [self._move(task, Cause.CANCEL, sets=sets, data={"reason": reason})]
        changes.append(moves.move_agent(agent, Cause.CANCEL, sets={"step": None}))
        changes += self._let_go(task)
        changes.append(moves.notice(id, "failed", why, now))
        changes += stuck.failed(self.office.records, id, now)
        self._commit(*changes)
        self.office.saving.save(id, "final")
        self.office.reconcile(id)
        return self.task(id)

    def pause(self, id: str) -> Json:
        task, agent = self._both(id)
        if Cause.PAUSE not in AGENT.allowed(agent.state) or task.state is not Stage.IN_PROGRESS:
            self._not_allowed(task, "pause")
        self._commit(moves.move_agent(agent, Cause.PAUSE, sets={"is_by_person": 1}))
        self.office.saving.save(id, "pause")
        self.office.reconcile(id)
        return self.task(id)

    def resume(self, id: str) -> Json:
        task, agent = self._both(id)
        if Cause.RESUME not in AGENT.allowed(agent.state) or task.state is not Stage.IN_PROGRESS:
            self._not_allowed(task, "resume")
        sets: dict[str, Value] = {"is_by_person": 0, "kind": None, "resets_at": None}
        changes: list[Change] = [moves.move_agent(agent, Cause.RESUME, sets=sets)]
        if not self.office.records.open_runs(id):
            changes += self.office.going_on.again(task, agent, self.office.resume_text)
        self._commit(*changes, moves.no_timer("wake", id))
        if agent.kind is not None:  # a limit: once it is seen at work, that is over
            self.office.resumed.add(id)
        self.office.reconcile(id)
        return self.task(id)

    def archive(self, id: str) -> Json:
        task, agent = self._both(id)
        if "archive" not in allowed_actions(task.state, agent.state):
            self._not_allowed(task, "archive")
        self._commit(Note("server_task", id, {"is_archived": 1}))
        return self.task(id)

    # Settings

    def change_settings(self, changes: Mapping[str, Any]) -> Json:
        """Only how many agents work at once can be changed while it runs."""
        slots = changes.get("slots")
        if changes.keys() - {"slots"} or type(slots) is not int or not 1 <= slots <= SLOTS_MAX:
            text = _("`slots` can be changed, to 1-{most}").format(most=SLOTS_MAX)
            raise Refused(422, "bad_value", text, {"field": "slots"})
        self._commit(Put("server_settings", {"key": "slots", "value": str(slots)}))
        self.office.kick()
        return self.settings()
