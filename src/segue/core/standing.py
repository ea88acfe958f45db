"""How a piece of work stands, in one word: one rule for a task list, a book, a feature, the
server's tasks and the watched panes."""

from __future__ import annotations

from dataclasses import dataclass

from segue.core.machines import PlanState


@dataclass(frozen=True, slots=True)
class WorkFacts:
    """What is known of a piece of work, whatever its kind."""

    is_owned: bool = False  # a process of Segue drives it
    is_at_work: bool = False  # an agent of that owner works
    is_asked: bool = False  # a person must decide: a gate is open
    is_parked: bool = False  # something waits for a time
    is_begun: bool = False
    is_left: bool = False  # something is still to be done
    is_done: bool = False  # something was done
    has_failed: bool = False


def state_of(facts: WorkFacts) -> PlanState:
    """What is happening comes before what is waited for, and that before what came of it."""
    if facts.is_owned and facts.is_at_work:
        return PlanState.RUNNING
    if facts.is_asked:
        return PlanState.WAITING
    if facts.is_parked:
        return PlanState.PARKED
    if facts.is_left and facts.is_owned:
        return PlanState.RUNNING  # between two agents
    if facts.is_left and facts.is_begun:
        return PlanState.INTERRUPTED
    if facts.has_failed and not facts.is_left:
        return PlanState.FAILED
    return PlanState.FINISHED if facts.is_done and not facts.is_left else PlanState.PENDING
