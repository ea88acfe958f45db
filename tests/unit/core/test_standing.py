"""One word for how a piece of work stands, whatever its kind."""

from __future__ import annotations

from itertools import product

import pytest

from segue.core.machines import PlanState
from segue.core.standing import WorkFacts, state_of


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (WorkFacts(is_owned=True, is_at_work=True, is_asked=True, is_parked=True), "running"),
        (WorkFacts(is_owned=True, is_asked=True, is_parked=True, is_left=True), "waiting"),
        (WorkFacts(is_owned=True, is_parked=True, is_left=True), "parked"),
        (WorkFacts(is_parked=True, is_begun=True, is_left=True), "parked"),
        (WorkFacts(is_owned=True, is_left=True), "running"),
        (WorkFacts(is_at_work=True, is_begun=True, is_left=True), "interrupted"),
        (WorkFacts(is_begun=True, is_left=True, is_done=True), "interrupted"),
        (WorkFacts(is_begun=True, is_done=True, has_failed=True), "failed"),
        (WorkFacts(is_begun=True, is_done=True), "finished"),
        (WorkFacts(is_left=True), "pending"),
        (WorkFacts(), "pending"),
    ],
)
def test_the_state_follows_from_the_signs_by_one_rule(facts: WorkFacts, expected: str) -> None:
    """At work, asked, parked, then what came of it; agents whose owner died are interrupted."""
    assert state_of(facts) == expected


def test_nothing_is_finished_while_something_is_left() -> None:
    """Whatever else is known."""
    names = [name for name in WorkFacts.__slots__ if name != "is_left"]
    for flags in product((False, True), repeat=len(names)):
        facts = WorkFacts(is_left=True, **dict(zip(names, flags, strict=True)))
        assert state_of(facts) not in (PlanState.FINISHED, PlanState.FAILED)
