"""Is a phase complete? Segue's own checks first, then a reviewer that did not write the work."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from segue.core.machines import RunState, Trigger
from segue.core.phases import Phase
from segue.dialects.events import PhaseDone
from segue.engine import evidence, gates
from segue.engine.evidence import Check
from segue.engine.executors import Ended
from segue.engine.limits import CONTEXT
from segue.engine.outcome import Limited, outcome, why
from segue.errors import AgentError, UserError
from segue.i18n import _
from segue.store.changes import Change, Move, Note
from segue.store.rows import SERVER, AgentRow, GateRow, PhaseTaskRow, RunRow
from segue.work.phases import deliverables, moves, parking, prompts, task_end
from segue.work.phases.attempt import Attempt
from segue.work.phases.supervisor import Supervisor
from segue.work.phases.verdicts import verdict_in
from segue.work.settings.task_types import SELF

REWORKS_MAX = 3
TAIL_LINES = 30


async def look_through(supervisor: Supervisor, attempt: Attempt) -> None:
    """Segue's own checks of what an agent says to be complete, beside the event loop."""
    says_so = any(isinstance(one, PhaseDone) for one in attempt.reports)
    if attempt.run.role != "work" or not (says_so or attempt.profile.needs_command):
        return
    task = supervisor.records.task(attempt.run.task)
    phase = task.now_at if task is not None else None
    if task is None or phase is None:
        return
    workspace = Path(task.workspace or "")
    found = await asyncio.to_thread(deliverables.look_through, phase, workspace)
    supervisor.looked_through[task.id] = found


def begin(supervisor: Supervisor, task: PhaseTaskRow, agent: AgentRow, also: list[Change]) -> None:
    """The agent says that the phase is complete: a claim, which is checked."""
    phase = task.now_at
    assert phase is not None
    reasons = supervisor.looked_through.pop(task.id, None)
    if reasons is None:
        reasons = deliverables.look_through(phase, Path(task.workspace or ""))
    if reasons:
        _rework(supervisor, task, agent, reasons, also)
    elif phase.verify:
        step: Change = Note("agent", task.id, {"step": _("verifying")})
        run = _run(supervisor, task, agent, "check", phase.verify)
        supervisor.commit(*also, step, run)
        supervisor.reconcile(task.id)
    else:
        _judge(supervisor, task, agent, also)


def _judge(supervisor: Supervisor, task: PhaseTaskRow, agent: AgentRow, also: list[Change]) -> None:
    """A reviewer, where the phase names one; else it has passed."""
    phase = task.now_at
    assert phase is not None
    name = task.agent if phase.reviewer == SELF else phase.reviewer
    if name is None or not _can_judge(supervisor, name):
        passed(supervisor, task, agent, also, {})
        return
    step: Change = Note("agent", task.id, {"step": _("reviewing")})
    run = _run(supervisor, task, agent, "review", _judges_prompt(task, phase), name=name)
    supervisor.commit(*also, step, run)
    supervisor.reconcile(task.id)


def _can_judge(supervisor: Supervisor, name: str) -> bool:
    """Programs that only play or run a command have no opinion."""
    try:
        return supervisor.continuation.profile(name).settings.kind not in ("shell", "script")
    except UserError:
        return True  # the run fails, and says why


def again(supervisor: Supervisor, task: PhaseTaskRow, agent: AgentRow, run: RunRow) -> Change:
    """The same once more: it did not finish, or its result was not stored."""
    phase = task.now_at
    assert phase is not None
    text = phase.verify or "" if run.role == "check" else _judges_prompt(task, phase)
    return moves.add_run(
        task, agent, text, nonce=moves.new_nonce(), name=run.agent, account=run.account,
        role=run.role, conversation=moves.new_conversation(),
    )[1]  # fmt: skip


def _judges_prompt(task: PhaseTaskRow, phase: Phase) -> str:
    workspace = Path(task.workspace or "")
    files = [item.path for item in deliverables.collect(workspace, phase.deliverables)]
    return prompts.judge(task, files)


def _run(
    supervisor: Supervisor,
    task: PhaseTaskRow,
    agent: AgentRow,
    role: str,
    text: str,
    name: str = "",
) -> Change:
    profile = supervisor.continuation.profile(name or task.agent)
    return moves.add_run(
        task, agent, text, nonce=moves.new_nonce(), name=profile.name, account=profile.account,
        role=role, conversation=moves.new_conversation(),
    )[1]  # fmt: skip


def ended(supervisor: Supervisor, attempt: Attempt, ended: Ended) -> None:
    """A check or a reviewer has come to its end."""

    task, agent = (
        supervisor.records.task(attempt.run.task),
        supervisor.records.agent(attempt.run.task),
    )
    assert task is not None
    assert agent is not None
    is_well = ended.code == 0
    end: list[Change] = [
        moves.end_run(
            attempt.run,
            RunState.COMPLETED if is_well else RunState.FAILED,
            Trigger.COMPLETE if is_well else Trigger.FAIL,
            exit_code=ended.code,
            **task_end.used_by(supervisor, attempt),
        )
    ]
    if attempt.run.role == "check":
        end.append(_kept(supervisor, task, attempt, ended))
    else:
        supervisor.events.ended(attempt, works=verdict_in(attempt.lines) is not None)
    if agent.state != "running":  # paused meanwhile: what came out of it did not count in time
        supervisor.commit(*end, again(supervisor, task, agent, attempt.run))
        return
    if attempt.run.role == "check":
        if is_well:
            _judge(supervisor, task, agent, end)
        else:
            lines = list(attempt.lines)[-TAIL_LINES:]
            reason = _("verify failed ({why})").format(why=why(ended))
            _rework(supervisor, task, agent, ["\n".join([reason, *lines])], end)
        return
    verdict = verdict_in(attempt.lines)
    if verdict is None:
        _no_verdict(supervisor, attempt, ended, end)
    elif verdict.is_pass:
        passed(supervisor, task, agent, end, {"verdict": "pass", "reasons": list(verdict.reasons)})
    else:
        _rework(supervisor, task, agent, verdict.reasons, end)


def _kept(supervisor: Supervisor, task: PhaseTaskRow, attempt: Attempt, ended: Ended) -> Change:
    """The evidence of a check."""
    run = attempt.run
    command = supervisor.jobs.check_command(task, run)
    check = Check(task.id, run.id, run.attempt, command, Path(task.workspace or ""))
    return evidence.keep(supervisor.jobs.files, check, ended, supervisor.clock.now())


def _no_verdict(supervisor: Supervisor, attempt: Attempt, ended: Ended, end: list[Change]) -> None:
    """A reviewer at its limit reviews again when that is over; any other has failed at judging,
    and the phase has not passed."""

    run = attempt.run
    task, agent = supervisor.records.task(run.task), supervisor.records.agent(run.task)
    assert task is not None
    assert agent is not None
    circumstances = supervisor.circumstances(attempt)
    how = outcome(attempt, ended, circumstances, supervisor.events.words.of(attempt))
    if not isinstance(how, Limited) or how.limit.kind == CONTEXT:
        _rework(supervisor, task, agent, [_("the reviewer gave no verdict")], end)
        return
    used = task_end.used_by(supervisor, attempt)
    parked = moves.end_run(run, RunState.PARKED, Trigger.PARK, exit_code=ended.code, **used)
    changes = [parked, again(supervisor, task, agent, run)]
    parking.limited(supervisor, attempt, how.limit, changes)


def _rework(
    supervisor: Supervisor,
    task: PhaseTaskRow,
    agent: AgentRow,
    reasons: Sequence[str],
    also: list[Change],
) -> None:
    """Not complete yet: the agent hears why, at most three times."""
    if task.reworks >= REWORKS_MAX:
        text = _("phase {n} is still incomplete after {times} rounds of rework: {why}")
        why_not = "; ".join(reasons)
        task_end.fail(
            supervisor, task, text.format(n=task.phase, times=REWORKS_MAX, why=why_not), also
        )
        return
    sets = {"reworks": task.reworks + 1}
    data: dict[str, Any] = {"reasons": list(reasons), "rework": task.reworks + 1}
    again = replace(task, reworks=task.reworks + 1)
    text = prompts.rework(reasons, task.phase)
    supervisor.commit(
        *also,
        moves.move_task(task, Trigger.REWORK, sets=sets, data=data),
        moves.move_agent(agent, Trigger.REWORK, sets={"step": None}),
        *supervisor.continuation.prompt_agent(
            again, agent, text, "feedback", besides=_ended_ids(also)
        ),
    )
    supervisor.reconcile(task.id)


def passed(
    supervisor: Supervisor,
    task: PhaseTaskRow,
    agent: AgentRow,
    also: list[Change],
    verdict: dict[str, Any],
) -> None:
    """The phase is complete: a person looks at it."""
    phase = task.now_at
    assert phase is not None
    now = supervisor.clock.now()
    workspace = Path(task.workspace or "")
    round_ = len(supervisor.records.rounds(task.id, task.phase or 0)) + 1
    try:
        items = supervisor.saving.keep_round(task, workspace, phase.deliverables, round_)
    except AgentError as error:  # they changed while they were read, or are too many
        _rework(supervisor, task, agent, [str(error)], also)
        return
    about = {"deliverables": items, "verification": verdict, "reworks": task.reworks}
    wanted = GateRow(
        "", task.id, None, "review", phase.name,
        about=about, phase=task.phase, round=round_, work=SERVER,
    )  # fmt: skip
    gate, add = gates.ask(wanted, now)
    data = {"review": gate.id, "deliverables": len(items)}
    supervisor.commit(
        *also,
        add,
        moves.move_task(task, Trigger.PHASE_COMPLETE, facts={"verified": True}, data=data),
        moves.move_agent(agent, Trigger.PHASE_COMPLETE, sets={"step": None}, data=data),
        moves.notice(task.id, "review", f"{task.title}: {phase.name}", now, gate.id),
    )
    supervisor.saving.save(task.id, "phase")
    supervisor.reconcile(task.id)


def _ended_ids(changes: list[Change]) -> frozenset[str]:
    """The runs that end with these changes."""
    return frozenset(change.id for change in changes if isinstance(change, Move))
