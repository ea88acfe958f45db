"""Tasks are made, and changed before they begin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from segue.core.machines import Trigger
from segue.core.phases import to_text
from segue.core.plan import TaskState
from segue.core.serving import AgentState
from segue.errors import UserError
from segue.i18n import _
from segue.store.changes import Add, Change, Move, Note, Value, stamp
from segue.store.rows import SERVER, PhaseTaskRow, new_id
from segue.work.phases import blocked_tasks, moves
from segue.work.phases.act_base import ActBase
from segue.work.phases.refused import Refused
from segue.work.phases.shapes import Json


@dataclass(frozen=True, slots=True)
class NewTask:
    title: str
    description: str = ""
    type: str = "custom"
    agent: str = ""
    depends_on: Sequence[str] = ()
    priority: int = 0
    submit: bool = False


@dataclass(slots=True)
class CreateActs(ActBase):
    def create_task(self, given: NewTask) -> Json:
        id, add = self._new(given)
        changes: list[Change] = [add, Add("agent", id, AgentState.IDLE, {}, Trigger.OPEN)]
        if given.submit:
            self._check_complete(given.title, given.type, given.description)
            now = self.supervisor.clock.now()
            changes.append(
                Move("task", id, TaskState.DRAFT, TaskState.PENDING, Trigger.SUBMIT,
                     {"submitted_at": stamp(now)}, 1)
            )  # fmt: skip
            changes += blocked_tasks.submitted(self.supervisor.records, id, given.depends_on, now)
        self._commit(*changes, may_start=given.submit)  # nothing begins because of a draft
        if given.submit:
            self.supervisor.kick()
        return self.task(id)

    def submit(self, id: str) -> Json:
        task, _agent = self._both(id)
        self._commit(*self._submitted(task))
        self.supervisor.kick()
        return self.task(id)

    def _submitted(self, task: PhaseTaskRow) -> list[Change]:
        facts = {"title": task.title, "type": task.type, "description": task.description.strip()}
        if task.state is TaskState.DRAFT:
            self._check_complete(task.title, task.type, task.description)
        now = self.supervisor.clock.now()
        move = self._move(task, Trigger.SUBMIT, facts=facts, sets={"submitted_at": stamp(now)})
        return [
            move,
            *blocked_tasks.submitted(self.supervisor.records, task.id, task.depends_on, now),
        ]

    @staticmethod
    def _check_complete(title: str, type: str, description: str) -> None:
        facts = {"title": title, "type": type, "description": description}
        missing = [name for name, value in facts.items() if not value.strip()]
        if missing:
            text = _("missing: {names}").format(names=", ".join(missing))
            raise Refused(422, "incomplete", text, {"missing": missing})

    def _new(self, given: NewTask, **more: Value) -> tuple[str, Add]:
        id = new_id("task")
        row = {"work": SERVER, "key": id, **self._values(given), **more}
        return id, Add("task", id, TaskState.DRAFT, row, Trigger.OPEN)

    def _values(self, given: NewTask) -> dict[str, Value]:
        """What a person said of a task, checked, as its columns."""
        type_ = self.types.get(given.type)
        if type_ is None:
            self._unknown("type", given.type, self.types.names())
        name = given.agent or self.default_agent
        try:
            self.check_agent(name)
        except UserError as error:
            facts = {"field": "agent", "hint": error.problem.hint}
            raise Refused(422, "unknown_agent", str(error), facts) from error
        for id in given.depends_on:
            if self.supervisor.records.task(id) is None:
                text = _("the task cannot depend on {id}, which does not exist").format(id=id)
                raise Refused(422, "unknown_task", text, {"field": "dependsOn"})
        assert type_ is not None
        return {
            "title": given.title.strip(),
            "description": given.description,
            "type": given.type,
            "agent": name,
            "priority": given.priority,
            "depends_on": moves.as_json(list(dict.fromkeys(given.depends_on))),
            "phases": to_text(type_.phases),
        }

    def _unknown(self, field: str, value: str, known: Sequence[str]) -> None:
        close = get_close_matches(value, known, 1)
        text = _("unknown {field} `{value}`").format(field=field, value=value)
        raise Refused(
            422,
            f"unknown_{field}",
            text,
            {"field": field, "known": list(known), "suggestion": close[0] if close else None},
        )

    def change_task(self, id: str, changes: Mapping[str, Any]) -> Json:
        """A draft may be changed in everything, a task that waits in its priority."""
        task, _agent = self._both(id)
        allowed = {"priority"} if task.state is not TaskState.DRAFT else None
        if task.state not in (TaskState.DRAFT, TaskState.PENDING) or (
            allowed is not None and changes.keys() - allowed
        ):
            self._not_allowed(task, "change")
        known = {
            "title": task.title,
            "description": task.description,
            "type": task.type,
            "agent": task.agent,
            "depends_on": task.depends_on,
            "priority": task.priority,
        }
        self._check_circle(id, changes.get("depends_on", ()))
        self._commit(Note("task", id, self._values(NewTask(**{**known, **changes}))))
        self.supervisor.kick()
        return self.task(id)

    def _check_circle(self, id: str, wanted: Sequence[str]) -> None:
        """A task that waits for itself, whatever is in between, would wait for ever."""
        seen, todo = set[str](), list(wanted)
        while todo:
            other = todo.pop()
            if other == id:
                text = _("the task would wait for itself")
                raise Refused(422, "circular", text, {"field": "dependsOn"})
            if other not in seen:
                tries = self.supervisor.records.tries(other)
                todo += [next for found in tries for next in (found.id, *found.depends_on)]
            seen.add(other)
