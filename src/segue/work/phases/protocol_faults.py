"""What an agent got wrong in how it reports: it has no effect, and people are notified.

Each fault is in the log, and one notice per task reports it: a noisy agent causes no storm.
"""

from __future__ import annotations

import logging

from segue.dialects.events import (
    Asked,
    BlockUnclosed,
    DependencyAsked,
    ErrorReported,
    Event,
    Garbled,
    PhaseDone,
    TaskDone,
    Unsigned,
)
from segue.i18n import _
from segue.work.phases import moves
from segue.work.phases.attempt import Attempt
from segue.work.phases.supervisor import Supervisor

TOLD_MAX = 5  # faults of one run
KIND = "trouble"
TOLD = "SELECT 1 FROM notices WHERE task = ? AND kind = ? AND text = ?"

logger = logging.getLogger("segue.work.phases")


def noticed(supervisor: Supervisor, attempt: Attempt, event: Event) -> None:
    """Something of the protocol that cannot be used, or does not belong here. A marker without
    the nonce may be a file that the agent prints: it is only kept in mind for the case that the
    run ends without a word. An agent that does not end would wait for an answer."""
    if isinstance(event, Unsigned):
        if len(attempt.unsigned) < TOLD_MAX and event not in attempt.unsigned:
            attempt.unsigned.append(event)
        if not attempt.profile.takes_lines:
            return
    _tell(supervisor, attempt, _in_words(event))


def why_nothing(attempt: Attempt) -> str | None:
    """What an agent got wrong that ended without a report that counts; None: it wrote none."""
    if attempt.unsigned:
        return _in_words(attempt.unsigned[-1])
    return "; ".join(sorted(attempt.faults)) or None


def passed_over(supervisor: Supervisor, attempt: Attempt, event: Event) -> None:
    """It reported this together with something more important, which wins."""
    match event:
        case Asked(question):
            what = question
        case DependencyAsked(type, name):
            what = f"{type} {name}"
        case ErrorReported(message=message):
            what = message
        case _:
            what = _("a completion report")
    text = _("Segue ignored another report, because a more important one came with it: {what}")
    _tell(supervisor, attempt, text.format(what=what))


def _tell(supervisor: Supervisor, attempt: Attempt, text: str | None) -> None:
    if attempt.run.role != "work" or text is None or text in attempt.faults:
        return
    if len(attempt.faults) > TOLD_MAX:
        return
    task, run = attempt.run.task, attempt.run.id
    attempt.faults.add(text)
    if len(attempt.faults) > TOLD_MAX:
        said = "task %s: run %s has more faults of this kind: they are not told any more"
        logger.warning(said, task, run, extra={"task": task})
        return
    text = supervisor.saving.redactor.text(task, text)
    logger.warning("task %s: run %s: %s", task, run, text, extra={"task": task})
    if supervisor.records.store.one(TOLD, task, KIND, text) is None:  # heard again after a death
        supervisor.commit(moves.notice(task, KIND, text, supervisor.clock.now()))


def _in_words(event: Event) -> str | None:
    match event:
        case Unsigned(marker, expected):
            text = _(
                "it printed `{marker}` without the nonce of this run, so Segue ignored "
                "it; expected `{expected}`"
            )
            return text.format(marker=marker, expected=expected)
        case BlockUnclosed(name):
            return _("its {name} was never closed, so Segue ignored it").format(name=name)
        case Garbled(why=why) if why:
            return _("Segue ignored its report ({why})").format(why=why)
        case PhaseDone(phase) if phase is not None:
            text = _(
                "Segue ignored its report that phase {n} is complete: that is not the current phase"
            )
            return text.format(n=phase)
        case PhaseDone():
            return _("Segue ignored its report that a phase is complete: the task has no phases")
        case TaskDone():
            return _("Segue ignored its report that the task is complete: the task has phases")
    return None  # bytes that are no message: they are in the log of the run
