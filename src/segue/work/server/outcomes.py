"""What an agent of the server told, how its run ended, and what follows for its task."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from segue.core.limits import holds_account, needs_person, wakes_at
from segue.core.machines import RunState, Trigger
from segue.core.serving import Cause, Stage
from segue.dialects.events import Asked, DependencyAsked, ErrorTold, LimitHit, PhaseDone, TaskDone
from segue.engine.port import Ended
from segue.errors import AgentError, UserError
from segue.i18n import _
from segue.store.changes import Change, Move, Note, Value, instant, stamp
from segue.work.agents import Profile
from segue.work.attempts import why
from segue.work.prompts import CONTINUE, RESTART, interrupted
from segue.work.server import (
    asking,
    checking,
    faults,
    forks,
    moves,
    progress,
    prompts,
    stuck,
    whole,
)
from segue.work.server.attempt import Attempt, Told
from segue.work.server.jobs import fenced_command
from segue.work.server.rows import AgentRow, RunRow, TaskRow

if TYPE_CHECKING:
    from segue.work.server.supervisor import Supervisor

REMINDERS_MAX = 1
KEEPER_DEATHS_MAX = 3  # of one task, that are no failure of it
UNKNOWN_LIMIT = "unknown"
LIMIT = "limit"
LIMIT_TOLD_AGAIN = timedelta(hours=1)
LAST_NOTICE = "SELECT kind, created_at FROM server_notices WHERE task = ? ORDER BY id DESC LIMIT 1"


# Beginning


def assigned(office: Supervisor, task: TaskRow) -> bool:
    """A slot is free: the task's workspace is made, its agent starts with the first phase."""
    agent = office.records.agent(task.id)
    if agent is None:
        return False
    now = office.clock.now()
    phase = (task.phase or 1) if task.phases else None  # a fork begins where it was cut
    started: dict[str, Value] = {
        "phase": phase,
        "started_at": stamp(now),
        "workspace": task.workspace or str(office.saving.workspace(task.id)),
    }
    facts = {"slot_is_free": True, "waits_for": []}
    move = moves.move_task(task, Cause.ASSIGN, facts=facts, sets=started, data={"phase": phase})
    try:
        profile = office.going_on.profile(task.agent)
        if profile.needs_command and fenced_command(task.description) is None:
            text = _("{agent} runs the task's own command, and the description has none")
            hint = _("write it into a fenced sh block, or choose another agent")
            raise UserError("no_command", f"{text.format(agent=task.agent)}; {hint}")
    except UserError as error:
        return _fails_at_once(office, task, str(error))
    mine: dict[str, Value] = {
        "conversation": moves.new_conversation(),
        "account": profile.account,
        **progress.AFRESH,
    }
    nonce = moves.new_nonce()
    begun = replace(task, phase=phase)
    text = prompts.phase(begun, shown_nonce(profile, nonce), has_tools=profile.has_tools)
    is_ours = office.commit(
        move,
        moves.move_agent(agent, Cause.ASSIGN, sets=mine),
        *forks.begin(
            office, begun, replace(agent, conversation=str(mine["conversation"])), text, nonce
        ),
        moves.timer("save", task.id, now + moves.SAVE_EVERY),
    )
    office.reconcile(task.id)
    return is_ours


def shown_nonce(profile: Profile, nonce: str) -> str | None:
    """Agents with structured output need none: their own words are known as such."""
    return None if profile.brand else nonce


def _fails_at_once(office: Supervisor, task: TaskRow, error: str) -> bool:
    agent = office.records.agent(task.id)
    assert agent is not None
    facts = {"slot_is_free": True, "waits_for": []}
    office.commit(
        moves.move_task(task, Cause.ASSIGN, facts=facts), moves.move_agent(agent, Cause.ASSIGN)
    )
    task, _agent = _rows(office, task.id)
    fail(office, task, error)
    return False


def could_not_begin(office: Supervisor, task: TaskRow, run: RunRow, error: str) -> None:
    office.commit(moves.end_run(run, RunState.FAILED, Trigger.FAIL, error=error))
    task, _agent = _rows(office, task.id)
    fail(office, task, error)


# What a living process told


def told(office: Supervisor, attempt: Attempt) -> None:
    """An interactive agent told something that counts: acted on at once, it stands still."""
    agent = office.records.agent(attempt.run.task)
    if agent is None or agent.state != "running" or office.is_being_checked(attempt):
        return  # it told this before it stood still: it counts when it goes on
    ranked = attempt.ranked()
    attempt.told.clear()
    if not ranked:
        return
    heard = Note("server_run", attempt.run.id, {"heard": attempt.heard})
    _act(office, attempt, ranked, [heard])
    office.reconcile(attempt.run.task)


# How a run ended


def ended(office: Supervisor, attempt: Attempt, ended: Ended) -> None:
    task, agent = _rows(office, attempt.run.task)
    if attempt.run.purpose != "work":
        if ended.keeper_died and agent.state == "running" and is_bad_luck(office, task):
            cut_off(office, task, attempt.run)
        else:
            checking.ended(office, attempt, ended)
        return
    used: dict[str, Value] = {}
    if attempt.used is not None:
        used = {
            "input_tokens": attempt.used.input_tokens,
            "output_tokens": attempt.used.output_tokens,
            "cost_usd": attempt.used.cost_usd,
        }
    if agent.state != "running":  # it was paused, and ended or was killed meanwhile
        office.commit(moves.end_run(attempt.run, RunState.CUT_OFF, Trigger.CUT_OFF, **used))
        return
    has_told = bool(attempt.ranked()) or limit_of(office, attempt, ended) is not None
    if ended.keeper_died and not has_told and is_bad_luck(office, task):
        cut_off(office, task, attempt.run, **used)
        return
    ranked = attempt.ranked() or _by_exit_code(task, attempt, ended)
    if ranked:
        to, cause = RunState.COMPLETED, Trigger.COMPLETE
        if isinstance(ranked[0], Asked | DependencyAsked):
            to, cause = RunState.ASKED, Trigger.ASK
        end = moves.end_run(attempt.run, to, cause, exit_code=ended.code, **used)
        _act(office, attempt, ranked, [end])
        return
    limit = limit_of(office, attempt, ended)
    if limit is not None:
        to, cause = RunState.PARKED, Trigger.PARK
        end = moves.end_run(attempt.run, to, cause, exit_code=ended.code, **used)
        limited(office, task, agent, limit, [end])
        return
    _without_a_word(office, attempt, ended, used)


def is_bad_luck(office: Supervisor, task: TaskRow) -> bool:
    """Something killed the process that kept the agent, not the agent. If that happens again and
    again, the task may be the reason."""
    office.keeper_deaths[task.id] += 1
    return office.keeper_deaths[task.id] <= KEEPER_DEATHS_MAX


def _by_exit_code(task: TaskRow, attempt: Attempt, ended: Ended) -> list[Told]:
    """A command of the task's own reports nothing: how it ended is its word."""
    if not attempt.profile.needs_command or ended.is_ours:
        return []
    if ended.code == 0:
        return [PhaseDone(task.phase) if task.phases else TaskDone()]
    last = next((line.strip() for line in reversed(attempt.lines) if line.strip()), "")
    reason = why(ended, None)
    return [ErrorTold("fatal", f"{reason}: {last}" if last else reason, "checkpoint_and_fail")]


def _act(office: Supervisor, attempt: Attempt, ranked: Sequence[Told], also: list[Change]) -> None:
    """What counts most is acted on. What people are needed for follows one after the other;
    anything else beside it is told to them."""
    task, agent = _rows(office, attempt.run.task)
    first = ranked[0]
    needs: list[asking.Need] = []
    if isinstance(first, Asked | DependencyAsked):
        needs = [one for one in ranked if isinstance(one, Asked | DependencyAsked)]
        needs = needs[: asking.NEEDS_MAX]
    for one in ranked[max(1, len(needs)) :]:
        faults.passed_over(office, attempt, one)
    match first:
        case ErrorTold():
            _error(office, task, agent, first, also)
        case PhaseDone():
            checking.begin(office, task, agent, also)
        case TaskDone():
            complete(office, task, agent, also)
        case DependencyAsked() | Asked():
            asking.put(office, task, agent, needs, also, attempt.permission)


def _error(
    office: Supervisor, task: TaskRow, agent: AgentRow, told: ErrorTold, also: list[Change]
) -> None:
    if told.is_pause:
        limited(office, task, agent, _limit_told(office, task, told.message), also)
    else:
        fail(office, task, told.message, also)


def _limit_told(office: Supervisor, task: TaskRow, message: str) -> LimitHit:
    """What an agent reports as a reason to wait; until when, if its words say so."""
    from segue.dialects.limits import told_limit  # noqa: PLC0415 - many patterns, needed by few runs

    found = told_limit(message, task.agent, office.clock.now(), office.tz)
    return LimitHit(found.kind, found.resets_at, wait_s=found.wait_s, text=message)


def complete(office: Supervisor, task: TaskRow, agent: AgentRow, also: list[Change]) -> None:
    """A task without phases is done."""
    now = office.clock.now()
    none = {"phases_total": 0}
    office.commit(
        *also,
        moves.move_task(task, Cause.PHASE_COMPLETE, sets={"completed_at": stamp(now)}),
        moves.move_agent(agent, Cause.PHASE_COMPLETE, facts=none, sets={"step": None}),
        moves.no_timer("save", task.id),
        moves.notice(task.id, "completed", task.title, now),
    )
    office.saving.save(task.id, "final")


def fail(office: Supervisor, task: TaskRow, error: str, also: list[Change] | None = None) -> None:
    _task, agent = _rows(office, task.id)
    now = office.clock.now()
    changes: list[Change] = [*(also or [])]
    changes.append(
        moves.move_task(task, Cause.FAIL, sets={"error": error, "failed_at": stamp(now)},
                        data={"error": error})
    )  # fmt: skip
    if agent.state == "running":
        changes.append(moves.move_agent(agent, Cause.FAIL, sets={"step": None}))
    done = {change.id for change in changes if isinstance(change, Move)}
    changes += [
        moves.end_run(run, RunState.CUT_OFF, Trigger.CUT_OFF)
        for run in office.records.open_runs(task.id)
        if run.id not in done
    ]
    changes += [moves.no_timer("save", task.id), moves.notice(task.id, "failed", error, now)]
    changes += stuck.failed(office.records, task.id, now)
    office.commit(*changes)
    office.saving.save(task.id, "final")
    office.reconcile(task.id)


# Limits


def limit_of(office: Supervisor, attempt: Attempt, ended: Ended) -> LimitHit | None:
    """The limit that ended a run: as it was told, or in the last words of a command that ended
    badly."""
    if attempt.limit is not None:
        return attempt.limit
    if ended.code in (0, None) or attempt.profile.settings.kind != "command":
        return None
    from segue.dialects.limits import detect  # noqa: PLC0415 - many patterns, needed by few runs

    text = "\n".join(attempt.lines)
    found = detect(text, tool=attempt.profile.name, now=office.clock.now(), tz=office.tz)
    if not found.paused:
        return None
    return LimitHit(found.kind or UNKNOWN_LIMIT, found.resets_at, text=found.evidence)


def limited(
    office: Supervisor,
    task: TaskRow,
    agent: AgentRow,
    limit: LimitHit,
    also: list[Change],
    review: RunRow | None = None,
) -> None:
    """Paused until its instant; what waiting cannot mend is asked. `review`: whose limit it is, if
    not that of the task's own agent."""
    name, account = task.agent, agent.account or task.agent
    if review is not None:
        name, account = review.agent, review.account
    now = office.clock.now()
    if needs_person(limit.kind):
        text = _("{agent} cannot go on ({why}); see to it, then answer")
        why_not = limit.text or limit.kind
        asked = Asked(text.format(agent=name, why=why_not), category="confirmation")
        asking.put(office, task, agent, [asked], also)
        return
    resets_at, at = wakes_at(
        limit.kind,
        now,
        resets_at=limit.resets_at,
        wait_s=limit.wait_s,
        is_minute=limit.is_minute,
        waits=office.waits,
        jitter=random.random(),  # noqa: S311 - it spreads, it hides nothing
    )
    paused: dict[str, Value] = {
        "kind": limit.kind,
        "resets_at": stamp(resets_at) if resets_at else None,
        "is_by_person": 0,
    }
    data = {"kind": limit.kind, "wakes_at": stamp(at)}
    office.commit(
        *also,
        moves.move_agent(agent, Cause.LIMIT, sets=paused, data=data),
        moves.timer("wake", task.id, at),
        *_told_of(office, task, limit, at),
    )
    if holds_account(limit.kind):
        office.accounts.park(account, limit.kind, at)
    office.saving.save(task.id, "limit")


def _told_of(office: Supervisor, task: TaskRow, limit: LimitHit, at: datetime) -> list[Change]:
    """People hear of it; not again of one that comes back as soon as it was waited for."""
    now = office.clock.now()
    last = office.records.store.one(LAST_NOTICE, task.id)
    if last and last["kind"] == LIMIT and now - instant(last["created_at"]) < LIMIT_TOLD_AGAIN:
        return []
    text = _("it waits for a limit ({why}) and goes on by itself at {time}")
    time = f"{at.astimezone(office.tz):%Y-%m-%d %H:%M}"
    return [moves.notice(task.id, LIMIT, text.format(why=limit.text or limit.kind, time=time), now)]


# Ends that say nothing


def _without_a_word(
    office: Supervisor, attempt: Attempt, ended: Ended, used: dict[str, Value]
) -> None:
    task, agent = _rows(office, attempt.run.task)
    if attempt.lost is not None and attempt.run.resume_id is not None:
        _afresh(office, attempt, task, agent, used)
        return
    reason = faults.why_nothing(attempt) or _("it ended without reporting")
    if ended.code != 0 or ended.error is not None:
        reason = why(ended, None)
    elif attempt.finished is not None and attempt.finished.is_error:
        reason = attempt.finished.text or attempt.finished.reason
    office.commit(
        moves.end_run(
            attempt.run, RunState.FAILED, Trigger.FAIL, exit_code=ended.code, error=reason, **used
        )
    )
    _again_or_fail(office, attempt, reason)


def _again_or_fail(office: Supervisor, attempt: Attempt, reason: str) -> None:
    """It is reminded once of how to report; then the task has failed."""
    task, agent = _rows(office, attempt.run.task)
    last = next((line.strip() for line in reversed(attempt.lines) if line.strip()), "")
    if task.reminders >= REMINDERS_MAX:
        is_said = not last or bool(attempt.unsigned)  # its last words are in the reason
        fail(office, task, reason if is_said else f"{reason}: {last}")
        return
    profile = attempt.profile
    nonce = shown_nonce(profile, attempt.run.nonce)
    phase = task.phase if task.phases else None
    text = prompts.reminder(reason, phase, nonce, has_tools=profile.has_tools)
    office.commit(
        Note("server_task", task.id, {"reminders": task.reminders + 1}),
        *office.going_on.again(task, agent, text),
    )
    office.reconcile(task.id)


def _afresh(
    office: Supervisor, attempt: Attempt, task: TaskRow, agent: AgentRow, used: dict[str, Value]
) -> None:
    """Its conversation is lost: a new one, with what is known of it."""
    before = "\n".join(list(attempt.lines)[-40:])
    nonce = moves.new_nonce()
    shown = shown_nonce(attempt.profile, nonce)
    text = prompts.phase(task, shown, has_tools=attempt.profile.has_tools, before=before or "–")
    office.commit(
        moves.end_run(attempt.run, RunState.CUT_OFF, Trigger.CUT_OFF, **used),
        Note("server_agent", task.id, {"resume_id": None}),
        *office.going_on.begin(task, agent, text, nonce),
    )


# After a death


def never_started(office: Supervisor, task: TaskRow, run: RunRow) -> None:
    """It was meant and had not begun: it begins now, under another name."""
    agent = office.records.agent(task.id)
    assert agent is not None
    again = moves.add_run(
        task, agent, run.prompt or "", nonce=run.nonce, name=run.agent, account=run.account,
        purpose=run.purpose, attempt=run.attempt, resume_id=run.resume_id,
        resumes=office.records.run(run.resumes) if run.resumes else None,
        conversation=run.conversation,
    )[1]  # fmt: skip
    office.commit(moves.end_run(run, RunState.REVOKED, Trigger.REVOKE), again)


def cut_off(office: Supervisor, task: TaskRow, run: RunRow | None, **used: Value) -> None:
    """Nothing of it runs any more: it goes on in its conversation."""
    task, agent = _rows(office, task.id)
    changes: list[Change] = []
    if run is not None:
        changes.append(moves.end_run(run, RunState.CUT_OFF, Trigger.CUT_OFF, **used))
        if run.purpose != "work":
            office.commit(*changes, checking.again(office, task, agent, run))
            return
    if task.state is Stage.IN_PROGRESS and agent.state == "running":
        data, told = whole.restored(office, task.id)
        changes += [moves.move_agent(agent, Cause.RECOVER, data=data), *told]
        changes += _taken_up(office, task, agent, run)
    if changes:
        office.commit(*changes)


def _taken_up(
    office: Supervisor, task: TaskRow, agent: AgentRow, run: RunRow | None
) -> list[Change]:
    """Where it was: what it was about to be told, else the resume text; never told anything,
    from its beginning."""
    profile = office.going_on.profile(task.agent)
    has_prompt = run is not None and bool(run.prompt)
    is_unnamed = profile.brand is not None and agent.resume_id is None and not has_prompt
    if office.records.last_work(task.id) is None or is_unnamed:  # there is nothing to go on with
        nonce = moves.new_nonce()
        text = prompts.phase(task, shown_nonce(profile, nonce), has_tools=profile.has_tools)
        if office.records.last_work(task.id) is not None:
            text = f"{interrupted(RESTART)}\n\n{text}"
        return office.going_on.begin(task, agent, text, nonce)
    text = run.prompt if run is not None and run.prompt else office.resume_text
    return office.going_on.again(task, agent, f"{interrupted(CONTINUE)}\n\n{text}")


def _rows(office: Supervisor, id: str) -> tuple[TaskRow, AgentRow]:
    task, agent = office.records.task(id), office.records.agent(id)
    if task is None or agent is None:
        raise AgentError(f"the task {id} is gone")
    return task, agent
