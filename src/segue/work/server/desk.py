"""The desk: everything that people can ask of the server. The API, the page and the command line
use the same.

Each act is one transaction with all that follows from it; whoever is second gets a refusal that
says what the state is and what is allowed in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from segue.core.machine import IllegalMove
from segue.core.machines import RunState, Trigger
from segue.core.serving import AGENT, AgentState, Asking, Cause, Stage, allowed_actions
from segue.dialects.blocks import is_variable
from segue.errors import UserError
from segue.i18n import _
from segue.store.changes import Add, Change, Move, Note, Put, Remove, Value, stamp
from segue.work.server import moves, outcomes, prompts, shapes, timers
from segue.work.server.reading import Reading
from segue.work.server.refused import Refused
from segue.work.server.rows import AgentRow, GateRow, TaskRow, new_id
from segue.work.server.shapes import Json
from segue.work.server.types import to_text

SLOTS_MAX = 64
VALUE_BYTES_MAX = 100_000  # the kernel takes 128 KiB for one variable


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
class Desk(Reading):
    check_agent: Callable[[str], None]  # UserError: there is none of this name
    seal: Callable[[str], bytes]

    # Tasks

    def create_task(self, given: NewTask) -> Json:
        id, add = self._new(given)
        changes: list[Change] = [add, Add("server_agent", id, AgentState.IDLE, {}, Cause.OPEN)]
        if given.submit:
            self._check_complete(given.title, given.type, given.description)
            now = stamp(self.office.clock.now())
            changes.append(
                Move("server_task", id, Stage.DRAFT, Stage.PENDING, Cause.SUBMIT,
                     {"submitted_at": now}, 1)
            )  # fmt: skip
        self._commit(*changes)
        self.office.kick()
        return self.task(id)

    @staticmethod
    def _check_complete(title: str, type: str, description: str) -> None:
        facts = {"title": title, "type": type, "description": description}
        missing = [name for name, value in facts.items() if not value.strip()]
        if missing:
            text = _("this is missing: {names}").format(names=", ".join(missing))
            raise Refused(422, "incomplete", text, {"missing": missing})

    def _new(self, given: NewTask, **more: Value) -> tuple[str, Add]:
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
            if self.office.records.task(id) is None:
                text = _("there is no task {id} to depend on").format(id=id)
                raise Refused(422, "unknown_task", text, {"field": "dependsOn"})
        assert type_ is not None
        id = new_id("task")
        values: dict[str, Value] = {
            "title": given.title.strip(),
            "description": given.description,
            "type": given.type,
            "agent": name,
            "priority": given.priority,
            "depends_on": moves.as_json(list(dict.fromkeys(given.depends_on))),
            "phases": to_text(type_.phases),
            **more,
        }
        return id, Add("server_task", id, Stage.DRAFT, values, Cause.OPEN)

    def _unknown(self, field: str, value: str, known: Sequence[str]) -> None:
        close = get_close_matches(value, known, 1)
        text = _("there is no {field} `{value}`").format(field=field, value=value)
        raise Refused(
            422,
            f"unknown_{field}",
            text,
            {"field": field, "known": list(known), "suggestion": close[0] if close else None},
        )

    def change_task(self, id: str, changes: Mapping[str, Any]) -> Json:
        """A draft may be changed in everything, a task that waits in its priority."""
        task, _agent = self._both(id)
        allowed = {"priority"} if task.state is not Stage.DRAFT else None
        if task.state not in (Stage.DRAFT, Stage.PENDING) or (
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
        _id, add = self._new(NewTask(**{**known, **changes}))
        self._commit(Note("server_task", id, dict(add.row)))
        self.office.kick()
        return self.task(id)

    def _check_circle(self, id: str, wanted: Sequence[str]) -> None:
        """A task that waits for itself, whatever is in between, would wait for ever."""
        seen, todo = set[str](), list(wanted)
        while todo:
            other = todo.pop()
            if other == id:
                text = _("the task would wait for itself")
                raise Refused(422, "circular", text, {"field": "dependsOn"})
            found = self.office.records.task(other) if other not in seen else None
            seen.add(other)
            todo += found.depends_on if found else ()

    def delete_task(self, id: str) -> None:
        task, agent = self._both(id)
        if "delete" not in allowed_actions(task.state, agent.state):
            self._not_allowed(task, "delete")
        self._commit(Remove("server_task", id, task.state, task.version, Cause.DELETE))
        self.office.saving.delete(task)

    def submit(self, id: str) -> Json:
        task, _agent = self._both(id)
        facts = {"title": task.title, "type": task.type, "description": task.description.strip()}
        if task.state is Stage.DRAFT:
            self._check_complete(task.title, task.type, task.description)
        now = stamp(self.office.clock.now())
        self._act(task, Cause.SUBMIT, facts=facts, sets={"submitted_at": now})
        self.office.kick()
        return self.task(id)

    def cancel(self, id: str, reason: str | None = None) -> Json:
        """Out of the queue; or, once it has begun, ended and failed."""
        task, agent = self._both(id)
        if task.state is Stage.PENDING:
            self._act(task, Cause.CANCEL, sets={"submitted_at": None})
            return self.task(id)
        now = self.office.clock.now()
        why = _("cancelled") + (f": {reason}" if reason else "")
        sets: dict[str, Value] = {"error": why, "failed_at": stamp(now)}
        changes: list[Change] = [self._move(task, Cause.CANCEL, sets=sets, data={"reason": reason})]
        changes.append(moves.move_agent(agent, Cause.CANCEL, sets={"step": None}))
        changes += self._let_go(task)
        changes.append(moves.notice(id, "failed", why, now))
        self._commit(*changes)
        self.office.saving.save(id, "final")
        self.office.reconcile(id)
        return self.task(id)

    def _let_go(self, task: TaskRow) -> list[Change]:
        """Nothing of it waits or runs any more."""
        now = self.office.clock.now()
        changes: list[Change] = []
        for run in self.office.records.open_runs(task.id):
            to, cause = RunState.CUT_OFF, Trigger.CUT_OFF
            changes.append(moves.end_run(run, to, cause))
        for gate in self.office.records.pending_gates(task.id):
            changes += moves.settle_gate(gate, Cause.CLOSE, now)
        return [*changes, moves.no_timer("wake", task.id), moves.no_timer("save", task.id)]

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
        self.office.reconcile(id)
        return self.task(id)

    def archive(self, id: str) -> Json:
        task, agent = self._both(id)
        if "archive" not in allowed_actions(task.state, agent.state):
            self._not_allowed(task, "archive")
        self._commit(Note("server_task", id, {"is_archived": 1}))
        return self.task(id)

    def retry(self, id: str, *, submit: bool = False) -> Json:
        """A new task with the content of one that failed."""
        task, agent = self._both(id)
        if "retry" not in allowed_actions(task.state, agent.state):
            self._not_allowed(task, "retry")
        given = NewTask(
            task.title, task.description, task.type, task.agent, task.depends_on, task.priority
        )
        new, add = self._new(given, retry_of=id)
        self._commit(add, Add("server_agent", new, AgentState.IDLE, {}, Cause.OPEN))
        return self.submit(new) if submit else self.task(new)

    # Back to a checkpoint

    def fork(self, id: str, checkpoint: str | None = None) -> Json:
        """A new task that goes on from a checkpoint of this one, in a workspace of its own."""
        task, _agent = self._both(id)
        content = self._checkpoint(id, checkpoint)
        given = NewTask(
            task.title, task.description, task.type, task.agent, task.depends_on, task.priority
        )
        new, add = self._new(given, forked_from=id)
        folder = self.office.saving.fork(id, new, content)
        now = stamp(self.office.clock.now())
        begun = {"phase": content["agent"]["phase"], "workspace": str(folder)}
        add = replace(add, row={**add.row, **begun, "submitted_at": now})
        self._commit(add, Add("server_agent", new, AgentState.IDLE, {}, Cause.OPEN))
        return self.submit(new)

    def rewind(self, id: str, checkpoint: str) -> Json:
        """This task goes on from one of its checkpoints; what came after it is put aside."""
        task, agent = self._both(id)
        is_there = Cause.REWIND in AGENT.allowed(agent.state)
        if not is_there or task.state is Stage.COMPLETED:
            self._not_allowed(task, "rewind")
        content = self._checkpoint(id, checkpoint)
        self.office.saving.restore(id, content)
        phase = content["agent"]["phase"]
        sets: dict[str, Value] = {
            "phase": phase, "reworks": 0, "reminders": 0, "error": None, "failed_at": None,
        }  # fmt: skip
        back = replace(task, phase=phase, reworks=0, reminders=0)
        profile = self.office.going_on.profile(task.agent)
        before = self.office.records.last_work(id)
        nonce = before.nonce if before else moves.new_nonce()
        shown = outcomes.shown_nonce(profile, nonce)
        text = prompts.rewound(back, shown, has_tools=profile.has_tools)
        resume_id = content["agent"]["resume_id"]
        mine: dict[str, Value] = {"resume_id": resume_id, "step": None, "kind": None}
        self._commit(
            *self._let_go(task),
            self._move(task, Cause.REWIND, sets=sets, data={"checkpoint": checkpoint}),
            moves.move_agent(agent, Cause.REWIND, sets=mine, data={"checkpoint": checkpoint}),
            *self.office.going_on.again(back, replace(agent, resume_id=resume_id), text),
        )
        self.office.reconcile(id)
        return self.task(id)

    def _checkpoint(self, id: str, checkpoint: str | None) -> Mapping[str, Any]:
        """The newest one that is whole, or the one that is named."""
        sql = "SELECT * FROM server_checkpoints WHERE task = ? ORDER BY created_at DESC, rowid DESC"
        rows = self.office.records.store.all(sql, id)
        if not rows:
            task, _agent = self._both(id)
            self._not_allowed(task, "fork")
        if checkpoint is not None:
            rows = [row for row in rows if row["id"] == checkpoint]
        for row in rows:
            content = self.office.saving.read(row["path"], row["sha256"])
            if content is not None:
                return content
        text = _("there is no whole checkpoint {id}").format(id=checkpoint or "")
        raise Refused(404 if not rows else 409, "no_checkpoint", text)

    # What waits for a person

    def approve(self, review: str, comment: str | None = None) -> Json:
        gate, task, agent = self._gate(review, "review")
        now = self.office.clock.now()
        facts = {"phase": task.phase, "phases_total": len(task.phases)}
        settled = moves.settle_gate(gate, Cause.APPROVE, now, answer=comment)
        data = {"review": gate.id}
        if task.phase is not None and task.phase < len(task.phases):
            following = replace(task, phase=task.phase + 1, reworks=0, reminders=0)
            sets: dict[str, Value] = {"phase": following.phase, "reworks": 0, "reminders": 0}
            profile = self.office.going_on.profile(task.agent)
            before = self.office.records.last_work(task.id)
            nonce = outcomes.shown_nonce(profile, before.nonce if before else moves.new_nonce())
            text = prompts.phase(following, nonce, has_tools=profile.has_tools)
            self._commit(
                *settled,
                self._move(task, Cause.APPROVE, sets=sets, data=data),
                moves.move_agent(agent, Cause.APPROVE, facts=facts, data=data),
                *self.office.going_on.tell(following, agent, text, "prompt"),
            )
        else:
            self._complete(task, agent, settled, facts)
        self.office.reconcile(task.id)
        return self.review(review)

    def _complete(
        self, task: TaskRow, agent: AgentRow, settled: list[Change], facts: Mapping[str, object]
    ) -> None:
        """The last phase is approved."""
        now = self.office.clock.now()
        runs = [
            moves.end_run(run, RunState.COMPLETED, Trigger.COMPLETE)
            for run in self.office.records.open_runs(task.id)
            if run.state is RunState.RUNNING
        ]
        self._commit(
            *settled,
            *runs,
            self._move(task, Cause.APPROVE, sets={"completed_at": stamp(now)}),
            moves.move_agent(agent, Cause.APPROVE, facts=facts),
            moves.no_timer("save", task.id),
            moves.notice(task.id, "completed", task.title, now),
        )
        self.office.saving.save(task.id, "final")
        self.office.kick()  # those that depend on it may begin

    def request_changes(
        self, review: str, feedback: str, comments: Sequence[Mapping[str, Any]] = ()
    ) -> Json:
        gate, task, agent = self._gate(review, "review")
        if not feedback.strip():
            text = _("say what is to be changed")
            raise Refused(422, "no_feedback", text, {"field": "feedback"})
        about = moves.as_json({**gate.about, "comments": list(comments)})
        now = self.office.clock.now()
        text = prompts.changes(feedback, comments)
        again = replace(task, reworks=0, reminders=0)
        self._commit(
            *moves.settle_gate(gate, Cause.REQUEST_CHANGES, now, answer=feedback, about=about),
            self._move(
                task,
                Cause.REQUEST_CHANGES,
                facts={"feedback": feedback},
                sets={"reworks": 0, "reminders": 0},
                data={"review": gate.id, "comments": len(comments)},
            ),
            moves.move_agent(agent, Cause.REQUEST_CHANGES, data={"review": gate.id}),
            *self.office.going_on.tell(again, agent, text, "feedback"),
        )
        self.office.reconcile(task.id)
        return self.review(review)

    def answer(self, question: str, answer: str) -> Json:
        gate, task, _agent = self._gate(question, "question")
        chosen = self._checked(gate, answer.strip())
        if not timers.answer(self.office, task, gate, chosen, []):
            self._settled(gate)
        return shapes.question(self._again(gate.id))

    def _checked(self, gate: GateRow, answer: str) -> str:
        """Exact, then by other capitals, then “did you mean”."""
        if not answer:
            raise Refused(422, "bad_answer", _("an answer is needed"), {"field": "answer"})
        if not gate.options or answer in gate.options:
            return answer
        for option in gate.options:
            if option.casefold() == answer.casefold():
                return option
        lowered = {option.casefold(): option for option in gate.options}
        close = get_close_matches(answer.casefold(), lowered, 1)
        suggestion = lowered[close[0]] if close else None
        text = _("`{answer}` is none of the options").format(answer=answer)
        if suggestion:
            text += "; " + _("did you mean `{name}`?").format(name=suggestion)
        facts = {"field": "answer", "options": list(gate.options), "suggestion": suggestion}
        raise Refused(422, "bad_answer", text, facts)

    def provide(self, dependency: str, value: str) -> Json:
        """Kept encrypted, given to the agent in its environment, never shown again."""
        gate, task, agent = self._gate(dependency, "dependency")
        if not value:
            raise Refused(422, "bad_value", _("a value is needed"), {"field": "value"})
        if "\0" in value or len(value.encode("utf-8", "replace")) > VALUE_BYTES_MAX:
            text = _("a value is text of at most {n} bytes, without NUL").format(n=VALUE_BYTES_MAX)
            raise Refused(422, "bad_value", text, {"field": "value"})
        now = self.office.clock.now()
        name = variable(gate.name)
        secret = Put(
            "server_secrets",
            {"task": task.id, "name": name, "value": self.seal(value), "created_at": stamp(now)},
        )
        self._go_on_after(
            gate, task, agent, Cause.PROVIDE, prompts.provided(gate.name, name), [secret]
        )
        return shapes.dependency(self._again(gate.id))

    def reject(self, dependency: str, reason: str) -> Json:
        gate, task, agent = self._gate(dependency, "dependency")
        text = prompts.rejected(gate.name, reason)
        self._go_on_after(gate, task, agent, Cause.REJECT, text, [], reason)
        return shapes.dependency(self._again(gate.id))

    def _go_on_after(
        self,
        gate: GateRow,
        task: TaskRow,
        agent: AgentRow,
        cause: Cause,
        text: str,
        also: list[Change],
        reason: str | None = None,
    ) -> None:
        """What comes by the environment needs a new start, also of an agent that lives."""
        ended: list[Change] = []
        for run in self.office.records.open_runs(task.id):
            if run.purpose == "work":
                ended.append(moves.end_run(run, RunState.CUT_OFF, Trigger.CUT_OFF))
        self._commit(
            *also,
            *ended,
            *moves.settle_gate(gate, cause, self.office.clock.now(), answer=reason),
            moves.move_agent(agent, cause, data={"dependency": gate.id, "name": gate.name}),
            *self.office.going_on.again(task, agent, text),
        )
        self.office.reconcile(task.id)

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

    # Inside

    def _gate(self, id: str, kind: str) -> tuple[GateRow, TaskRow, AgentRow]:
        gate = self.office.records.gate(id)
        if gate is None or gate.kind != kind:
            text = _("there is no {kind} {id}").format(kind=kind, id=id)
            raise Refused(404, f"unknown_{kind}", text)
        if gate.state is not Asking.PENDING:
            self._settled(gate)
        return gate, *self._both(gate.task)

    def _settled(self, gate: GateRow) -> None:
        gate = self._again(gate.id)
        text = _("this was settled before: {state}").format(state=gate.state)
        raise Refused(409, "already_settled", text, {"status": gate.state})

    def _act(self, task: TaskRow, cause: Cause, **more: Any) -> None:
        self._commit(self._move(task, cause, **more))

    def _move(self, task: TaskRow, cause: Cause, **more: Any) -> Change:
        try:
            return moves.move_task(task, cause, **more)
        except IllegalMove:
            self._not_allowed(task, cause)
            raise

    def _commit(self, *changes: Change) -> None:
        if not self.office.commit(*changes):
            text = _("somebody else was faster; look again")
            raise Refused(409, "changed_meanwhile", text)

    def _not_allowed(self, task: TaskRow, action: str) -> None:
        agent = self.office.records.agent(task.id)
        allowed = allowed_actions(task.state, agent.state if agent else AgentState.IDLE)
        text = _("`{action}` is not possible in the state {state}; possible: {allowed}")
        names = ", ".join(allowed) or "–"
        message = text.format(action=action, state=task.state, allowed=names)
        facts = {"status": task.state, "agentStatus": agent.state if agent else None,
                 "allowedActions": list(allowed)}  # fmt: skip
        raise Refused(409, "not_allowed", message, facts)


def variable(name: str) -> str:
    """The environment variable for something that is asked for by this name."""
    if is_variable(name):
        return name
    made = re.sub(r"\W+", "_", name.upper(), flags=re.ASCII).strip("_") or "VALUE"
    return f"PROVIDED_{made}" if made[0].isdigit() or made.startswith("SEGUE") else made
