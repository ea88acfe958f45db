"""Agents that say nothing: when they are looked at, when they are ended, and when not."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kit.bench import CLAUDE, Bench
from segue.core.plan import TaskState
from segue.dialects.events import Finished, Garbled, LimitHit, Opened, Retrying, Said
from segue.engine.executors import Alive, Look, Started

ONE = "- [ ] T-1: Build\n  - retries: 0\n"
BOUND = '[recovery]\nsilence_after = "10m"\nsilence_max = "1h"\n'


def begun(bench: Bench, settings: str = "", plan: str = ONE) -> Bench:
    bench.settings(CLAUDE + settings)
    bench.begin(plan)
    bench.starts()
    return bench


def in_s(bench: Bench) -> float | None:
    """How long the engine is to sleep."""
    at = bench.engine.wakes_at
    return None if at is None else (at - bench.clock.now()).total_seconds()


def test_an_agent_is_looked_at_when_it_has_been_silent_for_long(bench: Bench) -> None:
    """At the very instant, not before; it is told once, and nothing is ended by guess."""
    begun(bench)
    assert in_s(bench) == 600
    bench.pass_s(599)
    assert bench.told("task_silent") == []
    assert in_s(bench) == 1
    bench.pass_s(1)
    (silent,) = bench.told("task_silent")
    assert silent["seconds"] == 600
    assert (silent["is_alive"], silent["processes"]) == (True, ["claude", "sh"])
    assert (silent["stopped"], silent["connections"]) == (0, 1)
    assert in_s(bench) is None, "without a bound there is nothing more to wait for"
    bench.pass_s(100_000)
    assert len(bench.told("task_silent")) == 1
    assert bench.engine.to_end == []


@pytest.mark.parametrize(
    "event",
    [Said("word"), Opened("talk-1"), Retrying(1), LimitHit("rate_limit"), Garbled(3)],
    ids=lambda event: type(event).__name__,
)
def test_every_word_begins_the_silence_anew(bench: Bench, event: Said) -> None:
    """Whatever is heard shows that it lives, also what is not understood."""
    begun(bench)
    bench.pass_s(599)
    bench.says(event)
    assert in_s(bench) == 600
    bench.pass_s(599)
    assert bench.told("task_silent") == []
    bench.pass_s(1)
    assert len(bench.told("task_silent")) == 1


def test_a_second_silence_is_told_again(bench: Bench) -> None:
    """It spoke in between."""
    begun(bench)
    bench.pass_s(600)
    bench.says(Said("still here"))
    bench.pass_s(600)
    assert len(bench.told("task_silent")) == 2


def test_one_whose_process_is_gone_is_told_so(bench: Bench) -> None:
    """A look that finds nothing is told as that."""
    begun(bench)
    bench.engine.seen = None
    bench.pass_s(600)
    (silent,) = bench.told("task_silent")
    assert (silent["is_alive"], silent["processes"], silent["connections"]) == (False, [], 0)


def test_one_that_stands_still_is_told_so(bench: Bench) -> None:
    """Somebody stopped it."""
    begun(bench)
    bench.engine.seen = Look(("claude",), 1, 0)
    bench.pass_s(600)
    assert bench.told("task_silent")[0]["stopped"] == 1


def test_past_its_bound_an_agent_is_ended_and_goes_on_in_its_conversation(bench: Bench) -> None:
    """Only where somebody set a bound; it is a failed try, and what it knew is not lost."""
    begun(bench, BOUND, "- [ ] T-1: Build\n  - retries: 1\n")
    bench.says(Opened("talk-1"))
    bench.pass_s(600)
    assert in_s(bench) == 3000
    bench.pass_s(2999)
    assert bench.engine.to_end == []
    bench.pass_s(1)
    assert bench.engine.to_end == [bench.job]
    assert in_s(bench) is None, "it is being ended: no more to be seen to"
    bench.pass_s(1)
    assert bench.engine.to_end == [bench.job], "asked once"
    bench.ends(143, is_ours=True)
    (again,) = bench.told("task_retrying")
    assert "it printed nothing for too long" in again["error"]
    argv = bench.engine.jobs[bench.job].argv
    assert argv[argv.index("--resume") + 1] == "talk-1"
    assert "You were interrupted before you finished" in bench.prompt()


def test_a_word_at_the_last_moment_saves_it(bench: Bench) -> None:
    """Silence is counted from the last word, also after it was told."""
    begun(bench, BOUND)
    bench.pass_s(3599)
    assert len(bench.told("task_silent")) == 1
    bench.says(Said("phew"))
    bench.pass_s(599)
    assert bench.engine.to_end == []
    assert in_s(bench) == 1


def test_an_agents_own_bounds_win_over_the_general_ones(bench: Bench) -> None:
    """A slow agent can be given more time, a quick one less."""
    begun(bench, 'silence_after = "5s"\nsilence_max = 20\n' + BOUND)
    bench.pass_s(5)
    assert len(bench.told("task_silent")) == 1
    bench.pass_s(15)
    assert bench.engine.to_end == [bench.job]
    bench.ends(143, is_ours=True)
    assert "it printed nothing for too long (20s)" in bench.told("task_failed")[0]["error"]


def test_a_bound_below_the_first_look_is_a_bound(bench: Bench) -> None:
    """`silence_max = "1m"` alone ends it after a minute, not after the ten of the first look."""
    begun(bench, '[recovery]\nsilence_max = "1m"\n')
    assert in_s(bench) == 60
    bench.pass_s(60)
    bench.pass_s(0)
    assert bench.engine.to_end == [bench.job]


def test_one_that_finished_and_does_not_end_is_ended(bench: Bench) -> None:
    """Half a minute after its last word; that counts, and it is not told as a silence."""
    begun(bench)
    bench.says(Finished(False, "done"))
    assert in_s(bench) == 30
    bench.pass_s(29)
    assert bench.engine.to_end == []
    bench.pass_s(1)
    assert bench.engine.to_end == [bench.job]
    assert bench.told("task_silent") == []
    bench.ends(143, is_ours=True)
    assert bench.state() is TaskState.COMPLETED


def test_the_nearest_of_several_is_waited_for(bench: Bench) -> None:
    """One timer serves all; each is told of at its own instant."""
    bench.begin("- [ ] T-1: a\n- [ ] T-2: b\n")
    first, second = bench.engine.begun
    bench.starts(second)
    bench.pass_s(100)
    bench.starts(first)
    assert in_s(bench) == 500
    bench.pass_s(500)
    assert [silent["task"] for silent in bench.told("task_silent")] == ["T-2"]
    assert in_s(bench) == 100
    bench.pass_s(100)
    assert [silent["task"] for silent in bench.told("task_silent")] == ["T-2", "T-1"]


def test_a_park_that_ends_before_is_waited_for_first(bench: Bench) -> None:
    """Silences do not hide parks, nor the other way round."""
    bench.settings(CLAUDE + '[agents.other]\nkind = "claude"\ncommand = ["./claude"]\n')
    bench.begin("- [ ] T-1: a\n- [ ] T-2: b\n  - agent: other\n")
    first, second = bench.engine.begun
    for job in (first, second):
        bench.starts(job)
    bench.says(LimitHit("rate_limit", wait_s=100), job=first)
    bench.ends(1, job=first)
    assert in_s(bench) == 105
    bench.says(LimitHit("rate_limit", wait_s=5000), job=second)
    bench.pass_s(105)
    bench.starts()
    assert in_s(bench) == 495, "the silence of the other"


def test_a_check_has_no_silence(bench: Bench) -> None:
    """A long build says nothing; its time is the task's timeout."""
    begun(bench, BOUND, "- [ ] T-1: Build\n  - verify: make\n  - retries: 0\n")
    bench.says(Finished(False))
    bench.ends(0)
    bench.happens(Started(bench.job))
    assert in_s(bench) is None
    bench.pass_s(10_000)
    assert bench.told("task_silent") == []
    assert bench.engine.to_end == []


def test_one_that_has_not_started_is_not_silent_yet(bench: Bench) -> None:
    """Before its process runs there is nobody to listen to."""
    bench.begin(ONE)
    assert in_s(bench) is None


def test_time_that_stood_still_is_no_silence(bench: Bench) -> None:
    """After Ctrl-Z and `fg` everyone's silence begins anew."""
    begun(bench)
    bench.driver.pause()
    assert bench.engine.paused == [bench.job]
    bench.clock.pass_s(5000)
    bench.driver.go_on()
    bench.turn()
    assert bench.engine.paused == []
    assert bench.told("task_silent") == []
    assert in_s(bench) == 600


def test_an_adopted_run_is_listened_to_from_its_adoption_on(bench: Bench) -> None:
    """Nobody knows how long it was silent before."""
    begun(bench)
    job = bench.job
    bench.start()
    bench.engine.became[job] = Alive()
    bench.clock.pass_s(5000)
    bench.recover()
    bench.happens(Started(job, is_adopted=True))
    assert bench.engine.wakes_at == bench.clock.now() + timedelta(seconds=600)
