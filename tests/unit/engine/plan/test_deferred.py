"""Tasks that wait for an instant without having begun."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

from kit.bench import CLAUDE, Bench
from segue.core.leash import Leash
from segue.core.plan import TaskState
from segue.dialects.events import LimitHit
from segue.engine.accounts import Accounts
from segue.store.sqlite import Store
from segue.work.overview import look
from segue.work.project import Project

PLAN = "- [ ] T-1: a\n- [ ] T-2: b\n"


def parked_elsewhere(bench: Bench, seconds: float) -> datetime:
    """Another plan has hit the limit of the account that this one needs."""
    until = bench.clock.now() + timedelta(seconds=seconds)
    store = Store.open(Project(bench.root).database)
    Accounts(store, bench.clock).park("claude", "session_limit", until)
    store.close()
    return until


def text(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def test_an_account_parked_by_another_plan_is_told_once(bench: Bench) -> None:
    """Each task that could start, with the kind and the instant; then they start at it."""
    run = bench.start(PLAN)
    until = parked_elsewhere(bench, 600)
    bench.recover()
    told = bench.told("task_parked")
    assert [(one["task"], one["kind"], one["wakes_at"]) for one in told] == [
        ("T-1", "session_limit", text(until)),
        ("T-2", "session_limit", text(until)),
    ]
    assert run.parked == ["T-1", "T-2"]
    bench.pass_s(60)
    assert len(bench.told("task_parked")) == 2
    assert bench.engine.begun == []
    bench.pass_s(540)
    assert bench.state("T-1") is TaskState.IN_PROGRESS, "the canary"
    assert "T-1" not in run.parked


def test_a_park_that_grew_longer_is_told_again(bench: Bench) -> None:
    """The instant is another: who waits is told."""
    bench.start("- [ ] T-1: a\n")
    parked_elsewhere(bench, 600)
    bench.recover()
    until = parked_elsewhere(bench, 6000)
    bench.pass_s(1)
    assert [one["wakes_at"] for one in bench.told("task_parked")][1:] == [text(until)]


def test_whoever_looks_sees_what_it_waits_for(bench: Bench) -> None:
    """The plan is parked while it waits and after its end; not once a person has seen to it."""
    bench.start("- [ ] T-1: a\n")
    until = parked_elsewhere(bench, 600)
    bench.recover()
    (standing,) = look(bench.root / "PLAN.md")
    assert standing.state == "parked"
    (park,) = standing.parks
    assert (park["task"], park["account"], park["wakes_at"]) == ("T-1", "claude", text(until))
    (bench.root / "PLAN.md").write_text("- [x] T-1: a\n")
    (standing,) = look(bench.root / "PLAN.md")
    assert (standing.state, standing.parks) == ("finished", [])


def test_what_was_held_back_is_forgotten_when_it_begins(bench: Bench) -> None:
    """Also by a next start, after the limit is over."""
    bench.start("- [ ] T-1: a\n")
    parked_elsewhere(bench, 600)
    bench.recover()
    bench.clock.pass_s(700)
    bench.start()
    bench.recover()
    (standing,) = look(bench.root / "PLAN.md")
    assert standing.parks == []


def test_own_parks_speak_for_the_rest_of_their_account(bench: Bench) -> None:
    """The plan tells of the limit that it hit itself; what waits behind it is only pending."""
    bench.settings("jobs = 1\n" + CLAUDE)
    bench.begin(PLAN)
    bench.starts()
    bench.says(LimitHit("session_limit", wait_s=600))
    bench.ends(1)
    assert [one["task"] for one in bench.told("task_parked")] == ["T-1"]
    assert bench.run.parked == ["T-1"]


def test_quiet_hours_are_told(bench: Bench) -> None:
    """With the instant at which they are over."""
    run = bench.start("- [ ] T-1: a\n")
    run.leash = Leash(quiet=(time(11), time(13)), tz=UTC)
    bench.recover()
    (told,) = bench.told("task_parked")
    assert (told["kind"], told["wakes_at"]) == ("quiet_hours", "2026-03-01T13:00:00.000000Z")
    bench.pass_s(3600)
    assert bench.state() is TaskState.IN_PROGRESS
    assert run.parked == []


def test_the_end_of_the_leash_is_told(bench: Bench) -> None:
    """No instant: only a person can begin it again."""
    run = bench.start("- [ ] T-1: a\n")
    run.leash = replace(run.leash, until=bench.clock.now())
    bench.recover()
    (told,) = bench.told("task_parked")
    assert (told["kind"], told["wakes_at"]) == ("until", None)
    assert run.parked == ["T-1"]
