"""How a run ended, and what follows: the agent's last word, its exit code, limits, stops."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kit.bench import CLAUDE, Bench
from segue.core.machines import RunState
from segue.core.plan import TaskState
from segue.dialects.events import (
    Asked,
    ConversationLost,
    Finished,
    LimitHit,
    Opened,
    Said,
    StepDone,
    Used,
)
from segue.engine import executors
from segue.engine.plan.beginning import go_on_with
from segue.work.project import Project

ONE = "- [ ] T-1: Build\n"
ONCE = "- [ ] T-1: Build\n  - retries: 0\n"
GOES_ON = "- [ ] T-1: Build\n  - resume: conversation\n  - retries: 1\n"
SHELL = "- [ ] T-1: Build\n  - run: make\n  - retries: 0\n  - agent: shell\n"
WELL = Finished(False, "all done")
BADLY = Finished(True, "the build is red", "error_during_execution")


def begun(bench: Bench, plan: str = ONE, **options: Any) -> Bench:
    bench.begin(plan, **options)
    bench.starts()
    bench.says(Opened("talk-1"))
    return bench


def resumed_by(bench: Bench) -> str | None:
    """The conversation that the last job goes on with."""
    argv = bench.engine.jobs[bench.job].argv
    return argv[argv.index("--resume") + 1] if "--resume" in argv else None


# --- the last word and the exit code ----------------------------------------------------------

ENDS: list[dict[str, Any]] = [
    {"code": 0},
    {"code": 1},
    {"code": 143},
    {"code": None, "signal": 9},
    {"code": None, "signal": 15, "is_ours": True},
    {"code": None, "error": "the process that held it was killed"},
]


@pytest.mark.parametrize("end", ENDS, ids=str)
def test_an_agent_that_said_it_is_done_is_done(bench: Bench, end: dict[str, Any]) -> None:
    """Its last word counts, whatever its process did then."""
    begun(bench, ONCE).says(Said("made it"), WELL)
    bench.ends(**end)
    assert bench.state() is TaskState.COMPLETED
    assert bench.mark() == "x"
    assert bench.run.ledger.tasks["T-1"].summary == "made it"


@pytest.mark.parametrize("end", ENDS, ids=str)
def test_an_agent_that_said_it_failed_failed(bench: Bench, end: dict[str, Any]) -> None:
    """An exit code of 0 does not make an error a success; its own words are the reason."""
    begun(bench, ONCE).says(Said("trying"), BADLY)
    bench.ends(**end)
    assert bench.state() is TaskState.FAILED
    (failed,) = bench.told("task_failed")
    assert failed["error"] == "the build is red"
    assert bench.mark() == "!"


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ({"code": 0}, "it ended without a final message"),
        ({"code": 3}, "exit code 3"),
        ({"code": None, "signal": 9}, "killed by signal 9"),
        ({"code": None, "error": "no such program"}, "no such program"),
    ],
    ids=str,
)
def test_an_agent_without_a_last_word_was_cut_off(
    bench: Bench, end: dict[str, Any], why: str
) -> None:
    """Also with an exit code of 0: that is what a turn that was interrupted ends with."""
    begun(bench, ONCE).says(Said("half-way"))
    bench.ends(**end)
    assert bench.state() is TaskState.FAILED
    assert bench.told("task_failed")[0]["error"] == f"{why}: half-way"


def test_of_several_last_words_the_last_one_counts(bench: Bench) -> None:
    """An agent can end one turn and begin another."""
    begun(bench, ONCE).says(BADLY, Said("again"), WELL)
    bench.ends()
    assert bench.state() is TaskState.COMPLETED


def test_at_its_last_word_an_agents_input_ends(bench: Bench) -> None:
    """Then it can end by itself; it is not killed for having finished."""
    begun(bench).says(WELL)
    assert bench.engine.input_ended == [bench.job]
    assert bench.engine.to_end == []


@pytest.mark.parametrize(("code", "state"), [(0, TaskState.COMPLETED), (1, TaskState.FAILED)])
def test_a_program_without_a_last_word_is_judged_by_its_exit_code(
    bench: Bench, code: int, state: TaskState
) -> None:
    """A command has no other way to say it."""
    bench.begin(SHELL)
    bench.starts()
    bench.says(Said("words"))
    bench.ends(code)
    assert bench.state() is state


def test_a_run_that_ends_before_it_was_seen_to_start_is_judged_like_any_other(
    bench: Bench,
) -> None:
    """The start and the end can come in one breath."""
    bench.begin(ONCE)
    bench.says(WELL)
    bench.ends()
    assert bench.state() is TaskState.COMPLETED
    assert bench.names().count("task_started") == 1


def test_what_is_heard_after_the_end_changes_nothing(bench: Bench) -> None:
    """A job that has ended has no more to say."""
    begun(bench, ONCE).says(WELL)
    job = bench.job
    bench.ends()
    before = list(bench.events)
    bench.says(Said("a ghost"), Asked("really?"), job=job)
    bench.ends(1, job=job)
    assert bench.events == before
    assert bench.state() is TaskState.COMPLETED


# --- claimed and verified ---------------------------------------------------------------------


def test_what_is_claimed_is_verified(bench: Bench) -> None:
    """A check follows the agent's word; only its exit code completes the task."""
    begun(bench, "- [ ] T-1: Build\n  - verify: make check\n  - retries: 0\n").says(WELL)
    bench.ends()
    assert bench.state() is TaskState.IN_PROGRESS
    check = bench.engine.jobs[bench.job]
    assert check.argv == ("/bin/sh", "-c", "make check")
    assert ".verify-" in check.id
    bench.says(StepDone(1), Asked("?"), Finished(False), LimitHit("rate_limit"))
    bench.ends(0)
    assert bench.state() is TaskState.COMPLETED
    assert bench.run.ledger.gates == {}


def test_a_failed_check_fails_the_try_whatever_the_agent_said(bench: Bench) -> None:
    """The agent claimed success; the evidence says otherwise, and is kept."""
    begun(bench, "- [ ] T-1: Build\n  - verify: make check\n  - retries: 0\n").says(WELL)
    bench.ends()
    bench.says(Said("2 failed"))
    bench.ends(1)
    assert bench.state() is TaskState.FAILED
    error = bench.told("task_failed")[0]["error"]
    assert "verify failed (exit code 1)" in error
    kept = list(Project(bench.root).evidence.glob("*.json"))
    assert len(kept) == 1


# --- trying again -----------------------------------------------------------------------------


def test_a_failed_try_is_followed_by_another_from_the_beginning(bench: Bench) -> None:
    """A retry is used up; the next try is told of the error and has a conversation of its own."""
    begun(bench).says(Said("trying"), BADLY)
    first = bench.job
    bench.ends(1)
    assert bench.job != first
    assert bench.told("task_retrying")[0]["retry"] == 1
    assert resumed_by(bench) is None
    assert "the build is red" in bench.prompt()
    assert bench.engine.jobs[bench.job].env["SEGUE_ATTEMPT"] == "2"
    assert "SEGUE_RESUME" not in bench.engine.jobs[bench.job].env
    assert bench.row(first).state is RunState.FAILED


def test_a_task_that_asks_for_it_goes_on_where_it_was_cut_off(bench: Bench) -> None:
    """`resume: conversation`: a try without a last word is gone on with, as another try."""
    begun(bench, GOES_ON).says(Said("half-way"))
    bench.ends(None, signal=9)
    assert resumed_by(bench) == "talk-1"
    job = bench.engine.jobs[bench.job]
    assert (job.env["SEGUE_ATTEMPT"], job.env["SEGUE_RESUME"]) == ("2", "1")
    assert bench.run.ledger.tasks["T-1"].retries_used == 1


def test_a_conversation_that_went_wrong_is_not_gone_on_with(bench: Bench) -> None:
    """An agent that ended its turn with an error begins again, also with `resume:`."""
    begun(bench, GOES_ON).says(BADLY)
    bench.ends(1)
    assert resumed_by(bench) is None
    assert "the build is red" in bench.prompt()


def test_without_a_known_conversation_a_cut_off_try_begins_again(bench: Bench) -> None:
    """It died before it had named one."""
    bench.begin(GOES_ON)
    bench.starts()
    bench.ends(None, signal=9)
    assert resumed_by(bench) is None


@pytest.mark.parametrize(("plan", "ticked"), [("conversation", True), ("restart", False)])
def test_steps_stay_ticked_only_where_the_conversation_goes_on(
    bench: Bench, plan: str, ticked: bool
) -> None:
    """What begins again has done no step yet."""
    text = f"- [ ] T-1: Build\n  - resume: {plan}\n  - steps:\n    - [ ] one\n    - [ ] two\n"
    begun(bench, text).says(StepDone(1))
    assert "- [x] one" in (bench.root / "PLAN.md").read_text()
    bench.ends(1)
    assert ("- [x] one" in (bench.root / "PLAN.md").read_text()) is ticked


def test_a_timeout_is_a_failed_try(bench: Bench) -> None:
    """It is told with its time, not with the signal that ended it."""
    begun(bench, "- [ ] T-1: Build\n  - timeout: 5m\n  - retries: 0\n")
    deadline = bench.engine.jobs[bench.job].deadline
    assert deadline == bench.clock.now() + timedelta(minutes=5)
    bench.ends(None, signal=15, is_ours=True, timed_out=True)
    assert "timed out after 5m" in bench.told("task_failed")[0]["error"]


# --- limits -----------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ENDS, ids=str)
@pytest.mark.parametrize("word", [BADLY, None], ids=["error", "no word"])
def test_a_limit_parks_however_the_process_ends(
    bench: Bench, end: dict[str, Any], word: Finished | None
) -> None:
    """No retry is used, and at its instant it goes on in the same conversation."""
    resets_at = bench.clock.now() + timedelta(hours=1)
    begun(bench, ONCE).says(LimitHit("session_limit", resets_at), *([word] if word else []))
    bench.ends(**end)
    assert bench.state() is TaskState.IN_PROGRESS
    assert bench.mark() == "~"
    assert bench.run.ledger.tasks["T-1"].retries_used == 0
    (parked,) = bench.told("task_parked")
    assert (parked["kind"], parked["account"]) == ("session_limit", "claude")
    assert bench.engine.wakes_at == resets_at + timedelta(seconds=5)
    assert len(bench.engine.begun) == 1
    bench.pass_s(3606)
    assert len(bench.engine.begun) == 2
    assert resumed_by(bench) == "talk-1"
    assert "continue" in bench.prompt()
    assert bench.told("task_resumed")[0]["after"] == "park"


def test_a_limit_that_the_agent_got_over_by_itself_is_none(bench: Bench) -> None:
    """It waited inside its process and finished."""
    begun(bench, ONCE).says(LimitHit("rate_limit"), Said("on"), WELL)
    bench.ends()
    assert bench.state() is TaskState.COMPLETED
    assert bench.run.ledger.parks == {}


@pytest.mark.parametrize("kind", ["billing", "auth"])
def test_a_limit_that_needs_a_person_ends_the_agent_and_asks(bench: Bench, kind: str) -> None:
    """Waiting does not help; being started again is the answer, in the same conversation."""
    begun(bench, ONCE).says(LimitHit(kind, text="Credit balance is too low"))
    assert bench.engine.to_end == [bench.job], "that it tries on by itself cannot help"
    bench.ends(143, is_ours=True)
    (gate,) = bench.told("gate_opened")
    assert "Credit balance is too low" in gate["text"]
    assert bench.state() is TaskState.IN_PROGRESS
    bench.start()
    bench.recover()
    assert resumed_by(bench) == "talk-1"
    assert bench.run.ledger.gates == {}


# --- stopping ---------------------------------------------------------------------------------


def test_a_stop_keeps_the_place(bench: Bench) -> None:
    """What Segue ended itself has neither failed nor used a try; its mark stays."""
    begun(bench)
    first = bench.job
    bench.stop()
    assert bench.engine.to_end == [first]
    bench.ends(143, is_ours=True)
    assert bench.row(first).state is RunState.CUT_OFF
    assert bench.mark() == "~"
    assert bench.driver.is_over()


def test_what_finished_while_it_was_stopped_is_kept(bench: Bench) -> None:
    """Its last word came first: it is done, not cut off."""
    begun(bench)
    bench.stop()
    bench.says(WELL)
    bench.ends(143, is_ours=True)
    assert bench.state() is TaskState.COMPLETED


def test_what_failed_by_itself_during_a_stop_is_not_tried_again_now(bench: Bench) -> None:
    """Nothing new begins; the next start goes on."""
    begun(bench)
    bench.stop()
    bench.ends(1)
    assert len(bench.engine.begun) == 1
    assert bench.state() is TaskState.IN_PROGRESS


@pytest.mark.parametrize(
    ("plan", "talk"),
    [(ONE, "talk-1"), (GOES_ON, "talk-1"), (ONE + "  - resume: fresh\n", None)],
)
def test_the_next_start_after_a_stop(bench: Bench, plan: str, talk: str | None) -> None:
    """A cut-off task begins again in its conversation, goes on in it, or begins in a new one."""
    begun(bench, plan)
    bench.stop()
    bench.ends(143, is_ours=True)
    bench.start()
    bench.recover()
    assert resumed_by(bench) == talk
    assert bench.engine.jobs[bench.job].env["SEGUE_ATTEMPT"] == "1"


# --- questions --------------------------------------------------------------------------------


def test_an_agent_that_asks_is_ended_and_goes_on_with_the_answer(bench: Bench) -> None:
    """In the same conversation, with the answer as its prompt, whatever word it ended with."""
    begun(bench).says(Asked("Which database?", ("PostgreSQL", "SQLite")), WELL)
    assert bench.engine.to_end == [bench.job]
    bench.ends(143, is_ours=True)
    (gate,) = bench.run.ledger.gates.values()
    assert (gate.text, gate.options) == ("Which database?", ("PostgreSQL", "SQLite"))
    assert len(bench.engine.begun) == 1
    go_on_with(bench.run, gate, "SQLite")
    bench.turn()
    assert resumed_by(bench) == "talk-1"
    assert '"content": "SQLite\\n"' in bench.prompt()


# --- conversations that are lost --------------------------------------------------------------


def test_a_lost_conversation_begins_afresh_with_what_is_known_of_it(bench: Bench) -> None:
    """No retry is used; the new one is told where the old one was."""
    begun(bench, ONCE).says(LimitHit("rate_limit", wait_s=10))
    log = bench.run.job_factory.log(bench.attempt.run)
    said = (
        '{"type":"assistant","message":{"content":[{"type":"text","text":"the schema is made"}]}}'
    )
    log.write_text(said + "\n")
    bench.ends(1)
    bench.pass_s(16)
    assert resumed_by(bench) == "talk-1"
    bench.starts()
    bench.says(ConversationLost("No conversation found with session ID: talk-1"))
    bench.says(Finished(True, "No conversation found with session ID: talk-1"))
    bench.ends(1)
    (lost,) = bench.told("conversation_lost")
    assert lost["conversation"] == "talk-1"
    assert resumed_by(bench) is None
    assert "the schema is made" in bench.prompt()
    assert "# T-1: Build" in bench.prompt()
    assert bench.run.ledger.tasks["T-1"].retries_used == 0
    assert bench.state() is TaskState.IN_PROGRESS


def test_the_answer_to_a_lost_conversation_is_not_lost(bench: Bench) -> None:
    """What a person said is told to the new one."""
    begun(bench, ONCE).says(Asked("Which database?"))
    bench.ends(143, is_ours=True)
    (gate,) = bench.run.ledger.gates.values()
    go_on_with(bench.run, gate, "SQLite, please")
    bench.turn()
    bench.starts()
    bench.says(ConversationLost("gone"))
    bench.ends(1)
    assert resumed_by(bench) is None
    assert "SQLite, please" in bench.prompt()


def test_a_first_run_cannot_lose_a_conversation(bench: Bench) -> None:
    """A program that says so without having been given one has failed; nothing goes round."""
    begun(bench, ONCE).says(ConversationLost("gone"))
    bench.ends(1)
    assert bench.state() is TaskState.FAILED
    assert bench.told("conversation_lost") == []


def test_a_new_conversation_is_not_taken_for_the_lost_one(bench: Bench) -> None:
    """The run that begins afresh names its own; that one is gone on with from then on."""
    begun(bench, ONCE).says(LimitHit("rate_limit", wait_s=10))
    bench.ends(1)
    bench.pass_s(16)
    bench.starts()
    bench.says(ConversationLost("gone"))
    bench.ends(1)
    bench.starts()
    bench.says(Opened("talk-2"), LimitHit("rate_limit", wait_s=10))
    bench.ends(1)
    bench.pass_s(16)
    assert resumed_by(bench) == "talk-2"


# --- what it cost -----------------------------------------------------------------------------


def test_usage_is_summed_over_the_runs_of_a_task(bench: Bench) -> None:
    """In one run the last report counts; over a park the runs add up."""
    begun(bench, ONCE).says(Used(10, 1, 0.1), Used(100, 10, 0.5), LimitHit("rate_limit", wait_s=10))
    bench.ends(1)
    bench.pass_s(16)
    bench.starts()
    bench.says(Used(1000, 100, 0.25), WELL)
    bench.ends(0)
    usage = bench.told("task_completed")[0]["usage"]
    assert usage == {"input_tokens": 1100, "output_tokens": 110, "cost_usd": 0.75}
    assert bench.run.ledger.cost_usd == pytest.approx(0.75)


def test_a_failed_run_has_its_cost_too(bench: Bench) -> None:
    """Money that was spent for nothing was spent."""
    begun(bench, ONCE).says(Used(10, 1, 0.1), BADLY)
    bench.ends(1)
    assert bench.run.ledger.usage()["cost_usd"] == pytest.approx(0.1)


def test_another_agents_account_is_not_parked(bench: Bench) -> None:
    """A limit parks the account it applies to; tasks of others start."""
    bench.settings(CLAUDE + '[agents.other]\nkind = "claude"\ncommand = ["./claude"]\n')
    bench.begin("- [ ] T-1: a\n- [ ] T-2: b\n- [ ] T-3: c\n  - agent: other\n- [ ] T-4: d\n")
    first, second = bench.engine.begun
    for job in (first, second):
        bench.starts(job)
    bench.says(LimitHit("session_limit", wait_s=3600), job=first)
    bench.ends(1, job=first)
    begun_now = [bench.engine.jobs[job].env["SEGUE_TASK"] for job in bench.engine.begun]
    assert begun_now == ["T-1", "T-2", "T-3"]


# --- cut off, not failed ------------------------------------------------------------------------

CUTS: list[dict[str, Any]] = [
    {"code": None, "signal": 15, "is_ours": True},
    {"code": 143, "is_ours": True},
    {"code": 1, "is_ours": True},
    {"code": None, "signal": 1},
]


@pytest.mark.parametrize("end", CUTS, ids=str)
def test_an_agent_that_a_dying_segue_ended_has_used_no_try(
    bench: Bench, end: dict[str, Any]
) -> None:
    """Its end was never settled: the next start begins the task again with all its tries."""
    begun(bench, SHELL)
    job = bench.job
    bench.start()
    bench.engine.became[job] = executors.Finished()
    bench.recover()
    bench.ends(job=job, **end)
    assert bench.mark() == "~"
    assert bench.told("task_failed") == []
    assert bench.job != job
    assert bench.run.ledger.tasks["T-1"].retries_used == 0


@pytest.mark.parametrize("end", CUTS, ids=str)
def test_a_check_that_a_dying_segue_ended_is_made_again(bench: Bench, end: dict[str, Any]) -> None:
    """What was done is neither failed nor done again for it."""
    begun(bench, SHELL + "  - verify: make test\n")
    bench.ends(0)
    check = bench.job
    bench.start()
    bench.engine.became[check] = executors.Finished()
    bench.recover()
    bench.ends(job=check, **end)
    assert bench.told("task_failed") == []
    assert bench.job != check
    bench.ends(0)
    assert bench.mark() == "x"


# --- the keeper dies ----------------------------------------------------------------------------


def test_the_death_of_a_keeper_uses_no_try(bench: Bench) -> None:
    """Something killed it, not the agent: the task begins again and is told so."""
    begun(bench, ONE + "  - retries: 0\n")
    bench.ends(None, error="killed", keeper_died=True)
    assert bench.state() is TaskState.IN_PROGRESS
    assert bench.told("task_restarted")
    assert "interrupted" in bench.prompt()
    assert bench.engine.jobs[bench.job].env["SEGUE_ATTEMPT"] == "1"


def test_keepers_that_die_again_and_again_are_a_failure(bench: Bench) -> None:
    """The task may be the reason: it does not go on for ever."""
    begun(bench, ONE + "  - retries: 0\n")
    for _time in range(3):
        bench.ends(None, error="killed", keeper_died=True)
        bench.starts()
    bench.ends(None, error="killed", keeper_died=True)
    assert bench.state() is TaskState.FAILED


def test_a_check_whose_keeper_died_is_made_again(bench: Bench) -> None:
    """Nobody knows what came out of it."""
    begun(bench, ONE + "  - retries: 0\n  - verify: make\n")
    bench.says(Finished(False))
    bench.ends(0)
    first = bench.job
    bench.ends(None, job=first, error="killed", keeper_died=True)
    assert bench.job != first
    bench.ends(0)
    assert bench.state() is TaskState.COMPLETED
