"""What an agent reports about itself while it works on a task of a plan, and what follows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kit.bench import Bench
from segue.core.machines import RunState
from segue.core.plan import TaskState
from segue.dialects.events import (
    Asked,
    BlockUnclosed,
    DependencyAsked,
    ErrorReported,
    Event,
    Finished,
    Garbled,
    LimitHit,
    Opened,
    PhaseDone,
    TaskDone,
    ToolUsed,
)
from segue.engine.plan.beginning import go_on_with
from segue.store.rows import GateRow

ONCE = "- [ ] T-1: Build\n  - retries: 0\n"
WELL = Finished(False, "all done")
FATAL = ErrorReported("fatal", "no disk", "checkpoint_and_fail")
PAUSE = ErrorReported("recoverable", "busy", "pause_and_retry")


@pytest.fixture
def begun(bench: Bench) -> Bench:
    bench.begin(ONCE)
    bench.starts()
    bench.says(Opened("talk-1"))
    return bench


def gate_of(bench: Bench) -> GateRow:
    [gate] = bench.run.ledger.gates.values()
    return gate


@pytest.mark.parametrize("event", [PhaseDone(1), PhaseDone(), TaskDone()])
def test_a_task_of_a_plan_has_no_phases(begun: Bench, event: Event) -> None:
    """A completion is the agent's word, and the plan has its own end of a run."""
    begun.says(event)
    assert begun.engine.to_end == []
    begun.says(WELL)
    begun.ends(0)
    assert begun.state() is TaskState.COMPLETED


@pytest.mark.parametrize(
    "told", [FATAL, ErrorReported("recoverable", "no disk", "checkpoint_and_fail")]
)
def test_a_fatal_error_is_why_the_run_failed(begun: Bench, told: ErrorReported) -> None:
    """The agent is ended, its words are the error, and a good end behind them changes nothing."""
    begun.says(told)
    assert begun.engine.to_end == [begun.job]
    begun.says(WELL)
    begun.ends(0)
    assert begun.state() is TaskState.FAILED
    [failed] = begun.told("task_failed")
    assert failed["error"] == "no disk"


def test_an_error_to_be_waited_out_parks(begun: Bench) -> None:
    """Without a time in its words it goes on after half a minute, in its conversation, and that
    it ended well meanwhile does not complete the task."""
    first = begun.job
    begun.says(PAUSE)
    assert begun.engine.to_end == [first]
    begun.says(WELL)
    begun.ends(0)
    assert begun.row(first).state is RunState.PARKED
    [parked] = begun.told("task_parked")
    assert (parked["kind"], parked["why"]) == ("unknown", "busy")
    begun.pass_s(29)
    assert begun.job == first
    begun.pass_s(1)
    assert begun.job != first
    assert "talk-1" in begun.engine.jobs[begun.job].argv


def test_an_error_says_itself_how_long_it_lasts(begun: Bench) -> None:
    """A time in the message is waited for."""
    first = begun.job
    begun.says(
        ErrorReported("recoverable", "rate limited, try again in 5 minutes", "pause_and_retry")
    )
    begun.ends(0)
    begun.pass_s(290)
    assert begun.job == first
    begun.pass_s(30)
    assert begun.job != first


def test_an_error_says_itself_which_limit_it_is(begun: Bench) -> None:
    """In words that are nobody's banner: its window counts."""
    begun.says(
        ErrorReported("recoverable", "rate limit, retry after 90 seconds", "pause_and_retry")
    )
    begun.ends(0)
    [parked] = begun.told("task_parked")
    assert parked["kind"] == "rate_limit"


def test_an_agent_that_goes_on_working_is_not_parked(begun: Bench) -> None:
    """It got over the error by itself before it was stopped."""
    begun.says(PAUSE, ToolUsed("Bash", "ls"), WELL)
    begun.ends(0)
    assert begun.state() is TaskState.COMPLETED


def test_figures_of_a_limit_stay(begun: Bench) -> None:
    """The words of an error do not take the place of an instant that is known."""
    begun.says(LimitHit("unknown", wait_s=600.0, text="told"), PAUSE)
    begun.ends(1)
    [parked] = begun.told("task_parked")
    assert parked["why"] == "told"


def test_figures_stay_whatever_kind_of_limit_the_words_are_about(begun: Bench) -> None:
    """An overload that names no time does not shorten a wait that is known."""
    begun.says(LimitHit("session_limit", wait_s=600.0), LimitHit("overloaded", text="529"))
    begun.ends(1)
    [parked] = begun.told("task_parked")
    assert parked["kind"] == "session_limit"


def test_an_error_for_people_is_told(begun: Bench) -> None:
    """The agent goes on, and its words are among its last ones."""
    begun.says(ErrorReported("recoverable", "no colours\nhere", "notify_user"))
    assert begun.engine.to_end == []
    assert begun.told("notice") == [{"text": "T-1: no colours\nhere"}]
    assert list(begun.attempt.lines) == ["no colours", "here"]


@pytest.mark.parametrize(("required", "preset"), [(True, None), (False, "continue without it")])
def test_a_dependency_is_a_gate(begun: Bench, required: bool, preset: str | None) -> None:
    """A person provides it elsewhere and says so: there is no place to type a secret into."""
    begun.says(DependencyAsked("api_key", "STRIPE_KEY", "for payments", required, "sk-none"))
    assert begun.engine.to_end == [begun.job]
    begun.ends(0)
    gate = gate_of(begun)
    assert gate.category == "dependency"
    assert gate.text.startswith("STRIPE_KEY (api_key): for payments\n")
    assert gate.options == ("it is available now", "continue without it")
    assert gate.preset == preset
    go_on_with(begun.run, gate, "it is available now")
    begun.turn()
    assert "it is available now" in begun.prompt()


@pytest.mark.parametrize("answer", ["it is available now", "continue without it"])
def test_what_was_provided_is_in_its_environment(begun: Bench, answer: str) -> None:
    """A variable that Segue was started with reaches the agent once a person says so, masked."""
    shop = begun.run.job_factory
    environ = {**shop.environ, "STRIPE_KEY": "sk-live-1234", "OTHER": "x"}
    begun.run.job_factory = replace(shop, environ=environ)
    begun.says(DependencyAsked("api_key", "STRIPE_KEY"))
    begun.ends(0)
    gate = gate_of(begun)
    assert gate.kind == "dependency"
    go_on_with(begun.run, gate, answer)
    begun.turn()
    job = begun.engine.jobs[begun.job]
    given = ("sk-live-1234", ("sk-live-1234",)) if answer == "it is available now" else (None, ())
    assert (job.env.get("STRIPE_KEY"), job.masks) == given
    assert "OTHER" not in job.env
    check = begun.run.job_factory.verify_job(begun.run.jobs[begun.job], None)
    assert "STRIPE_KEY" not in check.env, "who is checked has no say in the check's environment"


def test_the_first_question_counts(begun: Bench) -> None:
    """What is asked behind a dependency is asked again when the agent goes on."""
    begun.says(DependencyAsked("file", "a.csv"), Asked("Which?"))
    begun.ends(0)
    assert gate_of(begun).text.startswith("a.csv (file)\n")


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (BlockUnclosed("USER_QUESTION", 9), "USER_QUESTION was never closed"),
        (Garbled(9, "ERROR: it has no message"), "(ERROR: it has no message)"),
    ],
)
def test_what_does_not_count_is_told(begun: Bench, event: Event, says: str) -> None:
    """People can see that an agent wanted to say something."""
    begun.says(event)
    [notice] = begun.told("notice")
    assert says in notice["text"]
    begun.says(Garbled(9))
    assert len(begun.told("notice")) == 1, "bytes are in the log"
