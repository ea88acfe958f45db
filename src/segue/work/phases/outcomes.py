"""What an agent of the server reported, how its run ended, and what follows for its task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from segue.core.machines import RunState, Trigger
from segue.core.plan import TaskState
from segue.dialects.events import LimitHit, PhaseDone, TaskDone
from segue.engine.attempt import Report, TooSilent
from segue.engine.executors import Ended
from segue.engine.outcome import (
    Claimed,
    Failed,
    Limited,
    Need,
    NeedsPerson,
    Outcome,
    Silenced,
    TimedOut,
    passed_over,
    reported,
    was_cut_off,
)
from segue.engine.outcome_rules import PROVEN, settle
from segue.engine.prompts import CONTINUE, RESTART, interrupted
from segue.errors import UserError
from segue.i18n import _
from segue.store.changes import Change, Note, Value, stamp
from segue.store.conversations import ConversationHolder
from segue.store.rows import AgentRow, PhaseTaskRow, RunRow
from segue.work.phases import (
    asking,
    checking,
    checkpoint_integrity,
    forks,
    moves,
    parking,
    progress,
    prompts,
    protocol_faults,
    task_end,
)
from segue.work.phases.attempt import Attempt
from segue.work.phases.jobs import fenced_command
from segue.work.phases.supervisor import Supervisor

REMINDERS_MAX = 1


# Beginning


def assigned(supervisor: Supervisor, task: PhaseTaskRow) -> bool:
    """A slot is free: the task's workspace is made, its agent starts with the first phase."""
    agent = supervisor.records.agent(task.id)
    if agent is None:
        return False
    now = supervisor.clock.now()
    phase = (task.phase or 1) if task.phases else None  # a fork begins where it was cut
    started: dict[str, Value] = {
        "phase": phase,
        "started_at": stamp(now),
        "workspace": task.workspace or str(supervisor.saving.workspace(task.id)),
    }
    facts = {"slot_is_free": True, "waits_for": []}
    move = moves.move_task(task, Trigger.ASSIGN, facts=facts, sets=started, data={"phase": phase})
    try:
        profile = supervisor.continuation.profile_or_fallback(task.agent)
        if profile.needs_command and fenced_command(task.description) is None:
            text = _("{agent} runs the task's own command, but the description has none")
            hint = _("write it into a fenced sh block, or choose another agent")
            raise UserError("no_command", f"{text.format(agent=task.agent)}; {hint}")
    except UserError as error:
        return _fails_at_once(supervisor, task, str(error))
    mine: dict[str, Value] = {
        "conversation": moves.new_conversation(),
        "account": profile.account,
        **progress.AFRESH,
    }
    nonce = moves.new_nonce()
    begun = replace(task, phase=phase)
    text = prompts.phase(begun, prompts.shown_nonce(profile, nonce), has_tools=profile.has_tools)
    is_ours = supervisor.commit(
        move,
        moves.move_agent(agent, Trigger.ASSIGN, sets=mine),
        *forks.begin(
            supervisor, begun, replace(agent, conversation=str(mine["conversation"])), text, nonce
        ),
        moves.timer("save", task.id, now + moves.SAVE_EVERY),
    )
    supervisor.reconcile(task.id)
    return is_ours


def _fails_at_once(supervisor: Supervisor, task: PhaseTaskRow, error: str) -> bool:
    agent = supervisor.records.agent(task.id)
    assert agent is not None
    facts = {"slot_is_free": True, "waits_for": []}
    supervisor.commit(
        moves.move_task(task, Trigger.ASSIGN, facts=facts), moves.move_agent(agent, Trigger.ASSIGN)
    )
    task, _agent = supervisor.rows(task.id)
    task_end.fail(supervisor, task, error)
    return False


def could_not_begin(supervisor: Supervisor, task: PhaseTaskRow, run: RunRow, error: str) -> None:
    supervisor.commit(moves.end_run(run, RunState.FAILED, Trigger.FAIL, error=error))
    supervisor.canaries.ended(run.account, task.id)
    task, _agent = supervisor.rows(task.id)
    task_end.fail(supervisor, task, error)


# What a living process reported


def told(supervisor: Supervisor, attempt: Attempt) -> None:
    """An interactive agent reported something that counts: act on it at once, it is stopped."""
    agent = supervisor.records.agent(attempt.run.task)
    if agent is None or agent.state != "running" or supervisor.is_being_checked(attempt):
        return  # it reported this before it was stopped: it counts when it continues
    how = reported(attempt, supervisor.events.words.of(attempt))
    beside = passed_over(attempt, asking.NEEDS_MAX)
    attempt.acted_on()
    if how is None:
        return
    heard = Note("run", attempt.run.id, {"heard": attempt.heard})
    if isinstance(how, PROVEN):
        supervisor.events.works(attempt)
    _act(supervisor, attempt, how, [heard], beside)
    supervisor.reconcile(attempt.run.task)


# How a run ended


def ended(supervisor: Supervisor, attempt: Attempt, ended: Ended) -> None:
    task, agent = supervisor.rows(attempt.run.task)
    if attempt.run.role != "work":
        if agent.state == "running" and was_cut_off(ended, supervisor.keeper_deaths[task.id]):
            cut_off(supervisor, task, attempt.run, **task_end.used_by(supervisor, attempt))
        else:
            checking.ended(supervisor, attempt, ended)
        return
    used = task_end.used_by(supervisor, attempt)
    if agent.state != "running":  # it was paused, and ended or was killed meanwhile
        supervisor.events.ended(attempt)
        supervisor.commit(moves.end_run(attempt.run, RunState.CUT_OFF, Trigger.CUT_OFF, **used))
        return
    circumstances = supervisor.circumstances(attempt)
    settle(attempt, ended, circumstances, supervisor.events, Rules(supervisor, used))


@dataclass(frozen=True, slots=True)
class Rules:
    """What follows for a task with phases. `used`: what the run used, for its row."""

    supervisor: Supervisor
    used: dict[str, Value]

    def dropped(self, attempt: Attempt) -> None:
        self.cut_off(attempt)

    def cut_off(self, attempt: Attempt) -> None:
        task, _agent = self.supervisor.rows(attempt.run.task)
        cut_off(self.supervisor, task, attempt.run, **self.used)

    def completed(self, attempt: Attempt, ended: Ended) -> None:
        if _reports_by_exit_code(attempt, ended):
            task, _agent = self.supervisor.rows(attempt.run.task)
            self.claimed(attempt, ended, PhaseDone(task.phase) if task.phases else TaskDone())
        else:
            self._without_a_word(attempt, ended, "")

    def claimed(self, attempt: Attempt, ended: Ended, claim: PhaseDone | TaskDone) -> None:
        self._act(attempt, ended, Claimed(claim), RunState.COMPLETED, Trigger.COMPLETE)

    def needs_person(self, attempt: Attempt, ended: Ended, needs: tuple[Need, ...]) -> None:
        self._act(attempt, ended, NeedsPerson(needs), RunState.ASKED, Trigger.ASK)

    def limited(self, attempt: Attempt, ended: Ended, limit: LimitHit) -> None:
        self._act(attempt, ended, Limited(limit), RunState.PARKED, Trigger.PARK)

    def compacted(self, attempt: Attempt, *, is_well: bool) -> None:
        parking.compacted(self.supervisor, attempt, self.used, is_well=is_well)

    def conversation_busy(self, attempt: Attempt, ended: Ended, holder: ConversationHolder) -> None:
        """It is no failure: it begins again when the other run may have left it."""
        self.cut_off(attempt)
        for run in self.supervisor.records.open_runs(attempt.run.task):
            if run.state is RunState.INTENDED:
                self.supervisor.wait_for_conversation(run.id)

    def conversation_lost(self, attempt: Attempt) -> None:
        task, agent = self.supervisor.rows(attempt.run.task)
        self.supervisor.commit(
            moves.end_run(attempt.run, RunState.CUT_OFF, Trigger.CUT_OFF, **self.used),
            *parking.afresh(self.supervisor, task, agent, attempt.profile),
        )

    def failed(self, attempt: Attempt, ended: Ended, how: Failed) -> None:
        reason = how.reason
        if _reports_by_exit_code(attempt, ended):
            how = Failed(attempt.in_short(reason), is_reported=True)
        if how.is_reported:
            self._act(attempt, ended, how, RunState.FAILED, Trigger.FAIL)
            return
        is_said = isinstance(how, Silenced | TimedOut) or ended.code != 0 or attempt.has_last_word
        self._without_a_word(attempt, ended, reason if is_said else "")

    def _act(
        self, attempt: Attempt, ended: Ended, how: Outcome, to: RunState, cause: Trigger
    ) -> None:
        end = moves.end_run(attempt.run, to, cause, exit_code=ended.code, **self.used)
        _act(self.supervisor, attempt, how, [end], passed_over(attempt, asking.NEEDS_MAX))

    def _without_a_word(self, attempt: Attempt, ended: Ended, reason: str) -> None:
        """It says nothing about its work. `reason`: why, where that is known."""
        reason = reason or protocol_faults.why_nothing(attempt) or _("it ended without a report")
        self.supervisor.commit(
            moves.end_run(
                attempt.run,
                RunState.FAILED,
                Trigger.FAIL,
                exit_code=ended.code,
                error=reason,
                **self.used,
            )
        )
        _again_or_fail(self.supervisor, attempt, reason)


def _reports_by_exit_code(attempt: Attempt, ended: Ended) -> bool:
    """A command of the task's own reports nothing: how it ended is its report."""
    return attempt.profile.needs_command and not ended.is_ours


def _act(
    supervisor: Supervisor,
    attempt: Attempt,
    how: Outcome,
    also: list[Change],
    beside: Sequence[Report],
) -> None:
    """What counts most is acted on. What people are needed for follows one after the other;
    anything else beside it is reported to them."""
    task, agent = supervisor.rows(attempt.run.task)
    for report in beside:
        protocol_faults.passed_over(supervisor, attempt, report)
    match how:
        case Limited(limit):
            parking.limited(supervisor, attempt, limit, also)
        case Failed(reason):
            task_end.fail(supervisor, task, reason, also)
        case Claimed(PhaseDone()):
            checking.begin(supervisor, task, agent, also)
        case Claimed():
            task_end.complete(supervisor, task, agent, also)
        case NeedsPerson(needs):
            asking.put(supervisor, task, agent, needs[: asking.NEEDS_MAX], also, attempt.permission)


# Ends that say nothing


def _again_or_fail(supervisor: Supervisor, attempt: Attempt, reason: str) -> None:
    """It is reminded once of how to report; then the task has failed."""
    task, agent = supervisor.rows(attempt.run.task)
    if task.reminders >= REMINDERS_MAX:
        is_said = bool(attempt.unsigned)  # its last words are in the reason
        task_end.fail(supervisor, task, reason if is_said else attempt.in_short(reason))
        return
    profile = attempt.profile
    nonce = prompts.shown_nonce(profile, attempt.run.nonce)
    phase = task.phase if task.phases else None
    text = prompts.reminder(reason, phase, nonce, has_tools=profile.has_tools)
    if isinstance(attempt.ended_for, TooSilent):  # it did not end by itself
        text = f"{interrupted(CONTINUE)}\n\n{text}"
    supervisor.commit(
        Note("task", task.id, {"reminders": task.reminders + 1}),
        *supervisor.continuation.again(task, agent, text),
    )
    supervisor.reconcile(task.id)


# After a death


def never_started(supervisor: Supervisor, task: PhaseTaskRow, run: RunRow) -> None:
    """It was meant and had not begun: it begins now, under another name."""
    agent = supervisor.records.agent(task.id)
    assert agent is not None
    again = moves.add_run(
        task, agent, run.prompt or "", nonce=run.nonce, name=run.agent, account=run.account,
        role=run.role, purpose=run.purpose, attempt=run.attempt, resume_id=run.resume_id,
        resumes=supervisor.records.run(run.resumes) if run.resumes else None,
        conversation=run.conversation,
    )[1]  # fmt: skip
    supervisor.commit(moves.end_run(run, RunState.REVOKED, Trigger.REVOKE), again)


def cut_off(supervisor: Supervisor, task: PhaseTaskRow, run: RunRow | None, **used: Value) -> None:
    """Nothing of it runs any more: it continues in its conversation."""
    task, agent = supervisor.rows(task.id)
    changes: list[Change] = []
    if run is not None:
        changes.append(moves.end_run(run, RunState.CUT_OFF, Trigger.CUT_OFF, **used))
        if run.role != "work":
            supervisor.commit(*changes, checking.again(supervisor, task, agent, run))
            return
    if task.state is TaskState.IN_PROGRESS and agent.state == "running":
        data, told = checkpoint_integrity.restored(supervisor, task.id)
        changes += [moves.move_agent(agent, Trigger.RECOVER, data=data), *told]
        changes += _taken_up(supervisor, task, agent, run)
    if changes:
        supervisor.commit(*changes)


def _taken_up(
    supervisor: Supervisor, task: PhaseTaskRow, agent: AgentRow, run: RunRow | None
) -> list[Change]:
    """Where it was: the text that was about to be sent, else the resume text; never sent anything,
    from its beginning."""
    profile = supervisor.continuation.worker(task)
    has_prompt = run is not None and bool(run.prompt)
    is_unnamed = profile.brand is not None and agent.resume_id is None and not has_prompt
    if supervisor.records.last_work(task.id) is None or is_unnamed:  # there is nothing to continue
        nonce = moves.new_nonce()
        text = prompts.phase(task, prompts.shown_nonce(profile, nonce), has_tools=profile.has_tools)
        if supervisor.records.last_work(task.id) is not None:
            text = f"{interrupted(RESTART)}\n\n{text}"
        return supervisor.continuation.begin(task, agent, text, nonce)
    text = run.prompt if run is not None and run.prompt else supervisor.resume_text
    return supervisor.continuation.again(task, agent, f"{interrupted(CONTINUE)}\n\n{text}")
