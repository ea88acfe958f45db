"""What failed is tried again, by a new task; and what those that wait for it can do instead."""

from __future__ import annotations

from dataclasses import dataclass

from segue.core.machines import Trigger
from segue.core.plan import TaskState
from segue.core.serving import STUCK, AgentState, allowed_actions
from segue.i18n import _
from segue.store.changes import Add, Change, Move, stamp
from segue.store.rows import PhaseTaskRow
from segue.work.phases import blocked_tasks, moves
from segue.work.phases.create import CreateActs, NewTask
from segue.work.phases.shapes import Json


@dataclass(slots=True)
class RetryActs(CreateActs):
    def retry(self, id: str, *, submit: bool = False) -> Json:
        """A new task with the content of one that failed; whatever depends on the old one waits
        for the new one. For a blocked task: retries what it waits for."""
        task, agent = self._both(id)
        if task.state is TaskState.PENDING:
            return self._retry_missing(task)
        if "retry" not in allowed_actions(task.state, agent.state):
            self._not_allowed(task, "retry")
        new, changes = self._tried_again(task, is_submitted=submit)
        self._commit(*changes)
        self.supervisor.kick()
        return self.task(new)

    def go_without(self, id: str) -> Json:
        """A blocked task stops waiting for what blocks it."""
        task, _agent = self._both(id)
        gone = {one.id for one in self._in_vain(task, Trigger.GO_WITHOUT)}
        left = [other for other in task.depends_on if other not in gone]
        self._act(
            task,
            Trigger.GO_WITHOUT,
            facts={"is_stuck": True},
            sets={"depends_on": moves.as_json(left)},
            data={"without": sorted(gone)},
        )
        self.supervisor.kick()
        return self.task(id)

    def fail(self, id: str) -> Json:
        """A blocked task fails as well, without having started."""
        task, _agent = self._both(id)
        found = self._in_vain(task, Trigger.FAIL)
        names = ", ".join(one.task.id if one.task else one.id for one in found)
        why = _("a person marked it as failed because it was blocked by {ids}").format(ids=names)
        now = self.supervisor.clock.now()
        self._commit(
            self._move(
                task,
                Trigger.FAIL,
                facts={"is_stuck": True},
                sets={"error": why, "failed_at": stamp(now)},
                data={"error": why},
            ),
            moves.notice(id, "failed", why, now),
            *blocked_tasks.failed(self.supervisor.records, id, now),
        )
        return self.task(id)

    # Inside

    def _in_vain(self, task: PhaseTaskRow, action: str) -> list[blocked_tasks.Missing]:
        found = self._missing(task)
        if not found:
            self._not_allowed(task, action)
        return found

    def _retry_missing(self, task: PhaseTaskRow) -> Json:
        """Retries all that blocks it; returns the first of those tasks."""
        found = self._in_vain(task, STUCK[0])
        if any(one.task is None for one in found):
            self._not_allowed(task, STUCK[0])
        made: dict[str, list[Change]] = {}
        for one in {one.task.id: one.task for one in found if one.task}.values():
            if one.state is TaskState.DRAFT:
                made[one.id] = self._submitted(one)
            else:
                new, changes = self._tried_again(one, is_submitted=True)
                made[new] = changes
        self._commit(*(change for changes in made.values() for change in changes))
        self.supervisor.kick()
        return self.task(next(iter(made)))

    def _tried_again(self, task: PhaseTaskRow, *, is_submitted: bool) -> tuple[str, list[Change]]:
        records, now = self.supervisor.records, self.supervisor.clock.now()
        standing = {id: records.task(id) or records.stands_for(id) for id in task.depends_on}
        depends_on = tuple(found.id for found in standing.values() if found is not None)
        given = NewTask(
            task.title, task.description, task.type, task.agent, depends_on, task.priority
        )
        new, add = self._new(given, retry_of=task.id)
        changes: list[Change] = [add, Add("agent", new, AgentState.IDLE, {}, Trigger.OPEN)]
        if is_submitted:
            self._check_complete(task.title, task.type, task.description)
            sets = {"submitted_at": stamp(now)}
            changes.append(
                Move("task", new, TaskState.DRAFT, TaskState.PENDING, Trigger.SUBMIT, sets, 1)
            )
            changes += blocked_tasks.submitted(records, new, depends_on, now)
        return new, changes
