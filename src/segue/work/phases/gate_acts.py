"""What waits for a person gets it: reviews, questions, dependencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from segue.core.machines import GateState, RunState, Trigger
from segue.engine import acts, bell, gates
from segue.engine.acts import NotAnOptionError, Verb, Wanted
from segue.errors import UserError
from segue.i18n import _
from segue.store.actors import current
from segue.store.changes import Change, Put, Value, stamp
from segue.store.rows import SERVER, AgentRow, GateRow, PhaseTaskRow
from segue.work import background
from segue.work.phases import asking, moves, parking, progress, prompts, shapes, timers
from segue.work.phases.act_base import ActBase
from segue.work.phases.refused import Refused
from segue.work.phases.shapes import Json
from segue.work.phases.variables import variable

VALUE_BYTES_MAX = 100_000  # the kernel takes 128 KiB for one variable


@dataclass(slots=True)
class GateActs(ActBase):
    def approve(self, review: str, comment: str | None = None) -> Json:
        gate, task, agent = self._gate(review, "review")
        now = self.supervisor.clock.now()
        facts = {"phase": task.phase, "phases_total": len(task.phases)}
        kept = self._kept(gate, comment) if comment else comment
        settled = gates.settle(gate, Trigger.APPROVE, now, kept)
        data = {"review": gate.id}
        if task.phase is not None and task.phase < len(task.phases):
            following = replace(task, phase=task.phase + 1, reworks=0, reminders=0)
            sets: dict[str, Value] = {"phase": following.phase, "reworks": 0, "reminders": 0}
            profile = self.supervisor.continuation.worker(task)
            before = self.supervisor.records.last_work(task.id)
            nonce = prompts.shown_nonce(profile, before.nonce if before else moves.new_nonce())
            text = prompts.phase(following, nonce, has_tools=profile.has_tools)
            self._commit(
                *settled,
                self._move(task, Trigger.APPROVE, sets=sets, data=data),
                moves.move_agent(
                    agent, Trigger.APPROVE, facts=facts, sets=progress.AFRESH, data=data
                ),
                *(
                    parking.handed_back(self.supervisor, following, agent)
                    or self.supervisor.continuation.prompt_agent(following, agent, text, "prompt")
                ),
            )
        else:
            self._complete(task, agent, settled, facts)
        self.supervisor.reconcile(task.id)
        return self.review(review)

    def _complete(
        self,
        task: PhaseTaskRow,
        agent: AgentRow,
        settled: list[Change],
        facts: Mapping[str, object],
    ) -> None:
        """The last phase is approved."""
        now = self.supervisor.clock.now()
        runs = [
            moves.end_run(run, RunState.COMPLETED, Trigger.COMPLETE)
            for run in self.supervisor.records.open_runs(task.id)
            if run.state is RunState.RUNNING
        ]
        self._commit(
            *settled,
            *runs,
            self._move(task, Trigger.APPROVE, sets={"completed_at": stamp(now)}),
            moves.move_agent(agent, Trigger.APPROVE, facts=facts),
            moves.no_timer("save", task.id),
            moves.notice(task.id, "completed", task.title, now),
        )
        self.supervisor.saving.save(task.id, "final")
        self.supervisor.kick()  # those that depend on it may begin

    def request_changes(
        self, review: str, feedback: str, comments: Sequence[Mapping[str, Any]] = ()
    ) -> Json:
        gate, task, agent = self._gate(review, "review")
        if not feedback.strip():
            text = _("describe what to change")
            raise Refused(422, "no_feedback", text, {"field": "feedback"})
        kept = [{**comment, "text": self._kept(gate, comment["text"])} for comment in comments]
        about = {**gate.about, "comments": kept}
        now = self.supervisor.clock.now()
        text = self.supervisor.saving.redactor.hidden(task.id, prompts.changes(feedback, comments))
        said = self._kept(gate, feedback)
        again = replace(task, reworks=0, reminders=0)
        self._commit(
            *gates.settle(gate, Trigger.REQUEST_CHANGES, now, said, about),
            self._move(
                task,
                Trigger.REQUEST_CHANGES,
                facts={"feedback": feedback},
                sets={"reworks": 0, "reminders": 0},
                data={"review": gate.id, "comments": len(comments)},
            ),
            moves.move_agent(agent, Trigger.REQUEST_CHANGES, data={"review": gate.id}),
            *self.supervisor.continuation.prompt_agent(again, agent, text, "feedback"),
        )
        self.supervisor.reconcile(task.id)
        return self.review(review)

    def answer(self, question: str, answer: str, *, own_words: bool = False) -> Json:
        """One of the options; other text only as the person's own words."""
        gate = self._pending(question, "question")
        chosen = self._checked(gate, answer.strip(), own_words)
        if gate.work != SERVER:
            return self._answer_elsewhere(gate, chosen)
        if gate.task is None:
            return self._answer_for_all(gate, chosen)
        task, _agent = self._both(gate.task)
        if not timers.answer(self.supervisor, task, gate, chosen, [], self._kept_too(())):
            self._settled(gate)
        return self.question(gate.id)

    def _answer_elsewhere(self, gate: GateRow, answer: str) -> Json:
        """A question of a work that the server does not own: an act, which its owner takes in."""
        supervisor, keep = self.supervisor, self._kept_too(())
        store, project = supervisor.records.store, supervisor.jobs.project
        is_own = answer not in gate.options
        data = {"answer": answer, "own_words": "yes" if is_own else ""}
        wanted = Wanted(Verb.ANSWER, gate.work, current(), gate=gate.id, data=data)
        try:
            supervisor.commit(then=lambda: chain(acts.adding(store, wanted)[1], keep()))
        except UserError as error:
            if error.problem.code != acts.ALREADY_SETTLED:
                raise
            raise Refused(409, error.problem.code, error.problem.message) from error
        bell.ring(project.bell)
        background.wake(project, gate.work, supervisor.jobs.environ)
        # Nobody can be first any more.
        return shapes.question(replace(gate, state=GateState.ANSWERED, answer=answer))

    def _answer_for_all(self, gate: GateRow, answer: str) -> Json:
        """The question about the budget, which is about no task in particular."""
        supervisor = self.supervisor
        settled = gates.settle(gate, Trigger.ANSWER, supervisor.clock.now(), answer)
        if not supervisor.commit(*settled, then=self._kept_too(())):
            self._settled(gate)
        supervisor.budget.answered(answer)
        supervisor.kick()
        return self.question(gate.id)

    def _checked(self, gate: GateRow, answer: str, is_own: bool) -> str:
        """Exact, then by other capitals, then own words, then “did you mean”."""
        exact = [option for option in gate.options if option == answer]
        close = [option for option in gate.options if option.casefold() == answer.casefold()]
        if found := exact or close:
            return found[0]
        redactor = self.supervisor.saving.redactor
        shown = {redactor.text(gate.task or "", option): option for option in gate.options}
        try:
            chosen = acts.chosen(answer, list(shown), own_words=gates.takes_own_words(gate, is_own))
        except UserError as why:
            raise _bad_answer(why, list(shown)) from why
        return shown.get(chosen, chosen)

    def provide(self, dependency: str, value: str) -> Json:
        """Kept encrypted, given to the agent in its environment, never shown again."""
        gate, task, agent = self._gate(dependency, "dependency")
        if not value:
            raise Refused(422, "bad_value", _("enter a value"), {"field": "value"})
        if "\0" in value or len(value.encode("utf-8", "replace")) > VALUE_BYTES_MAX:
            text = _("the value must be text of at most {n} bytes, without NUL").format(
                n=VALUE_BYTES_MAX
            )
            raise Refused(422, "bad_value", text, {"field": "value"})
        if gate.category == "file":
            value = self._path(task, value)
        now = self.supervisor.clock.now()
        name = variable(gate.name)
        secret = Put(
            "secrets",
            {"task": task.id, "name": name, "value": self.seal(value), "created_at": stamp(now)},
        )
        self._go_on_after(
            gate, task, agent, Trigger.PROVIDE, prompts.provided(gate.name, name), [secret]
        )
        self.supervisor.saving.redactor.renew()
        return self.dependency(gate.id)

    def _path(self, task: PhaseTaskRow, value: str) -> str:
        """A file that is there: by its whole path, from the task's folder or from the project's,
        which the agent does not work in. What was sent is not repeated: it may be a secret."""
        project = self.supervisor.jobs.project.root
        try:
            given = Path(value).expanduser()
            if (Path(task.workspace or "") / given).exists():
                return str(given)
            if (project / given).exists():
                return str(project / given)
        except (OSError, ValueError, RuntimeError):
            pass  # no name that a file can have, a home that is not there
        text = _("no such file; give a path relative to {folder}, or an absolute one")
        raise Refused(422, "no_file", text.format(folder=project), {"field": "value"})

    def reject(self, dependency: str, reason: str = "") -> Json:
        """The agent continues without it."""
        gate, task, agent = self._gate(dependency, "dependency")
        text = prompts.rejected(gate.name, reason.strip())
        text = self.supervisor.saving.redactor.hidden(task.id, text)
        kept = self._kept(gate, reason)
        self._go_on_after(gate, task, agent, Trigger.REJECT, text, [], kept)
        return self.dependency(gate.id)

    def _go_on_after(
        self,
        gate: GateRow,
        task: PhaseTaskRow,
        agent: AgentRow,
        cause: Trigger,
        text: str,
        also: list[Change],
        reason: str | None = None,
    ) -> None:
        """What comes by the environment needs a new start, also of an agent that lives."""
        ended = [
            moves.end_run(run, RunState.CUT_OFF, Trigger.CUT_OFF)
            for run in self.supervisor.records.open_runs(task.id)
            if run.role == "work"
        ]
        told, besides = {"type": "prompt", "text": text}, {run.id for run in ended}
        self._commit(
            *also,
            *ended,
            *gates.settle(gate, cause, self.supervisor.clock.now(), reason),
            *asking.after(self.supervisor, task, agent, gate, cause, told, besides),
        )
        asking.save(self.supervisor, gate)
        self.supervisor.reconcile(task.id)

    # Inside

    def _kept(self, gate: GateRow, text: str) -> str:
        """What a person said, as it is stored: without what was provided in confidence."""
        return self.supervisor.saving.redactor.text(gate.task_id, text)

    def _gate(self, id: str, kind: str) -> tuple[GateRow, PhaseTaskRow, AgentRow]:
        gate = self._pending(id, kind)
        return gate, *self._both(gate.task_id)

    def _pending(self, id: str, kind: str) -> GateRow:
        gate = self.supervisor.records.gate(id)
        if gate is None or gate.kind != kind or (gate.work != SERVER and kind != "question"):
            text = _("no such {kind}: {id}").format(kind=kind, id=id)
            raise Refused(404, f"unknown_{kind}", text)
        if gate.state is not GateState.PENDING:
            self._settled(gate)
        return gate

    def _settled(self, gate: GateRow) -> None:
        first = acts.settled(self.supervisor.records.store, gate.id).problem
        raise Refused(409, first.code, first.message, {"status": self._again(gate.id).state})


def _bad_answer(why: UserError, options: list[str]) -> Refused:
    problem, facts = why.problem, {"field": "answer"}
    if not isinstance(why, NotAnOptionError):
        return Refused(422, problem.code, problem.message, facts)
    text = problem.message
    if why.suggestion is None:
        text += "; " + _('to send it anyway, add `"ownWords": true`')
    more = {"options": options, "suggestion": why.suggestion}
    return Refused(422, problem.code, text, {**facts, **more})
