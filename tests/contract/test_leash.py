"""How far Segue may go alone: quiet hours, `until`, `max_windows`."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from contract.scenes import limit, turn, work
from contract.subjects import Subject
from contract.subjects.records import DONE, PARKED, PENDING, WAITING

pytestmark = pytest.mark.moments
LEFT_S = 10  # how much of the minute is left when the work begins


def leash(subject: Subject, line: str) -> None:
    subject.settings.more += f"[leash]\n{line}\n"


def clock(after_s: float) -> str:
    return f"{datetime.now(UTC) + timedelta(seconds=after_s):%H:%M}"


def stays(subject: Subject, starts: int, end: float) -> None:
    """Nothing more is started or sent until then."""

    def over() -> bool:
        assert len(subject.starts(0)) == starts, subject.transcript()
        return time.time() > end

    subject.until(over, "the time")


def test_nothing_starts_or_wakes_in_quiet_hours(subject: Subject) -> None:
    """A run that could start waits (a pane that could be woken does): until they are over."""
    leash(subject, f'quiet_hours = "{clock(-120)}-{clock(3600)}"')
    subject.plays(turn(limit(1)), turn(work(1)))
    subject.begin()
    if subject.is_pane:
        subject.wait(0, PARKED)
    stays(subject, 1 if subject.is_pane else 0, time.time() + 4)
    assert subject.state(0) in (PARKED, PENDING)


def test_nothing_wakes_past_until(subject: Subject) -> None:
    """The reset comes after the end of the leash: the task stays parked."""
    now = time.time()
    shift = round(60 - LEFT_S - now % 60) % 60  # the local clock shows :50 now
    subject.box.extra_env["TZ"] = f"XXX-0:00:{shift:02}"
    end = datetime.fromtimestamp(now + LEFT_S + 5, UTC) + timedelta(seconds=shift)
    leash(subject, f'until = "{end:%H:%M}"')
    subject.plays(turn(limit(LEFT_S + 1)), turn(work(1)))
    subject.begin()
    subject.wait(0, PARKED)
    stays(subject, 1, subject.starts(0)[0].at + LEFT_S + 5)
    assert subject.state(0) == PARKED


def test_max_windows_used_up_asks_a_person(subject: Subject) -> None:
    """`max_windows = 1`: the second limit is a gate."""
    leash(subject, "max_windows = 1")
    subject.plays(turn(limit(1)), turn(work(1), limit(30)))
    subject.begin()
    subject.started(0, 2)

    def settled() -> bool:
        is_parked = any(park.wait_s > 10 for park in subject.parks())
        return is_parked or subject.state(0) in (WAITING, DONE)

    subject.until(settled, "what follows")
    assert subject.state(0) == WAITING, subject.transcript()
