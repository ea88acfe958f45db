"""What the run of a plan gets from whoever starts it."""

from __future__ import annotations

from datetime import UTC

from kit.clock import HandClock
from segue.engine.plan.environment import Environment, RunPolicy
from segue.engine.plan.finish import finish
from segue.engine.plan.plan_run import Options


def test_whoever_starts_a_plan_need_not_show_anything() -> None:
    """A program without a terminal neither draws nor asks."""
    environment = Environment({}, HandClock(), UTC, ("segue", "run"), lambda event: None, None)
    environment.pause()
    environment.go_on()
    assert (environment.asker, environment.background) == (None, None)


def test_a_plan_ends_by_the_common_rule_unless_its_kind_has_one() -> None:
    """Neither begins it again, nor works in worktrees, unless that is wanted."""
    policy = RunPolicy(Options(jobs=1))
    assert policy.finish is finish
    assert (policy.restart, policy.worktrees) == (False, None)
    assert policy.isolates("T-1")
