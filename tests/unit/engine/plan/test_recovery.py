"""The next start: what became of runs whose supervisor died."""

from __future__ import annotations

import asyncio
import json
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
)
from segue.engine import executors
from segue.engine.executors import Alive, Ended, Heard, NeverStarted, Started
from segue.engine.plan import recovery
from segue.engine.plan.beginning import go_on_with
from segue.engine.plan.recovery import PARKS_TOLD_MAX
from segue.engine.said import heard_before
from segue.work.project import Project

ONE = "- [ ] T-1: Build\n"
GOES_ON = "- [ ] T-1: Build\n  - resume: conversation\n"


def line(**told: object) -> str:
    return json.dumps(told) + "\n"


def assistant(text: str) -> str:
    return line(
        type="assistant",
        session_id="talk-log",
        message={"content": [{"type": "text", "text": text}]},
    )


RESULT = line(
    type="result",
    subtype="success",
    is_error=False,
    session_id="talk-log",
    total_cost_usd=0.5,
    usage={"input_tokens": 7, "output_tokens": 3},
)


def resumed_by(bench: Bench) -> str | None:
    argv = bench.engine.jobs[bench.job].argv
    return argv[argv.index("--resume") + 1] if "--resume" in argv else None


def died(bench: Bench, plan: str, became: executors.Recovered | None = None, log: str = "") -> str:
    """Segue dies while a run is under way; the next one has started. The run that it was."""
    bench.begin(plan)
    bench.starts()
    job = bench.job
    bench.run.job_factory.log(bench.attempt.run).write_text(log)
    bench.run.ledger.commit()
    bench.clock.pass_s(1)
    bench.turn()
    bench.start()
    if became is not None:
        bench.engine.became[job] = became
    bench.recover()
    return job


def test_a_run_that_still_lives_is_followed_on(bench: Bench) -> None:
    """Nothing is started twice; its end is judged as usual."""
    job = died(bench, ONE, Alive())
    assert bench.told("run_adopted")[0]["run"] == job
    assert bench.engine.begun == []
    bench.happens(Started(job, is_adopted=True))
    bench.says(Said("on"), Finished(False), job=job)
    bench.ends(0, job=job)
    assert bench.state() is TaskState.COMPLETED


def test_a_run_that_ended_meanwhile_is_judged_by_what_it_left(bench: Bench) -> None:
    """Its events and its end come as if they came now."""
    job = died(bench, ONE, executors.Finished())
    assert bench.engine.begun == []
    bench.says(Finished(False), job=job)
    bench.ends(0, job=job)
    assert bench.state() is TaskState.COMPLETED


@pytest.mark.parametrize("end", [{"code": None, "signal": 9}, {"code": 143}])
def test_a_run_that_was_killed_meanwhile_was_cut_off(bench: Bench, end: dict[str, Any]) -> None:
    """As when a machine goes down: nobody failed, it begins again and no try is used up."""
    job = died(bench, ONE + "  - retries: 0\n", executors.Finished())
    bench.ends(job=job, **end)
    assert bench.row(job).state is RunState.CUT_OFF
    assert bench.engine.jobs[bench.job].env["SEGUE_ATTEMPT"] == "1"
    assert bench.told("task_restarted")


def test_a_run_that_failed_meanwhile_has_failed(bench: Bench) -> None:
    """Its own exit code is its own."""
    job = died(bench, ONE + "  - retries: 0\n", executors.Finished())
    bench.ends(1, job=job)
    assert bench.state() is TaskState.FAILED


def test_a_cut_off_task_begins_again(bench: Bench) -> None:
    """A new agent cannot know half a step: afresh, with no try used up."""
    job = died(bench, ONE)
    assert bench.row(job).state is RunState.CUT_OFF
    assert resumed_by(bench) is None
    assert bench.engine.jobs[bench.job].env["SEGUE_ATTEMPT"] == "1"
    assert bench.told("task_restarted")


def test_a_cut_off_task_that_asks_for_it_goes_on_in_its_conversation(bench: Bench) -> None:
    """Its supervisor died before it could note the name: the log has it."""
    job = died(bench, GOES_ON, log=assistant("half-way"))
    assert bench.row(job).resume_id == "talk-log"
    assert resumed_by(bench) == "talk-log"
    assert bench.told("task_resumed")[0]["after"] == "cut off"
    assert bench.told("task_restarted") == []


def test_a_task_without_a_conversation_cannot_go_on_in_it(bench: Bench) -> None:
    """It died before it said anything: it begins again, also with `resume:`."""
    died(bench, GOES_ON)
    assert resumed_by(bench) is None
    assert bench.told("task_restarted")


def test_what_a_cut_off_run_had_used_is_not_forgotten(bench: Bench) -> None:
    """Tokens and cost are in its log."""
    died(bench, ONE, log=assistant("half-way") + RESULT)
    assert bench.run.ledger.cost_usd == pytest.approx(0.5)
    assert bench.run.ledger.usage()["input_tokens"] == 7


def test_the_steps_of_a_task_that_goes_on_stay_ticked(bench: Bench) -> None:
    """Those of one that begins again do not."""
    for resume, ticked in (("conversation", True), ("restart", False)):
        plan = f"- [ ] T-1: a\n  - resume: {resume}\n  - steps:\n    - [ ] one\n"
        bench.begin(plan)
        bench.starts()
        bench.says(Opened("talk-1"), StepDone(1))
        bench.start()
        bench.recover()
        assert ("- [x] one" in (bench.root / "PLAN.md").read_text()) is ticked
        (bench.root / "PLAN.md").unlink()
        bench.close()
        for file in Project(bench.root).state.glob("segue.db*"):
            file.unlink()


def test_a_start_that_was_never_made_is_made_again(bench: Bench) -> None:
    """Of a first run: from the beginning, as the same try."""
    job = died(bench, ONE, NeverStarted())
    assert bench.row(job).state in (RunState.REVOKED, RunState.CUT_OFF)
    assert bench.job != job
    assert bench.engine.jobs[bench.job].env["SEGUE_ATTEMPT"] == "1"
    assert resumed_by(bench) is None


def test_a_resumption_that_was_never_made_is_made_again(bench: Bench) -> None:
    """With the same answer, in the same conversation."""
    bench.begin(ONE)
    bench.starts()
    bench.says(Opened("talk-1"), Asked("Which?"))
    bench.ends(143, is_ours=True)
    (gate,) = bench.run.ledger.gates.values()
    go_on_with(bench.run, gate, "SQLite")
    bench.turn()
    job = bench.job
    bench.start()
    bench.engine.became[job] = NeverStarted()
    bench.recover()
    assert bench.job != job
    assert resumed_by(bench) == "talk-1"
    assert '"content": "SQLite\\n"' in bench.prompt()


def test_an_answer_survives_a_lost_conversation_and_a_death(bench: Bench) -> None:
    """The new conversation had not begun yet: what the person said is told to the next one."""
    bench.begin(ONE)
    bench.starts()
    bench.says(Opened("talk-1"), Asked("Which?"))
    bench.ends(143, is_ours=True)
    (gate,) = bench.run.ledger.gates.values()
    go_on_with(bench.run, gate, "SQLite, please")
    bench.turn()
    bench.starts()
    bench.says(ConversationLost("gone"))
    bench.ends(1)
    job = bench.job
    assert "SQLite, please" in bench.prompt()
    bench.start()
    bench.engine.became[job] = NeverStarted()
    bench.recover()
    assert "SQLite, please" in bench.prompt()


def test_a_park_stays_a_park(bench: Bench) -> None:
    """It wakes once, at its instant, in its conversation."""
    bench.begin(ONE)
    bench.starts()
    bench.says(Opened("talk-1"), LimitHit("session_limit", wait_s=600))
    bench.ends(1)
    bench.start()
    bench.recover()
    assert bench.engine.begun == []
    assert bench.told("park_kept")
    bench.pass_s(700)
    assert len(bench.engine.begun) == 1
    assert resumed_by(bench) == "talk-1"


def test_a_question_stays_a_question(bench: Bench) -> None:
    """It is put again, not asked again."""
    bench.begin(ONE)
    bench.starts()
    bench.says(Opened("talk-1"), Asked("Which?"))
    bench.ends(143, is_ours=True)
    bench.start()
    bench.recover()
    assert bench.engine.begun == []
    assert [gate["text"] for gate in bench.told("gate_opened")] == ["Which?"]


def test_a_conversation_is_found_in_the_log_of_a_run_that_talked_a_lot(bench: Bench) -> None:
    """It is named at the beginning; the last words are at the end; the middle is not read."""
    much = assistant("x" * 1000) * 2000
    opened = line(type="system", subtype="init", session_id="talk-log")
    died(bench, GOES_ON, log=opened + much + assistant("the very end"))
    assert resumed_by(bench) == "talk-log"
    row, files = bench.row(bench.attempt.run.resumes or ""), bench.run.job_factory.files
    heard = heard_before(files, row.id, row.nonce, bench.attempt.profile)
    assert heard.lines[-1] == "the very end"
    assert len(heard.lines) < 600


# --- very many parks --------------------------------------------------------------------------


def test_of_very_many_parks_only_the_next_are_told_by_name(bench: Bench) -> None:
    """The others are counted; their account waits for the last of them, and all of them stay."""
    bench.settings("jobs = 200\n" + CLAUDE)
    bench.begin("".join(f"- [ ] T-{n}: a\n" for n in range(130)))
    jobs = list(bench.engine.begun)
    assert len(jobs) == 130
    at = bench.clock.now()
    for n, job in enumerate(jobs):
        bench.driver.handle(Started(job))
        bench.driver.handle(
            Heard(job, LimitHit("session_limit", at + timedelta(hours=2, minutes=-n)))
        )
        bench.driver.handle(Ended(job, 1))
    bench.turn()
    bench.run.ledger.store._db.execute("DELETE FROM accounts")  # they are found by their parks
    bench.start()
    bench.recover()
    told = bench.told("park_kept")
    assert len(told) == PARKS_TOLD_MAX
    assert [facts["wakes_at"] for facts in told] == sorted(facts["wakes_at"] for facts in told)
    assert [facts["text"] for facts in bench.told("notice")] == ["30 more tasks are still parked"]
    assert len(bench.run.ledger.parks) == 130
    assert bench.run.accounts.parked_until("claude") == at + timedelta(hours=2, seconds=5)
    assert bench.engine.begun == []
    assert bench.engine.wakes_at == at + timedelta(hours=2, seconds=5)


# --- told of the interruption -------------------------------------------------------------------

COMMAND = 'agent = "own"\n[agents.own]\nkind = "command"\ncommand = ["./claude"]\n'


def was_told(prompt: str) -> bool:
    return "interrupted" in prompt and "may contain unfinished edits" in prompt


def test_a_cut_off_task_begins_again_in_its_conversation(bench: Bench) -> None:
    """From its beginning, with its whole prompt, where the agent knows what it was doing."""
    died(bench, ONE + "  Use sockets.\n", log=assistant("half-way"))
    assert resumed_by(bench) == "talk-log"
    assert was_told(bench.prompt())
    assert "Use sockets." in bench.prompt(), "the task itself is told again"
    assert bench.told("task_restarted")
    assert bench.engine.jobs[bench.job].env["SEGUE_ATTEMPT"] == "1"


def test_ctrl_c_counts_as_cut_off(bench: Bench) -> None:
    """The next start goes on in the conversation, from the task's beginning."""
    bench.begin(ONE)
    bench.starts()
    bench.says(Opened("talk-1"))
    bench.stop()
    bench.ends(143, is_ours=True)
    bench.start()
    bench.recover()
    assert resumed_by(bench) == "talk-1"
    assert was_told(bench.prompt())


@pytest.mark.parametrize("where", ["task", "plan"])
def test_a_fresh_one_begins_in_a_new_conversation(bench: Bench, where: str) -> None:
    """`resume: fresh`: nothing of the old conversation, but the interruption is told."""
    plan = ONE + "  - resume: fresh\n" if where == "task" else f"---\nresume: fresh\n---\n{ONE}"
    job = died(bench, plan, log=assistant("half-way"))
    assert resumed_by(bench) is None
    assert was_told(bench.prompt())
    assert bench.attempt.run.conversation != bench.row(job).conversation


def test_one_that_goes_on_where_it_was_is_told_as_well(bench: Bench) -> None:
    """`resume: conversation`: the resume text, and that it was interrupted; not the whole task."""
    died(bench, GOES_ON + "  Use sockets.\n", log=assistant("half-way"))
    assert was_told(bench.prompt())
    assert bench.run.job_factory.resume_text in bench.prompt()
    assert "Use sockets." not in bench.prompt()


def test_a_program_without_known_conversations_may_have_one(bench: Bench) -> None:
    """A `command` gets its whole prompt with the interruption, SEGUE_RESUME=1 and the name of its
    conversation as before."""
    bench.settings(COMMAND)
    job = died(bench, ONE)
    env = bench.engine.jobs[bench.job].env
    assert (env["SEGUE_RESUME"], env["SEGUE_CONVERSATION"]) == ("1", bench.row(job).conversation)
    assert was_told(bench.prompt())
    assert "# T-1: Build" in bench.prompt()


def test_a_first_start_and_a_second_try_are_not_told_so(bench: Bench) -> None:
    """Nobody was interrupted."""
    bench.begin(ONE)
    assert not was_told(bench.prompt())
    bench.starts()
    bench.says(Finished(True, text="no"))
    bench.ends(1)
    assert not was_told(bench.prompt())
    bench.says(Opened("talk-1"))
    bench.start()
    bench.recover()
    assert was_told(bench.prompt())
    bench.starts()
    bench.says(Finished(True, text="no"))
    bench.ends(1)
    assert not was_told(bench.prompt()), "the third try"


def test_a_restart_that_was_never_made_is_made_again(bench: Bench) -> None:
    """Dead again before the agent began: it is told the same."""
    died(bench, ONE, log=assistant("half-way"))
    again = bench.job
    bench.start()
    bench.engine.became[again] = NeverStarted()
    bench.recover()
    assert resumed_by(bench) == "talk-log"
    assert was_told(bench.prompt())
    assert "# T-1: Build" in bench.prompt()


def test_dead_between_the_decision_and_the_restart(bench: Bench) -> None:
    """The task was set back to its beginning, and nothing began: the next start knows why."""
    bench.begin(ONE)
    bench.starts()
    bench.says(Opened("talk-1"))
    bench.start()
    asyncio.run(recovery.recover(bench.run))
    bench.run.act()
    bench.start()
    bench.recover()
    assert resumed_by(bench) == "talk-1"
    assert was_told(bench.prompt())


def test_without_memory_the_mark_alone_tells_of_an_interruption(bench: Bench) -> None:
    """A `[~]` that nobody remembers was interrupted, too."""
    bench.begin("- [~] T-1: Build\n")
    assert was_told(bench.prompt())


def test_a_lost_conversation_does_not_lose_the_interruption(bench: Bench) -> None:
    """The program does not know it any more: afresh, and told."""
    died(bench, ONE, log=assistant("half-way"))
    bench.starts()
    bench.says(ConversationLost("no such conversation"))
    bench.ends(1)
    assert resumed_by(bench) is None
    assert was_told(bench.prompt())
    assert "# T-1: Build" in bench.prompt()


@pytest.mark.parametrize("mark", ["!", " ", "x", "-"])
def test_a_check_of_a_task_that_a_person_has_settled_is_not_made(bench: Bench, mark: str) -> None:
    """Segue died while it verified, and the mark was changed: the file decides, nothing is settled
    by a check that nobody wants any more."""
    bench.begin("- [ ] **T-1**: do\n  - verify: make test\n")
    bench.starts()
    bench.says(Finished(False, "done"))
    bench.ends()
    assert bench.job.startswith("T-1") and ".verify" in bench.job
    path = bench.root / "PLAN.md"
    text = path.read_text().replace("[~]", f"[{mark}]")
    bench.start(text, on_failed="gate")
    bench.recover()
    assert not any(".verify" in job for job in bench.engine.begun)
    assert f"[{mark}]" in path.read_text() or mark == " "
    assert len(bench.engine.begun) == (mark == " ")
