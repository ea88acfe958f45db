"""Gemini CLI and opencode, for real: plans run to their end, whoever dies on the way."""

from __future__ import annotations

import signal
import time

import pytest

from kit.stage import FULL, GOES_ON, ONE, THREE, TOOL_UP, Stage, at

BOTH = pytest.mark.parametrize("kind", ["gemini", "opencode"])
READ, WRITTEN = 1_000, 50


@BOTH
def test_three_tasks_run_to_their_end(stage: Stage, kind: str) -> None:
    """Each task is done once and in its turn, checked by Segue, marked; what it used is counted."""
    stage.agent(kind, "plan", more=FULL)
    stage.every_answer_uses(READ, WRITTEN)
    stage.plan(THREE)
    done = stage.run(wait_s=120)
    stage.completed(done, "T-1", "T-2", "T-3")
    assert stage.text("three.txt") == "1\n2\n"
    assert len(stage.asked()) == 6
    used = done.finished["usage"]
    count = stage.answers(kind)
    assert (used["input_tokens"], used["output_tokens"]) == (count * READ, count * WRITTEN)
    assert (used["cost_usd"] is None) is (kind == "gemini")
    stage.nothing_left()


def test_segue_is_killed_in_mid_stream(stage: Stage) -> None:
    """The agent goes on, is adopted by the next start, and the model is asked once."""
    stage.agent("gemini", "slow:3")
    stage.plan(ONE)
    going = stage.start_run()
    stage.asked(1)
    agent = stage.agent_pid()
    going.kill()
    assert stage.is_alive(agent)
    done = stage.run()
    stage.completed(done)
    assert done.tasks("run_adopted") == ["T-1"]
    assert len(stage.asked()) == 1
    stage.nothing_left()


@BOTH
def test_the_agent_is_killed_in_mid_tool(stage: Stage, kind: str) -> None:
    """It goes on in its conversation; the tool does not live on."""
    stage.agent(kind, f"tool:{TOOL_UP}", "say:done", more=FULL)
    stage.plan(GOES_ON)
    going = stage.start_run()
    tool = stage.tool_pid()
    stage.kill(stage.agent_pid())
    stage.completed(going.end())
    assert not stage.is_alive(tool)
    assert stage.is_in_conversation(stage.asked()[-1])
    assert len(stage.asked()) == 2
    stage.nothing_left()


def test_ctrl_c_ends_the_tree(stage: Stage) -> None:
    """One Ctrl-C is enough for the agent and its tools; the next start begins again."""
    stage.agent("gemini", f"tool:{TOOL_UP}", "say:done", more=FULL)
    stage.plan(ONE)
    going = stage.start_run()
    tool = stage.tool_pid()
    going.send(signal.SIGINT)
    stopped = going.end()
    assert stopped.code == 130, stopped.said
    assert not stage.is_alive(tool)
    assert stage.marks() == {"T-1": "~"}
    stage.nothing_left()
    stage.completed(stage.run())
    assert stage.asked()[-1].results == []


def test_the_quota_of_a_day_parks(stage: Stage) -> None:
    """Gemini's daily quota is no failure: it parks, and no try is used up."""
    stage.agent("gemini", "429quota", retries=0)
    stage.plan(ONE + "  - retries: 0\n")
    done = stage.run("--no-wait")
    assert (done.code, done.finished["parked"]) == (4, ["T-1"]), done.said
    (parked,) = done.of("task_parked")
    assert parked["kind"] == "daily_quota"
    assert at(parked["wakes_at"]) > time.time()
    stage.nothing_left()


def test_the_time_that_gemini_names_is_waited_for(stage: Stage) -> None:
    """Its words name seconds: parked for so long and no longer, then woken once."""
    stage.agent("gemini", "tool:echo hello", "429:7", "say:done", retries=0, more=FULL)
    stage.plan(ONE + "  - retries: 0\n")
    done = stage.run()
    stage.completed(done)
    (parked,) = done.of("task_parked")
    assert parked["kind"] == "rate_limit"
    _first, refused, last = stage.asked()
    assert refused.at + 7 <= at(parked["resets_at"]) < refused.at + 7 + 60
    assert at(parked["wakes_at"]) == pytest.approx(at(parked["resets_at"]) + 1)
    assert last.at >= at(parked["wakes_at"])
    assert stage.is_in_conversation(last)
    stage.nothing_left()


def test_a_person_is_asked_where_waiting_does_not_help(stage: Stage) -> None:
    """A refused login is a gate, soon; seen to, the next run goes on and completes."""
    stage.agent("gemini", "401")
    stage.plan(ONE + "  - retries: 0\n")
    done = stage.run()
    assert (done.code, done.finished["waiting"]) == (3, ["T-1"]), done.said
    assert done.tasks("gate_opened") == ["T-1"]
    stage.nothing_left()
    stage.plays("say:done")
    stage.completed(stage.run())
    assert "use a tool" in stage.asked()[-1].messages[0]["text"]


@BOTH
def test_a_question_in_words_is_answered_in_the_conversation(stage: Stage, kind: str) -> None:
    """Asked by the markers of its prompt; the answer goes on where it was, counted once."""
    stage.every_answer_uses(READ, WRITTEN)
    gate = stage.asks_in_words(kind, "Which?")
    stage.plays("say:done")
    stage.answer(gate, "B")
    done = stage.run()
    stage.completed(done)
    last = stage.asked()[-1]
    assert stage.is_in_conversation(last)
    assert last.prompt.endswith("B")
    used = done.of("task_completed")[0]["usage"]
    assert used["input_tokens"] == stage.answers(kind) * READ
    assert used == stage.status()["usage"]
