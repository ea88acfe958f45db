"""Each rule of scheduling by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any, overload

import pytest

from segue.core import decide as decide_module
from segue.core.decide import (
    SPACING,
    AccountView,
    Candidate,
    Decisions,
    Leash,
    ParkView,
    Reason,
    Snapshot,
    decide,
)
from segue.core.globs import overlaps

NOW = datetime(2026, 5, 1, 12, 30, tzinfo=UTC)


def soon(minutes: float) -> datetime:
    return NOW + timedelta(minutes=minutes)


def task(id: str, account: str = "work", *files: str) -> Candidate:
    return Candidate(id, account, files)


def park(id: str, minutes: float, account: str = "work") -> ParkView:
    return ParkView(f"park-{id}", id, account, soon(minutes))


def decided(**snapshot: Any) -> Decisions:
    snapshot.setdefault("slots", 9)
    return decide(Snapshot(**snapshot), NOW)


def test_candidates_start_in_order_while_slots_are_free() -> None:
    """Running tasks take slots too; what comes after is held by them."""
    decision = decided(
        ready=[task("A"), task("B"), task("C"), task("D")], running={"R": task("R")}, slots=3
    )
    assert decision.start == ("A", "B")
    assert decision.next_at is None
    assert decision.stopped is None


def test_full_slots_say_so() -> None:
    """The first in the queue is told that slots are lacking, and so are parks that are due."""
    decision = decided(
        ready=[task("A"), task("B")], parks=[park("P", -1)], running={"R": task("R")}, slots=1
    )
    assert decision.start == decision.wake == ()
    assert decision.held == {"P": Reason.SLOTS, "A": Reason.SLOTS}


def test_what_else_begins_of_a_running_task_needs_no_other_slot() -> None:
    """A check of the work of a task that has a slot begins, and others get what is left."""
    decision = decided(
        ready=[task("A"), task("B")], parks=[park("R", -1)], running={"R": task("R")}, slots=2
    )
    assert decision.wake == ("park-R",)
    assert decision.start == ("A",)
    full = decided(parks=[park("R", -1)], running={"R": task("R")}, slots=1)
    assert full.wake == ("park-R",)


def test_no_more_of_the_queue_is_looked_at_than_slots_are_free() -> None:
    """The queue may be made while it is looked at."""
    made: list[str] = []

    class Queue:
        def __iter__(self) -> Iterator[Candidate]:
            for name in "ABCD":
                made.append(name)
                yield task(name)

    assert decided(ready=Queue(), slots=2).start == ("A", "B")
    assert made == ["A", "B"]


def test_a_running_task_does_not_start_again() -> None:
    """A queue that is behind the times does no harm."""
    assert decided(ready=[task("A")], running={"A": task("A")}).start == ()


def test_due_parks_wake_before_new_starts_the_oldest_first() -> None:
    """Work that was begun goes on before other work begins."""
    parks = [park("P", -1), park("Q", -5), park("R", 0), park("S", 7)]
    decision = decided(ready=[task("A"), task("B")], parks=parks, slots=4)
    assert decision.wake == ("park-Q", "park-P", "park-R")
    assert decision.start == ("A",)
    assert decision.next_at == soon(7)
    assert decision.held == {}


def test_a_parked_account_starts_and_wakes_nothing() -> None:
    """Its tasks wait for its instant; those of other accounts go on."""
    decision = decided(
        ready=[task("A"), task("B", "home")],
        parks=[park("P", -1)],
        accounts={"work": AccountView(parked_until=soon(20))},
    )
    assert decision.start == ("B",)
    assert decision.wake == ()
    assert decision.held == {"P": Reason.ACCOUNT, "A": Reason.ACCOUNT}
    assert decision.next_at == soon(20)


def test_a_due_account_is_tried_by_one_park_alone() -> None:
    """One canary goes; all else of the account waits, other accounts do not."""
    decision = decided(
        ready=[task("A"), task("B", "home")],
        parks=[park("P", -1), park("Q", -2), park("R", -1, "home")],
        accounts={"work": AccountView(parked_until=NOW)},
    )
    assert decision.wake == ("park-Q", "park-R")
    assert decision.start == ("B",)
    assert decision.probe == ("work",)
    assert decision.held == {"P": Reason.PROBING, "A": Reason.PROBING}


def test_nothing_of_a_probing_account_moves() -> None:
    """Until the canary's outcome is known."""
    decision = decided(
        ready=[task("A")],
        parks=[park("P", -1)],
        accounts={"work": AccountView(parked_until=soon(-1), probing=True)},
    )
    assert (decision.start, decision.wake) == ((), ())
    assert decision.held == {"P": Reason.PROBING, "A": Reason.PROBING}


def test_a_due_account_waits_for_its_next_park() -> None:
    """A park that wakes a little later is the canary, not a new task."""
    decision = decided(
        ready=[task("A")],
        parks=[park("P", 2)],
        accounts={"work": AccountView(parked_until=soon(-1))},
    )
    assert (decision.start, decision.wake) == ((), ())
    assert decision.held == {"A": Reason.PROBING}
    assert decision.next_at == soon(2)


def test_a_due_account_without_parks_is_tried_by_a_new_task() -> None:
    """If nothing of it waits to wake, the first in the queue is the canary."""
    decision = decided(
        ready=[task("A"), task("B")], accounts={"work": AccountView(parked_until=soon(-1))}
    )
    assert decision.start == ("A",)
    assert decision.probe == ("work",)
    assert decision.held == {"B": Reason.PROBING}


def test_new_tasks_follow_a_canary_one_by_one() -> None:
    """The limit was just over: one starts in its turn, the next one a moment later."""
    ready = [task("A"), task("B"), task("C", "home")]
    first = decided(ready=ready, accounts={"work": AccountView(follows_at=soon(1))})
    assert (first.start, first.next_at) == (("C",), soon(1))
    assert first.held == {"A": Reason.SPACING, "B": Reason.SPACING}
    then = decided(ready=ready, accounts={"work": AccountView(follows_at=NOW)})
    assert (then.start, then.follow) == (("A", "C"), ("work",))
    assert then.held == {"B": Reason.SPACING}
    assert then.next_at == NOW + SPACING


def test_an_account_close_to_its_limit_drains() -> None:
    """Nothing new starts on it, but what was parked goes on."""
    account = AccountView(used=0.95, used_until=soon(30))
    decision = decided(ready=[task("A")], parks=[park("P", -1)], accounts={"work": account})
    assert decision.wake == ("park-P",)
    assert decision.held == {"A": Reason.DRAIN}
    assert decision.next_at == soon(30)


@pytest.mark.parametrize(
    "account", [AccountView(used=0.94), AccountView(used=1.0, used_until=NOW), AccountView()]
)
def test_an_account_with_room_starts(account: AccountView) -> None:
    """Below the mark, in a new window, or unknown: it starts."""
    assert decided(ready=[task("A")], accounts={"work": account}).start == ("A",)


def test_overlapping_files_never_run_side_by_side() -> None:
    """Neither with what runs nor with what was just chosen; the next in line goes instead."""
    decision = decided(
        ready=[
            task("A", "", "src/a.py"),
            task("B", "", "lib/*"),
            task("C", "", "lib/x"),
            task("D"),
        ],
        running={"R": task("R", "", "src/")},
    )
    assert decision.start == ("B", "D")
    assert decision.held == {"A": Reason.FILES, "C": Reason.FILES}


def test_half_done_work_keeps_its_files() -> None:
    """A parked task or one that waits for a person keeps others off what it touched."""
    decision = decided(
        ready=[task("A", "", "src/a.py"), task("B", "", "docs/")],
        parks=[park("P", 5)],
        claims={"P": ("src/",)},
    )
    assert decision.start == ("B",)
    assert decision.held == {"A": Reason.FILES}


def test_a_park_waits_for_its_files() -> None:
    """A park whose files another task works on does not wake beside it, nor two of a kind."""
    running = {"R": task("R", "", "src/a.py")}
    claims = {"P": ("src/",), "Q": ("lib/",), "S": ("lib/x",)}
    parks = [park("P", -3, "a"), park("Q", -2, "b"), park("S", -1, "c")]
    decision = decided(parks=parks, running=running, claims=claims)
    assert decision.wake == ("park-Q",)
    assert decision.held == {"P": Reason.FILES, "S": Reason.FILES}


def test_quiet_hours_hold_everything_until_they_end() -> None:
    """What is due waits for the end, which is when to decide again."""
    leash = Leash(quiet=(time(12), time(13)))
    decision = decided(ready=[task("A")], parks=[park("P", -1)], leash=leash)
    assert (decision.start, decision.wake) == ((), ())
    assert decision.stopped is Reason.QUIET
    assert decision.held == {"P": Reason.QUIET}
    assert decision.next_at == soon(30)


def test_a_park_that_would_wake_in_quiet_hours_wakes_after_them() -> None:
    """Its instant is moved to their end."""
    leash = Leash(quiet=(time(13), time(14)))
    assert decided(parks=[park("P", 45)], leash=leash).next_at == soon(90)


def test_ready_tasks_alone_wait_for_the_end_of_quiet_hours() -> None:
    """Their end is an instant at which something starts."""
    decision = decided(ready=[task("A")], leash=Leash(quiet=(time(12), time(13))))
    assert decision.next_at == soon(30)


def test_a_due_park_waits_for_its_account() -> None:
    """Its own instant is past: that of its account is the next."""
    decision = decided(parks=[park("P", -1)], accounts={"work": AccountView(parked_until=soon(20))})
    assert decision.held == {"P": Reason.ACCOUNT}
    assert decision.next_at == soon(20)


def test_quiet_hours_with_nothing_to_do_need_no_wakeup() -> None:
    """Without tasks and parks there is no instant to wait for."""
    assert decided(leash=Leash(quiet=(time(12), time(13)))).next_at is None


def test_nothing_starts_or_wakes_from_until_on() -> None:
    """All parks are reported, and no instant would change that."""
    leash = Leash(until=NOW)
    decision = decided(ready=[task("A")], parks=[park("P", -1), park("Q", 9)], leash=leash)
    assert (decision.start, decision.wake, decision.next_at) == ((), (), None)
    assert decision.stopped is Reason.UNTIL
    assert decision.held == {"P": Reason.UNTIL, "Q": Reason.UNTIL}


def test_parks_past_until_give_no_instant() -> None:
    """What would wake too late is told now; the rest goes on."""
    decision = decided(
        ready=[task("A"), task("B", "home")],
        parks=[park("P", 10), park("Q", 60)],
        accounts={"home": AccountView(parked_until=soon(90))},
        leash=Leash(until=soon(60)),
    )
    assert decision.start == ("A",)
    assert decision.held == {"Q": Reason.UNTIL, "B": Reason.UNTIL}
    assert decision.next_at == soon(10)


def test_quiet_hours_that_last_until_the_end_are_the_end() -> None:
    """If nothing can happen between quiet hours and `until`, it is over now."""
    leash = Leash(until=soon(20), quiet=(time(12), time(13)))
    decision = decided(ready=[task("A")], parks=[park("P", -1)], leash=leash)
    assert decision.stopped is Reason.UNTIL
    assert decision.held == {"P": Reason.UNTIL}
    assert decision.next_at is None


def test_too_many_windows_hold_parks_for_a_person() -> None:
    """Neither due nor later parks wake, and their account tries nothing; others go on."""
    decision = decided(
        ready=[task("A"), task("B", "home")],
        parks=[park("P", -1), park("Q", 9)],
        accounts={"work": AccountView(parked_until=soon(-1))},
        leash=Leash(max_windows=5),
        windows_used=6,
    )
    assert (decision.start, decision.wake, decision.next_at) == (("B",), (), None)
    assert decision.held == {"P": Reason.WINDOWS, "Q": Reason.WINDOWS, "A": Reason.WINDOWS}


def test_the_last_allowed_window_still_wakes() -> None:
    """The leash is used up by going over it, not by reaching it."""
    decision = decided(parks=[park("P", -1)], leash=Leash(max_windows=5), windows_used=5)
    assert decision.wake == ("park-P",)


def test_a_hold_stops_everything() -> None:
    """Only an event can lift it, so there is no instant."""
    decision = decided(ready=[task("A")], parks=[park("P", -1), park("Q", 5)], held="broken plan")
    assert (decision.start, decision.wake, decision.next_at) == ((), (), None)
    assert decision.stopped is Reason.HELD
    assert decision.held == {"P": Reason.HELD, "Q": Reason.HELD}


def test_the_same_files_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long queue of tasks with the same files costs one comparison."""
    compared: list[object] = []

    def counting(a: Sequence[str], b: Sequence[str]) -> bool:
        compared.append(a)
        return overlaps(a, b)

    monkeypatch.setattr(decide_module, "overlaps", counting)
    ready = [task(f"T-{n}", "", "src/") for n in range(1000)]
    assert decided(ready=ready).start == ("T-0",)
    assert len(compared) == 1


class Counted(Sequence[Candidate]):
    """A queue that counts how many of its entries were looked at."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.looked_at = 0

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, at: int) -> Candidate: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Candidate]: ...
    def __getitem__(self, at: int | slice) -> Candidate | Sequence[Candidate]:
        assert isinstance(at, int)
        if at >= self.size:
            raise IndexError(at)
        self.looked_at += 1
        return task(f"T-{at}")

    def __iter__(self) -> Iterator[Candidate]:
        return (self[at] for at in range(self.size))


@pytest.mark.parametrize(
    "rest",
    [
        {},
        {"running": {"R": task("R"), "S": task("S")}},
        {"held": "shutting down"},
        {"leash": Leash(until=NOW)},
        {"leash": Leash(quiet=(time(12), time(13)))},
    ],
)
def test_no_more_is_looked_at_than_needed(rest: dict[str, Any]) -> None:
    """A hundred thousand ready tasks cost nothing when two slots are filled, or none is free."""
    ready = Counted(100_000)
    decided(ready=ready, slots=2, **rest)
    assert ready.looked_at <= 3


def test_a_candidate_that_waits_for_its_account_has_an_instant() -> None:
    """When the limit is over, or the quiet hours into which that falls."""
    accounts = {"work": AccountView(parked_until=soon(10))}
    assert decided(ready=[task("A")], accounts=accounts).held_until == {"A": soon(10)}
    later = decided(
        ready=[task("A"), task("B", "other")],
        accounts=accounts,
        leash=Leash(quiet=(time(12, 35), time(13))),
    )
    assert later.held_until == {"A": soon(30)}
    assert later.start == ("B",)


@pytest.mark.parametrize("waiting", [{"ready": [task("A")]}, {"parks": [park("P", -1)]}])
def test_a_canary_of_another_plan_is_looked_after(waiting: dict[str, Any]) -> None:
    """Nobody tells this plan how it fared, so it looks again soon instead of ending."""
    decision = decided(accounts={"work": AccountView(probing=True)}, **waiting)
    assert decision.start == decision.wake == ()
    assert decision.next_at == NOW + decide_module.CANARY_LOOK
