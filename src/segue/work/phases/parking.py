"""A limit on the server: the task is parked until it is over, or another agent takes it over.

What follows from a limit is decided in `engine/parking.py`; here it is committed for a task with
phases: the run's end, the agent's pause, the park and the account's park are one transaction.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from segue.core.limits import holds_account
from segue.core.machines import RunState, Trigger
from segue.core.serving import AgentState
from segue.dialects.events import LimitHit
from segue.engine import said
from segue.engine.limits import AFRESH, COMPACT, CONTEXT, AskPerson, GiveUp, Park
from segue.engine.parking import HandOver, add_park, end_park, remedy
from segue.i18n import _
from segue.store.actors import TIMER, acting
from segue.store.changes import Change, Move, Note, Value, instant, stamp
from segue.store.rows import SERVER, AgentRow, ParkRow, PhaseTaskRow, RunRow
from segue.work.agents.profiles import Profile
from segue.work.phases import asking, moves, prompts, task_end
from segue.work.phases.attempt import Attempt
from segue.work.phases.supervisor import Supervisor

LIMIT = "limit"
LIMIT_TOLD_AGAIN = timedelta(hours=1)
LAST_NOTICE = "SELECT kind, created_at FROM notices WHERE task = ? ORDER BY id DESC LIMIT 1"


def limited(supervisor: Supervisor, attempt: Attempt, limit: LimitHit, also: list[Change]) -> None:
    """A run is at a limit. `also`: how it ended."""

    task, agent = supervisor.rows(attempt.run.task)
    match supervisor.parking.judge(attempt, limit, supervisor.records.windows(task.id)):
        case AskPerson(question):
            asking.put(supervisor, task, agent, [question], also)
        case GiveUp(reason):
            task_end.fail(supervisor, task, reason, also)
        case HandOver(park, other) if attempt.run.role == "work":
            _hand_over(supervisor, attempt, park, other, also)
        case HandOver(park) | (Park() as park):
            _park(supervisor, attempt, park, also)


def _park(supervisor: Supervisor, attempt: Attempt, park: Park, also: list[Change]) -> None:
    run = attempt.run
    task, agent = supervisor.rows(run.task)
    paused: dict[str, Value] = {
        "kind": park.kind,
        "resets_at": stamp(park.resets_at) if park.resets_at else None,
        "is_by_person": 0,
    }
    data = {"kind": park.kind, "wakes_at": stamp(park.wakes_at)}
    supervisor.commit(
        *also,
        moves.move_agent(agent, Trigger.LIMIT, sets=paused, data=data),
        add_park(SERVER, run, park)[1],
        *_told_of(supervisor, task, park),
        then=supervisor.parking.account_parked(run.account, park),
    )
    supervisor.saving.save(task.id, LIMIT)


def _told_of(supervisor: Supervisor, task: PhaseTaskRow, park: Park) -> list[Change]:
    """People hear of it; not again of one that comes back as soon as it was waited for."""
    now = supervisor.clock.now()
    last = supervisor.records.store.one(LAST_NOTICE, task.id)
    if last and last["kind"] == LIMIT and now - instant(last["created_at"]) < LIMIT_TOLD_AGAIN:
        return []
    text = _("it waits for a limit ({why}) and resumes by itself at {time}")
    said = text.format(why=park.text or park.kind, time=_clock(supervisor, park.wakes_at))
    return [moves.notice(task.id, LIMIT, said, now)]


def _clock(supervisor: Supervisor, at: datetime) -> str:
    return f"{at.astimezone(supervisor.tz):%Y-%m-%d %H:%M}"


# Another agent, or another conversation


def _hand_over(
    supervisor: Supervisor, attempt: Attempt, park: Park, other: Profile, also: list[Change]
) -> None:
    """The other agent cannot know the conversation: it gets a summary of it."""
    run = attempt.run
    task, agent = supervisor.rows(run.task)
    ended = [one for one in also if isinstance(one, Move) and one.id == run.id]
    if not ended:  # it lives: its process ends, too
        also = [*also, moves.end_run(run, RunState.PARKED, Trigger.PARK)]
    supervisor.commit(
        *also,
        *afresh(supervisor, task, agent, other),
        then=supervisor.parking.account_parked(run.account, park),
    )
    supervisor.reconcile(task.id)


def handed_back(supervisor: Supervisor, task: PhaseTaskRow, agent: AgentRow) -> list[Change]:
    """A phase begins, and another agent worked for the task's own, whose account is open again:
    that one continues. Nothing where it did the work itself, or cannot be had."""
    own = supervisor.continuation.named(task.agent)
    now_own = supervisor.continuation.profile_or_fallback(task.agent) if own is not None else None
    if now_own is None or now_own.name == supervisor.continuation.worker(task).name:
        return []
    return [*_ended_runs(supervisor, task.id), *afresh(supervisor, task, agent, now_own)]


def _ended_runs(supervisor: Supervisor, task: str) -> list[Change]:
    """A process that lives in the old conversation ends."""
    return [
        moves.end_run(run, RunState.CUT_OFF, Trigger.CUT_OFF)
        for run in supervisor.records.open_runs(task)
        if run.role == "work"
    ]


def afresh(
    supervisor: Supervisor, task: PhaseTaskRow, agent: AgentRow, profile: Profile, purpose: str = ""
) -> list[Change]:
    """A new conversation of this agent, with what is known of the one before."""

    nonce, conversation = moves.new_nonce(), moves.new_conversation()
    text = prompts.phase(
        task,
        prompts.shown_nonce(profile, nonce),
        has_tools=profile.has_tools,
        before=what_is_known(supervisor, task.id),
    )
    mine: dict[str, Value] = {
        "resume_id": None,
        "conversation": conversation,
        "account": profile.account,
    }
    _id, add = moves.add_run(
        task, agent, text, nonce=nonce, name=profile.name, account=profile.account,
        purpose=purpose, attempt=task.reworks + 1, conversation=conversation,
    )  # fmt: skip
    return [Note("agent", task.id, mine), add]


def what_is_known(supervisor: Supervisor, task: str) -> str:
    """The end of what the last runs of a task said."""
    runs = supervisor.records.last_works(task, said.CHAIN_MAX)
    return said.what_is_known(
        said.said_by_each(supervisor.jobs.files, runs, supervisor.continuation.named)
    )


# Waking


@acting(TIMER)
def wake(supervisor: Supervisor, park: ParkRow) -> None:
    """A park's instant has come: on, in the same conversation."""
    task, agent = supervisor.rows(park.task)
    over = end_park(park, Trigger.WAKE)
    if agent.state is not AgentState.PAUSED or agent.is_by_person:
        supervisor.commit(over)
        return
    supervisor.commit(
        over,
        moves.move_agent(agent, Trigger.WAKE, sets={"kind": None, "resets_at": None}),
        *resumed(supervisor, task, agent, park),
    )
    supervisor.reconcile(task.id)


def resumed(
    supervisor: Supervisor, task: PhaseTaskRow, agent: AgentRow, park: ParkRow
) -> list[Change]:
    """How a task continues whose park is over."""
    run = supervisor.records.run(park.run) if park.run else None
    if park.kind == CONTEXT and run is not None and run.role == "work":
        return _smaller(supervisor, task, agent, run)
    return supervisor.continuation.prompt_agent(task, agent, supervisor.resume_text, "prompt")


def _smaller(
    supervisor: Supervisor, task: PhaseTaskRow, agent: AgentRow, full: RunRow
) -> list[Change]:
    """Its context was full: what is tried with it. A process that lives cannot be compacted."""
    profile = supervisor.continuation.worker(task)
    before = supervisor.records.run(full.resumes) if full.resumes else None
    purpose = remedy(profile, full, before, agent.resume_id)
    ended = _ended_runs(supervisor, task.id)
    if purpose == COMPACT and profile.compact is not None:
        return [*ended, *supervisor.continuation.again(task, agent, profile.compact, COMPACT)]
    if purpose == AFRESH:
        return [*ended, *afresh(supervisor, task, agent, profile, AFRESH)]
    return supervisor.continuation.prompt_agent(task, agent, supervisor.resume_text, "prompt")


def compacted(
    supervisor: Supervisor, attempt: Attempt, used: dict[str, Value], *, is_well: bool
) -> None:
    """The compaction has ended: on in the conversation, or (it failed) in a new one."""
    task, agent = supervisor.rows(attempt.run.task)
    if is_well:
        following = supervisor.continuation.again(task, agent, supervisor.resume_text)
    else:
        following = afresh(supervisor, task, agent, attempt.profile, AFRESH)
    supervisor.commit(
        moves.end_run(attempt.run, RunState.CUT_OFF, Trigger.CUT_OFF, **used), *following
    )


# A person's hand, and the end of a limit


def ended_by_hand(supervisor: Supervisor, task: str) -> list[Change]:
    """Nothing of the task waits for a limit any more."""
    park = supervisor.records.park_of(task)
    return [end_park(park, Trigger.CANCEL)] if park is not None else []


def opened(supervisor: Supervisor, account: str) -> None:
    """The account of a canary is open, maybe before its time: those that wait for the same limit
    follow, one by one."""
    now = supervisor.clock.now()
    early: list[Change] = [
        Note("park", park.id, {"wakes_at": stamp(now)})
        for park in supervisor.records.waiting_parks()
        if park.account == account and park.wakes_at > now and holds_account(park.kind)
    ]
    if early:
        supervisor.commit(*early)
    supervisor.kick()
