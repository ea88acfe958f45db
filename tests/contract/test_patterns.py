"""`[[limits.patterns]]`: a user's own words for a limit."""

from __future__ import annotations

from contract.scenes import HOUR_S, stop, turn
from contract.subjects import Subject

PATTERN = '[[limits.patterns]]\npattern = "oracle is asleep"\nkind = "daily_quota"\n'


def test_a_pattern_of_the_users_own_is_a_limit(subject: Subject) -> None:
    """Parked with the kind that the pattern names, until the time in the message."""
    subject.settings.more += PATTERN
    subject.plays(turn(stop("The oracle is asleep; try again in 2 hours")))
    subject.begin()
    park = subject.park_of(0)
    assert park.kind == "daily_quota"
    assert park.wait_s > HOUR_S
