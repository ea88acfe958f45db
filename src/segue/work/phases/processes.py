"""Processes follow the tables: `reconcile` looks at the rows of a task and does what they say.

Whatever changes a task commits it with what must follow, a run to start or a text to deliver. The
same function makes good after a death: nothing else is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

from segue.core.machines import RunState
from segue.core.plan import TaskState
from segue.core.serving import AgentState
from segue.engine import outage
from segue.errors import AgentError, UserError
from segue.store.changes import Note
from segue.store.rows import ActRow, PhaseTaskRow, RunRow
from segue.work.phases import (
    messages,
    outcomes,
    task_failure,
    turns,
)
from segue.work.phases.attempt import Attempt
from segue.work.phases.redaction import OPENS, revealed
from segue.work.phases.supervisor import Supervisor


@dataclass(frozen=True, slots=True)
class Processes:
    supervisor: Supervisor

    def reconcile(self, id: str) -> None:
        """Make the processes of a task do what its rows say. Whoever committed those rows has
        nothing to do with what goes wrong here."""
        if (
            self.supervisor.is_stopping
            or self.supervisor.is_away
            or id in self.supervisor.quarantined
        ):
            return
        try:
            try:
                self._reconcile(id)
            except Exception as error:  # noqa: BLE001 - it fails its own task
                task_failure.about(self.supervisor, id, error)
        except Exception as error:  # noqa: BLE001 - for the loop
            self.supervisor.trouble = error
            self.supervisor.kick()

    def _reconcile(self, id: str) -> None:
        task, agent = self.supervisor.records.task(id), self.supervisor.records.agent(id)
        if task is None or agent is None:
            return
        is_ending = self._end_unwanted(task)
        for run in self.supervisor.records.open_runs(id):
            attempt = self.supervisor.attempts.get(run.id)
            if run.state is RunState.INTENDED and attempt is None:
                is_at_work = agent.state is AgentState.RUNNING and not is_ending
                if is_at_work and turns.is_its(self.supervisor, run):
                    self._begin(task, run)
                elif is_at_work:
                    self.supervisor.kick()
            elif attempt is not None and not attempt.is_ending:
                attempt.run = run
                self._keep_in_step(attempt, agent.state)

    def _end_unwanted(self, task: PhaseTaskRow) -> bool:
        """End the processes of runs that are over; whether any process of the task still ends. The
        next run begins after that: never two agents for one task."""
        is_over = task.state in (TaskState.COMPLETED, TaskState.FAILED)
        attempts = [a for a in self.supervisor.attempts.values() if a.run.task == task.id]
        for attempt in attempts:
            wanted = self.supervisor.records.run(attempt.run.id)
            is_open = wanted is not None and wanted.state in (RunState.INTENDED, RunState.RUNNING)
            if is_over or not is_open:
                self.supervisor.end(attempt)
        return any(attempt.is_ending for attempt in attempts)

    def _keep_in_step(self, attempt: Attempt, state: AgentState) -> None:
        """Continue a process when its agent runs, and stop it when the agent waits."""
        job = attempt.run.id
        if state is not AgentState.RUNNING:
            if not attempt.is_paused:
                attempt.is_paused = True
                self.supervisor.engine.pause(job)
                self.supervisor.events.ended(attempt)
            return
        if attempt.is_paused and not self._may_go_on(attempt):
            self.supervisor.kick()
            return
        if attempt.run.state is RunState.RUNNING and attempt.profile.takes_lines:
            self._tell(attempt)
        if attempt.is_paused:
            attempt.is_paused = False
            attempt.heard_at = (
                self.supervisor.clock.now()
            )  # while it stood still it could not speak
            self.supervisor.engine.go_on(job)
        if attempt.reports and attempt.profile.takes_lines:
            outcomes.told(self.supervisor, attempt)  # it had reported this before it was stopped

    def _may_go_on(self, attempt: Attempt) -> bool:
        is_checked = attempt.run.role == "work" and self.supervisor.is_being_checked(attempt)
        return not is_checked and turns.is_its(self.supervisor, attempt.run)

    def _tell(self, attempt: Attempt) -> None:
        """What is to be said to an agent that takes lines: what it waits for, then what people
        said meanwhile."""
        if attempt.run.prompt is not None:
            self._deliver(attempt, attempt.run.prompt)
        if attempt.run.role != "work" or not (said := self._said_to(attempt.run)):
            return
        self.supervisor.commit(
            *messages.as_lines(attempt.run, said, self.supervisor.saving.redactor)
        )
        attempt.run = self.supervisor.records.run(attempt.run.id) or attempt.run
        if attempt.run.prompt is not None:
            if not attempt.is_paused:
                attempt.is_paused = True
                self.supervisor.engine.pause(attempt.run.id)
            self._deliver(attempt, attempt.run.prompt)

    def _said_to(self, run: RunRow) -> list[ActRow]:
        return messages.waiting(self.supervisor.records, run.task)

    def _deliver(self, attempt: Attempt, line: str) -> None:
        """Sent while it is stopped, so that a death in between is seen: it is there, unread."""
        job, queued = attempt.run.id, attempt.run.queued
        unread = self.supervisor.engine.unread(job)
        if queued is None or unread <= queued:
            self.supervisor.commit(Note("run", job, {"queued": unread}))
            try:
                self.supervisor.engine.send(job, self._revealed(attempt, line).encode())
            except AgentError:  # it has just ended: that is reported and handled
                return
        self.supervisor.commit(Note("run", job, {"prompt": None, "queued": None}))

    def _revealed(self, attempt: Attempt, line: str) -> str:
        if OPENS not in line:
            return line
        return revealed(line, self.supervisor.saving.given(attempt.run.task), is_json=True)

    def _begin(self, task: PhaseTaskRow, run: RunRow) -> None:
        if run.role == "work" and not run.purpose and (said := self._said_to(run)):
            self.supervisor.commit(*messages.in_prompt(run, said, self.supervisor.saving.redactor))
            run = self.supervisor.records.run(run.id) or run
        try:
            attempt, job = self.supervisor.jobs.make(task, run)
            if not self.supervisor.jobs.hold_conversation(attempt):
                self.supervisor.wait_for_conversation(run.id)
                self.supervisor.kick()
                return
        except (UserError, AgentError, OSError) as error:
            if outage.is_trouble(error):
                raise
            outcomes.could_not_begin(self.supervisor, task, run, str(error))
            return
        self.supervisor.attempts[run.id] = attempt
        self.supervisor.not_before.pop(run.id, None)
        self.supervisor.engine.begin(job)
