"""Back to a checkpoint: a task continues from it, or a new one does."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from segue.core.machines import Trigger
from segue.core.plan import TaskState
from segue.core.serving import AGENT, AgentState
from segue.errors import UserError
from segue.i18n import _
from segue.store.changes import Add, Move, Value, stamp
from segue.work.phases import (
    checkpoint_integrity,
    forks,
    moves,
    progress,
    prompts,
    recovery,
)
from segue.work.phases.create import CreateActs, NewTask
from segue.work.phases.refused import Refused
from segue.work.phases.shapes import Json


@dataclass(slots=True)
class RewindActs(CreateActs):
    async def saved(self, id: str) -> None:
        """Whoever has seen a wait finds its checkpoint."""
        await recovery.save_now(self.supervisor, id)

    def fork(self, id: str, checkpoint: str | None = None) -> Json:
        """A new task that continues from a checkpoint of this one, in a workspace of its own."""
        task, _agent = self._both(id)
        row, content = self._checkpoint(id, checkpoint, "fork")
        records, saving, now = (
            self.supervisor.records,
            self.supervisor.saving,
            self.supervisor.clock.now(),
        )
        given = NewTask(
            task.title, task.description, task.type, task.agent,
            [other for other in task.depends_on if records.task(other)], task.priority,
        )  # fmt: skip
        before = forks.summary(task, content, records.gates(id), row["created_at"])
        new, add = self._new(given, forked_from=id, before=before)
        troubles: list[str] = []
        try:
            folder = saving.fork(id, new, content, troubles.append)
            secrets = saving.environment(new, content)
        except UserError as error:
            raise _refused(error) from error
        begun = {"phase": content["agent"]["phase"], "workspace": str(folder)}
        copied = forks.of(
            content["agent"]["resume_id"], self.supervisor.continuation.profile(task.agent)
        )
        data = {"forked_from": id, "checkpoint": row["id"]}
        self._commit(
            replace(add, row={**add.row, **begun}, data=data),
            Add("agent", new, AgentState.IDLE, {"resume_id": copied}, Trigger.OPEN),
            *secrets,
            Move("task", new, TaskState.DRAFT, TaskState.PENDING, Trigger.SUBMIT,
                 {"submitted_at": stamp(now)}, 1),
            *(moves.notice(new, "trouble", trouble, now) for trouble in troubles),
        )  # fmt: skip
        saving.redactor.renew()
        self.supervisor.kick()
        return self.task(new)

    def rewind(self, id: str, checkpoint: str) -> Json:
        """This task continues from one of its checkpoints; what came after it is put aside.

        The files follow the commit, before the agent starts (`Saving.go_back`): whatever dies in
        between, either nothing has happened, or all of it will.
        """
        task, agent = self._both(id)
        is_there = Trigger.REWIND in AGENT.allowed(agent.state)
        if not is_there or task.state is TaskState.COMPLETED:
            self._not_allowed(task, "rewind")
        _row, content = self._checkpoint(id, checkpoint, "rewind")
        try:
            files = self.supervisor.saving.going_back(id, content)
        except UserError as error:
            raise _refused(error) from error
        phase = content["agent"]["phase"]
        sets: dict[str, Value] = {
            "phase": phase, "reworks": 0, "reminders": 0, "error": None, "failed_at": None,
            "is_cancelled": 0,
        }  # fmt: skip
        back = replace(task, phase=phase, reworks=0, reminders=0)
        profile = self.supervisor.continuation.worker(task)
        before = self.supervisor.records.last_work(id)
        nonce = before.nonce if before else moves.new_nonce()
        shown = prompts.shown_nonce(profile, nonce)
        text = prompts.rewound(back, shown, has_tools=profile.has_tools)
        resume_id = content["agent"]["resume_id"]
        mine: dict[str, Value] = {"resume_id": resume_id, **progress.AFRESH, "kind": None}
        self._commit(
            *self._let_go(task),
            files,
            self._move(task, Trigger.REWIND, sets=sets, data={"checkpoint": checkpoint}),
            moves.move_agent(agent, Trigger.REWIND, sets=mine, data={"checkpoint": checkpoint}),
            *self.supervisor.continuation.again(back, replace(agent, resume_id=resume_id), text),
            moves.timer("save", id, self.supervisor.clock.now() + moves.SAVE_EVERY),
        )
        self.supervisor.reconcile(id)
        return self.task(id)

    def _checkpoint(
        self, id: str, checkpoint: str | None, action: str
    ) -> tuple[sqlite3.Row, Mapping[str, Any]]:
        """The newest one that is whole, or the one that is named."""
        rows = checkpoint_integrity.rows(self.supervisor, id)
        if not rows:
            task, _agent = self._both(id)
            self._not_allowed(task, action, _("it has no checkpoint yet"))
        if checkpoint is not None:
            rows = [row for row in rows if row["id"] == checkpoint]
        found = checkpoint_integrity.newest(self.supervisor, id, rows, is_said=True)
        if found.row is not None and found.content is not None:
            return found.row, found.content
        text = _("the checkpoint {id} does not exist or is damaged").format(id=checkpoint or "")
        raise Refused(404 if not rows else 409, "no_checkpoint", text)


def _refused(error: UserError) -> Refused:
    """A snapshot that is gone, a key that does not fit: in words, and nothing has changed."""
    return Refused(409, error.problem.code, str(error), {"hint": error.problem.hint})
