"""Limits: who waits, how long, who takes over, and what is done about a full context."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from kit.bench import CLAUDE, Bench
from segue.core.machines import ActState
from segue.core.plan import TaskState
from segue.dialects.events import Finished, LimitHit, Opened, Said, ToolUsed
from segue.engine.accounts import Accounts
from segue.engine.acts import Verb
from segue.engine.executors import ActsAdded, Alive, NeverStarted
from segue.engine.plan.beginning import go_on_with

ONE = "- [ ] T-1: Build\n  - retries: 0\n"
MATE = '[agents.mate]\nkind = "claude"\ncommand = ["./claude"]\nmcp = false\n'
WITH_MATE = CLAUDE + 'fallback = "mate"\nfallback_after = "30m"\n' + MATE


def begun(bench: Bench, plan: str = ONE, settings: str = CLAUDE, **options: Any) -> Bench:
    bench.settings(settings)
    bench.begin(plan, **options)
    bench.starts()
    bench.says(Opened("talk-1"))
    return bench


def hits(bench: Bench, kind: str, *, job: str | None = None, **more: Any) -> None:
    """The agent of a job runs into a limit and ends."""
    job = job or bench.job
    bench.says(LimitHit(kind, **more), job=job)
    bench.ends(1, job=job)


def resumed_by(bench: Bench) -> str | None:
    argv = bench.engine.jobs[bench.job].argv
    return argv[argv.index("--resume") + 1] if "--resume" in argv else None


def said(bench: Bench) -> str:
    """What the last job was started with, as text."""
    text: str = json.loads(bench.prompt())["message"]["content"]
    return text


def in_s(bench: Bench) -> float:
    assert bench.engine.wakes_at is not None
    return (bench.engine.wakes_at - bench.clock.now()).total_seconds()


def tasks(bench: Bench) -> list[str]:
    return [bench.engine.jobs[job].env["SEGUE_TASK"] for job in bench.engine.begun]


# --- how long ---------------------------------------------------------------------------------


def test_a_rate_limit_that_comes_again_is_waited_for_longer(bench: Bench) -> None:
    """Twice as long each time, with nothing else between, and never much more than an hour."""
    begun(bench)
    waits = []
    for _again in range(9):
        hits(bench, "rate_limit")
        waits.append(in_s(bench))
        bench.pass_s(waits[-1] + 1)
        bench.starts()
        bench.says(Opened("talk-1"))
    for wait_s, plain_s in zip(
        waits, (60, 120, 240, 480, 960, 1920, 3600, 3600, 3600), strict=True
    ):
        assert plain_s <= wait_s <= plain_s * 1.1
    assert bench.run.ledger.tasks["T-1"].retries_used == 0


def test_another_limit_between_begins_the_waits_anew(bench: Bench) -> None:
    """Only the same one in a row grows."""
    begun(bench)
    hits(bench, "rate_limit")
    bench.pass_s(100)
    bench.starts()
    hits(bench, "session_limit", wait_s=10)
    bench.pass_s(100)
    bench.starts()
    hits(bench, "rate_limit")
    assert in_s(bench) <= 66


def test_a_reset_that_is_past_is_neither_a_storm_nor_a_day(bench: Bench) -> None:
    """Refused again although the time has come: once a minute."""
    begun(bench)
    past = bench.clock.now() - timedelta(hours=1)
    hits(bench, "session_limit", resets_at=past)
    assert in_s(bench) == 5
    bench.pass_s(5)
    bench.starts()
    hits(bench, "session_limit", resets_at=past)
    assert in_s(bench) == 60


def test_a_reset_in_the_far_future_is_asked_about(bench: Bench) -> None:
    """It was misread, or nobody would want to wait for it unasked."""
    begun(bench)
    hits(bench, "weekly_limit", resets_at=bench.clock.now() + timedelta(days=9))
    assert bench.run.ledger.parks == {}
    (gate,) = bench.run.ledger.gates.values()
    go_on_with(bench.run, gate, "yes")
    bench.turn()
    assert resumed_by(bench) == "talk-1"


# --- one after the other ----------------------------------------------------------------------


def test_when_a_limit_is_over_one_goes_first_and_the_others_follow(bench: Bench) -> None:
    """The canary alone; once it is seen at work the rest, one by one."""
    bench.settings("jobs = 3\n" + CLAUDE)
    bench.begin("- [ ] T-1: a\n- [ ] T-2: b\n- [ ] T-3: c\n")
    first = list(bench.engine.begun)
    for job in first:
        bench.starts(job)
        bench.says(Opened(f"talk-{job}"), job=job)
    at = bench.clock.now() + timedelta(hours=1)
    for job in first:
        hits(bench, "session_limit", job=job, resets_at=at)
    bench.pass_s(3605)
    assert len(tasks(bench)) == 4, "the canary"
    bench.starts()
    bench.pass_s(60)
    assert len(tasks(bench)) == 4, "it has not said a word yet"
    bench.says(Said("hello"), Said("and a second line"))
    bench.pass_s(10)
    assert len(tasks(bench)) == 4, "a greeting is no work"
    bench.says(Said("reading the code"))
    assert len(tasks(bench)) == 4
    bench.pass_s(2)
    assert len(tasks(bench)) == 5
    bench.pass_s(2)
    assert sorted(tasks(bench)[3:]) == ["T-1", "T-2", "T-3"]


def test_what_was_held_back_follows_the_canary_one_by_one_too(bench: Bench) -> None:
    """First those that hit the limit, then those that had not begun; never two at once."""
    bench.settings("jobs = 6\n" + CLAUDE)
    plan = "".join(f"- [ ] T-{n}: a\n" for n in range(1, 4))
    bench.begin(plan + "".join(f"- [ ] T-{n}: b\n  - blocked by: T-1\n" for n in range(4, 7)))
    first = list(bench.engine.begun)
    for job in first:
        bench.starts(job)
    for job in first[1:]:
        hits(bench, "session_limit", job=job, wait_s=3600)
    bench.says(Finished(False), job=first[0])
    bench.ends(0, job=first[0])
    assert len(tasks(bench)) == 3, "those that T-1 held have no account to start on"
    bench.pass_s(3605)
    bench.starts()
    bench.says(ToolUsed("Bash", "ls"))
    counts = [len(tasks(bench))]
    for _moment in range(5):
        bench.pass_s(2)
        counts.append(len(tasks(bench)))
    assert counts == [4, 5, 6, 7, 8, 8]
    assert sorted(tasks(bench)[3:5]) == ["T-2", "T-3"]
    assert tasks(bench)[5:] == ["T-4", "T-5", "T-6"]


def test_what_another_plans_canary_opens_is_spaced_out_too(bench: Bench) -> None:
    """That the account is open is all that this plan learns; it does not rush all the same."""
    bench.settings("jobs = 3\n" + CLAUDE)
    bench.begin("- [ ] T-1: a\n- [ ] T-2: b\n")
    for job in list(bench.engine.begun):
        bench.starts(job)
    for job in list(bench.engine.begun):
        hits(bench, "session_limit", job=job, wait_s=3600)
    bench.pass_s(3600)
    assert bench.run.accounts.probe("claude", "another/T-1")
    bench.pass_s(5)
    assert len(tasks(bench)) == 2
    bench.run.accounts.opened("claude")
    bench.turn()
    assert len(tasks(bench)) == 2
    bench.pass_s(2)
    assert len(tasks(bench)) == 3
    bench.pass_s(2)
    assert len(tasks(bench)) == 4


def test_a_plan_that_came_second_at_its_account_waits_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another owner's canary starts between the decision and the claim: the plan is not over."""
    begun(bench)
    hits(bench, "session_limit", wait_s=3600)
    probe = Accounts.probe

    def comes_second(accounts: Accounts, name: str, task: str) -> bool:
        assert probe(accounts, name, "another/T-1")
        return probe(accounts, name, task)

    monkeypatch.setattr(Accounts, "probe", comes_second)
    bench.pass_s(3605)
    assert len(tasks(bench)) == 1
    assert not bench.driver.is_over()
    assert bench.engine.wakes_at is not None
    monkeypatch.undo()
    bench.run.accounts.opened("claude")
    bench.pass_s(2)
    assert len(tasks(bench)) == 2


def test_a_canary_that_fails_with_another_error_opens_nothing(bench: Bench) -> None:
    """It showed neither that the limit is over nor that it is not: another one tries."""
    bench.settings("jobs = 2\n" + CLAUDE)
    bench.begin("- [ ] T-1: a\n  - retries: 0\n- [ ] T-2: b\n  - retries: 0\n")
    first = list(bench.engine.begun)
    for job in first:
        bench.starts(job)
    for job in first:
        hits(bench, "session_limit", job=job, wait_s=3600)
    bench.pass_s(3605)
    assert len(tasks(bench)) == 3, "the canary"
    bench.starts()
    bench.ends(1)
    assert len(tasks(bench)) == 4
    canary = bench.run.ledger.task_id(tasks(bench)[3])
    assert bench.run.accounts.canary("claude") == canary


def test_an_agent_that_worked_before_the_limit_is_not_refused_again(bench: Bench) -> None:
    """Only refusals with no work between make the wait longer."""
    begun(bench)
    hits(bench, "rate_limit")
    bench.pass_s(in_s(bench) + 1)
    bench.starts()
    bench.says(ToolUsed("Bash", "make"))
    hits(bench, "rate_limit")
    assert in_s(bench) <= 66


def test_a_parked_run_and_its_account_are_one_transaction(bench: Bench) -> None:
    """Whoever reads the tables never sees the one without the other."""
    begun(bench)
    moves: list[tuple[set[str], set[str]]] = []
    move = bench.run.ledger.store.move

    def seen(*changes: Any, then: Any = tuple, **more: Any) -> bool:
        made = list(then())
        moves.append(({c.entity for c in changes}, {c.entity for c in made}))
        return move(*changes, then=lambda: made, **more)

    bench.run.ledger.store.move = seen  # type: ignore[method-assign]
    hits(bench, "session_limit", wait_s=3600)
    (own,) = [(ours, made) for ours, made in moves if "park" in ours]
    assert {"run", "task", "park"} <= own[0]
    assert own[1] == {"account"}


def test_a_canary_that_is_refused_parks_the_account_again(bench: Bench) -> None:
    """The others were not sent after it."""
    bench.settings("jobs = 2\n" + CLAUDE)
    bench.begin("- [ ] T-1: a\n- [ ] T-2: b\n")
    first = list(bench.engine.begun)
    for job in first:
        bench.starts(job)
    for job in first:
        hits(bench, "session_limit", job=job, wait_s=3600)
    bench.pass_s(3605)
    bench.starts()
    hits(bench, "session_limit", wait_s=7200)
    bench.pass_s(60)
    assert len(tasks(bench)) == 3


# --- somebody else ----------------------------------------------------------------------------


def test_a_fallback_takes_over_a_long_park(bench: Bench) -> None:
    """It cannot know the conversation: it begins its own, with what is known of the other."""
    begun(bench, settings=WITH_MATE)
    log = bench.run.job_factory.log(bench.attempt.run)
    words = '{"type":"assistant","message":{"content":[{"type":"text","text":"half is done"}]}}'
    log.write_text(words + "\n")
    hits(bench, "session_limit", wait_s=3600)
    (handed,) = bench.told("task_handed_over")
    assert handed["agent"] == "mate"
    assert bench.attempt.run.agent == "mate"
    assert resumed_by(bench) is None
    assert "half is done" in said(bench)
    assert "# T-1: Build" in said(bench)
    assert bench.run.ledger.parks == {}
    assert bench.run.ledger.tasks["T-1"].retries_used == 0
    bench.starts()
    bench.says(Opened("talk-2"), Finished(False))
    bench.ends(0)
    assert bench.state() is TaskState.COMPLETED


def test_a_short_park_is_waited_through(bench: Bench) -> None:
    """Up to `fallback_after` the agent itself goes on."""
    begun(bench, settings=WITH_MATE)
    hits(bench, "session_limit", wait_s=1790)
    assert bench.told("task_handed_over") == []
    bench.pass_s(1800)
    assert resumed_by(bench) == "talk-1"
    assert bench.attempt.run.agent == "claude"


def test_new_tasks_go_to_the_fallback_while_the_account_is_parked(bench: Bench) -> None:
    """And to the agent itself again afterwards."""
    plan = "- [ ] T-1: a\n- [ ] T-2: b (deps: T-1)\n"
    begun(bench, plan, "jobs = 1\n" + WITH_MATE)
    hits(bench, "session_limit", wait_s=7200)
    bench.starts()
    bench.says(Finished(False))
    bench.ends(0)
    assert (tasks(bench)[-1], bench.attempt.run.agent) == ("T-2", "mate")


def test_a_fallback_that_is_parked_itself_takes_nothing(bench: Bench) -> None:
    """Nobody is left: the task waits for its own agent."""
    begun(bench, settings=WITH_MATE)
    bench.run.accounts.park("mate", "session_limit", bench.clock.now() + timedelta(hours=9))
    hits(bench, "session_limit", wait_s=3600)
    assert bench.told("task_handed_over") == []
    assert len(bench.run.ledger.parks) == 1


def test_a_fallback_of_the_same_account_is_none(bench: Bench) -> None:
    """It would run into the same limit."""
    settings = WITH_MATE.replace("[agents.mate]\n", '[agents.mate]\naccount = "claude"\n')
    begun(bench, settings=settings)
    hits(bench, "session_limit", wait_s=3600)
    assert bench.told("task_handed_over") == []


def test_two_that_stand_in_for_each_other_do_not_play_ball(bench: Bench) -> None:
    """When both accounts are parked the task waits."""
    settings = WITH_MATE + 'fallback = "claude"\nfallback_after = "1s"\n'
    begun(bench, settings=settings)
    hits(bench, "session_limit", wait_s=3600)
    bench.starts()
    bench.says(Opened("talk-2"))
    hits(bench, "session_limit", wait_s=3600)
    assert len(bench.engine.begun) == 2
    assert len(bench.run.ledger.parks) == 1


def test_a_hand_over_that_was_never_made_is_made_again(bench: Bench) -> None:
    """Segue died before the other had begun: the other begins, with the same words."""
    begun(bench, settings=WITH_MATE)
    log = bench.run.job_factory.log(bench.attempt.run)
    words = '{"type":"assistant","message":{"content":[{"type":"text","text":"half is done"}]}}'
    log.write_text(words + "\n")
    hits(bench, "session_limit", wait_s=3600)
    meant, job = said(bench), bench.job
    bench.start()
    bench.engine.became[job] = NeverStarted()
    bench.recover()
    assert bench.attempt.run.agent == "mate"
    assert said(bench) == meant


# --- a full context ---------------------------------------------------------------------------


def test_a_full_context_is_made_shorter_first(bench: Bench) -> None:
    """By the program's own command, in the same conversation; then the work goes on in it."""
    begun(bench)
    hits(bench, "context_limit")
    assert in_s(bench) == 5
    assert bench.run.accounts.view() == {}, "it is nobody else's"
    bench.pass_s(5)
    assert (said(bench), resumed_by(bench)) == ("/compact", "talk-1")
    bench.starts()
    bench.says(Opened("talk-1"), Finished(False))
    bench.ends(0)
    assert (said(bench), resumed_by(bench)) == ("continue\n", "talk-1")
    bench.starts()
    bench.says(Finished(False))
    bench.ends(0)
    assert bench.state() is TaskState.COMPLETED
    assert bench.run.ledger.tasks["T-1"].retries_used == 0


@pytest.mark.parametrize("how", ["it cannot be made shorter", "it is full again"])
def test_a_context_that_stays_full_is_begun_afresh(bench: Bench, how: str) -> None:
    """With a summary, in a new conversation; full even then, the task has failed."""
    begun(bench)
    hits(bench, "context_limit")
    bench.pass_s(5)
    bench.starts()
    if how == "it is full again":
        bench.says(Opened("talk-1"), Finished(False))
        bench.ends(0)
        bench.starts()
        hits(bench, "context_limit")
        bench.pass_s(5)
    else:
        bench.says(Finished(True, "Not enough messages to compact."))
        bench.ends(1)
    assert resumed_by(bench) is None
    assert "# T-1: Build" in said(bench)
    bench.starts()
    bench.says(Opened("talk-2"))
    hits(bench, "context_limit")
    assert bench.state() is TaskState.FAILED
    assert bench.run.ledger.parks == {}


def test_a_compaction_is_not_taken_for_the_work(bench: Bench) -> None:
    """It ends well, and the task is not done for that."""
    begun(bench, "- [ ] T-1: Build\n  - verify: make check\n")
    hits(bench, "context_limit")
    bench.pass_s(5)
    bench.starts()
    bench.says(Said("Compacted"), Finished(False))
    bench.ends(0)
    assert bench.state() is TaskState.IN_PROGRESS
    assert bench.told("task_completed") == []
    assert bench.told("task_verifying") == []


def test_a_compaction_that_was_cut_off_is_not_taken_for_the_work_either(bench: Bench) -> None:
    """The next start goes on with what it was for."""
    begun(bench)
    hits(bench, "context_limit")
    bench.pass_s(5)
    job = bench.job
    bench.start()
    bench.engine.became[job] = NeverStarted()
    bench.recover()
    assert (said(bench), resumed_by(bench)) == ("/compact", "talk-1")


def test_a_full_context_costs_no_window(bench: Bench) -> None:
    """`max_windows` is about waiting for accounts."""
    begun(bench)
    hits(bench, "context_limit")
    assert bench.run.ledger.windows == 0


# --- by hand ----------------------------------------------------------------------------------


def order(bench: Bench, verb: str, task: str = "T-1", until: str | None = None) -> str:
    act = bench.adds(Verb(verb), task, **({"until": until} if until else {}))
    bench.happens(ActsAdded())
    return act


def test_a_task_parked_by_hand_goes_on_at_its_instant(bench: Bench) -> None:
    """Its agent ends and goes on in its conversation; no try and no window is used."""
    begun(bench)
    until = bench.clock.now() + timedelta(hours=2)
    order(bench, "park", until=until.isoformat())
    assert bench.engine.to_end == [bench.job]
    bench.ends(143, is_ours=True)
    (park,) = bench.run.ledger.parks.values()
    assert park.wakes_at >= until
    assert bench.run.ledger.windows == 0
    assert bench.run.accounts.view() == {}
    bench.pass_s(7300)
    assert resumed_by(bench) == "talk-1"
    assert bench.run.ledger.tasks["T-1"].retries_used == 0


def test_what_finished_before_it_could_be_parked_is_done(bench: Bench) -> None:
    """Its last word came first: there is nothing left to go on with."""
    begun(bench)
    bench.says(Finished(False))
    order(bench, "park", until=(bench.clock.now() + timedelta(hours=2)).isoformat())
    bench.ends(0)
    assert bench.state() is TaskState.COMPLETED


def test_a_park_is_woken_by_hand(bench: Bench) -> None:
    """At once, and its account with it."""
    begun(bench)
    hits(bench, "session_limit", wait_s=36_000)
    order(bench, "wake")
    assert len(bench.engine.begun) == 2
    assert resumed_by(bench) == "talk-1"


def test_a_park_that_a_death_cut_short_is_made_after_it(bench: Bench) -> None:
    """The act waits until the park is written: the next start ends the agent and parks it."""
    begun(bench)
    until = bench.clock.now() + timedelta(hours=2)
    act, job = order(bench, "park", until=until.isoformat()), bench.job
    assert bench.outcome(act).state is ActState.WAITING
    bench.start()
    bench.engine.became[job] = Alive()
    bench.recover()
    assert bench.engine.to_end == [job]
    bench.ends(143, job=job, is_ours=True)
    (park,) = bench.run.ledger.parks.values()
    assert park.wakes_at >= until
    assert bench.outcome(act).state is ActState.TAKEN


def test_an_order_for_a_task_that_does_not_run_is_told(bench: Bench) -> None:
    """Nothing happens to it, and it is said why."""
    begun(bench)
    act = order(bench, "wake", "T-1")
    assert bench.told("notice")
    assert "not parked" in (bench.outcome(act).reason or "")
    assert bench.engine.to_end == []
