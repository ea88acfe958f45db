"""What a run under way tells of itself, and what follows at once.

What it comes to is judged when the run has ended (`outcomes.py`): until then every word is
only noted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.core.limits import family, needs_person
from segue.core.machines import RunState
from segue.dialects.events import (
    Asked,
    BlockUnclosed,
    ConversationLost,
    DependencyAsked,
    ErrorTold,
    Event,
    Finished,
    Garbled,
    LimitHit,
    Opened,
    PermissionAsked,
    Retrying,
    Said,
    StepDone,
    ToolUsed,
    Unsigned,
    Used,
    WindowUsed,
)
from segue.i18n import _
from segue.work import answers, conversations, following
from segue.work.attempts import Attempt
from segue.work.ledger import DEPENDENCY

if TYPE_CHECKING:
    from segue.work.plan_run import PlanRun

FATAL = "fatal"
UNKNOWN = "unknown"


def heard(run: PlanRun, attempt: Attempt, event: Event) -> None:
    if attempt.run.state is RunState.VERIFYING and not isinstance(event, Said):
        return  # a check reports nothing but its exit code
    attempt.heard_at, attempt.is_silent = run.clock.now(), False
    match event:
        case Said() | ToolUsed() | StepDone() | Used():
            _at_work(run, attempt, event)
        case Opened(conversation):
            conversations.opened(run, attempt, conversation)
        case Asked():
            run.stop_to_ask(attempt, event)
        case DependencyAsked(name=name):
            attempt.about = {"name": name}
            run.stop_to_ask(attempt, _as_question(event))
        case PermissionAsked():
            answers.permission_asked(run, attempt, event)
        case Finished():
            if attempt.finished is None or attempt.finished.reason != FATAL:
                attempt.finished = event
            run.engine.end_input(attempt.run.id)
        case _:
            _hindered(run, attempt, event)


def _at_work(run: PlanRun, attempt: Attempt, event: Said | ToolUsed | StepDone | Used) -> None:
    match event:
        case Said(text):
            attempt.lines.append(text)
            if attempt.run.account in run.probing:
                following.spoke(run, attempt, is_refusal=_is_refusal(run, attempt, text))
            run.emit("task_said", task=attempt.task.id, text=text)
        case ToolUsed(tool, what):
            attempt.limit = None  # it got over it by itself
            run.seen_at_work(attempt.run.account)
            run.emit("task_said", task=attempt.task.id, text=f"⚙ {tool} {what}".rstrip())
        case StepDone(n):
            _step_done(run, attempt, n)
        case Used():
            attempt.used = event


def _hindered(run: PlanRun, attempt: Attempt, event: Event) -> None:
    """What keeps it from its work, or soon will."""
    match event:
        case LimitHit():
            _limit_told(run, attempt, event)
            if needs_person(event.kind):  # that it tries on by itself cannot help
                run.engine.end_soon(attempt.run.id)
        case WindowUsed(_kind, share, resets_at):
            run.accounts.note_used(attempt.run.account, share, resets_at)
        case Retrying():
            run.tell(
                "agent_retrying",
                task=attempt.task.id,
                attempt=event.attempt,
                attempts_max=event.attempts_max,
                wait_s=event.wait_s,
                status=event.status,
                text=event.text,
            )
        case ConversationLost():
            attempt.lost = event
        case ErrorTold():
            _error_told(run, attempt, event)
        case BlockUnclosed(name):
            text = _("{task}: what it wrote as {name} was not closed, and does not count")
            run.tell("notice", text=text.format(task=attempt.task.id, name=name))
        case Unsigned(marker, expected) if marker.startswith("["):
            text = _("{task}: {marker} does not count without the nonce; expected: {expected}")
            facts = {"task": attempt.task.id, "marker": marker, "expected": expected}
            run.tell("notice", text=text.format(**facts))
        case Garbled(why=why) if why:
            text = _("{task}: what it wrote does not count ({why})")
            run.tell("notice", text=text.format(task=attempt.task.id, why=why))
        case _:
            pass  # garbled text is in the log; a plan's task has no phases


def _error_told(run: PlanRun, attempt: Attempt, told: ErrorTold) -> None:
    """An error in the agent's own words: the run has failed, goes on later, or just goes on."""
    if told.is_fatal:
        attempt.finished = Finished(True, told.message, FATAL)
        run.engine.end_soon(attempt.run.id)
    elif told.is_pause:
        _limit_told(run, attempt, LimitHit(UNKNOWN, text=told.message))
        attempt.is_parked_by_hand = True  # by its own: that it ends well then does not count
        run.engine.end_soon(attempt.run.id)
    else:
        attempt.lines.extend(told.message.splitlines())
        run.tell("notice", text=f"{attempt.task.id}: {told.message}")


def _as_question(asked: DependencyAsked) -> Asked:
    """Only a person can provide it. The answers are given: nobody can type a secret in here."""
    what = f"{asked.name} ({asked.type})"
    if asked.description:
        what = f"{what}: {asked.description}"
    how = _("Provide it where the agent finds it, as in its `env` or by export, then go on.")
    options = (_("it is there now"), _("go on without it"))
    preset = None if asked.required else options[1]
    return Asked(f"{what}\n{how}", options, preset, category=DEPENDENCY)


def _limit_told(run: PlanRun, attempt: Attempt, told: LimitHit) -> None:
    """The last word counts; but words do not take the place of figures about the same stop."""
    before = attempt.limit
    is_same = before is not None and family(before.kind) == family(told.kind)
    if before is not None and is_same and before.has_time and not told.has_time:
        return
    attempt.limit = told
    attempt.limit_at = run.workshop.last_words_at(attempt.run, run.clock.now())


def _is_refusal(run: PlanRun, attempt: Attempt, text: str) -> bool:
    """The first words of a canary may be that the limit is not over."""
    from segue.work import limit_words  # noqa: PLC0415 - many patterns, needed by few runs

    return limit_words.is_refusal(run, attempt, text)


def _step_done(run: PlanRun, attempt: Attempt, n: int) -> None:
    task = attempt.task
    if 1 <= n <= len(task.steps) and n not in attempt.steps_done:
        attempt.steps_done.add(n)
        run.file.edit(lambda document: document.set_step(task.id, n, True), task.id)
        run.tell("step_done", task=task.id, step=n, text=task.steps[n - 1].text)
