"""Codex, for real: plans run to their end, whoever dies on the way."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from kit.agents_here import codex
from kit.stage import FULL, GOES_ON, HOLD, ONE, THREE, TOOL_UP, Stage, at, until

READ, WRITTEN, CACHED = 1_000, 50, 200


def test_three_tasks_run_to_their_end(stage: Stage) -> None:
    """Each task is done once and in its turn, checked by Segue, marked; nothing is left behind."""
    stage.agent("codex", "plan", more=FULL, mcp=True)
    stage.plan(THREE)
    done = stage.run()
    stage.completed(done, "T-1", "T-2", "T-3")
    assert done.tasks("task_verifying") == ["T-1", "T-2", "T-3"]
    assert stage.text("three.txt") == "1\n2\n"
    assert len(stage.asked()) == 6
    used = done.finished["usage"]
    assert used["input_tokens"] > 0
    assert used["cost_usd"] is None, "it tells no cost"
    stage.nothing_left()


# --- Segue dies


@pytest.mark.parametrize("when", ["before the first output", "in mid-stream", "after the last"])
def test_segue_is_killed(stage: Stage, when: str) -> None:
    """Whenever Segue dies, the agent is adopted or its end taken; the model is asked once."""
    stage.agent("codex", "slow:2")
    stage.plan(ONE)
    going = stage.start_run()
    if when == "before the first output":
        going.event("task_started")
        assert not stage.asked()
    elif when == "in mid-stream":
        stage.asked(1)
    else:
        stage.asked(1)
        going.send(signal.SIGSTOP)
        until(lambda: not stage.agents(), "the agent's own end")
    going.kill()
    stage.completed(stage.run())
    assert len(stage.asked()) == 1
    stage.nothing_left()


# --- the agent dies


@pytest.mark.parametrize("goes_on", [True, False])
def test_the_agent_is_killed_in_mid_tool(stage: Stage, goes_on: bool) -> None:
    """A failed try: the next one continues in the conversation, or starts from the beginning."""
    stage.agent("codex", f"tool:{TOOL_UP}", "say:done", more=FULL)
    stage.plan(GOES_ON if goes_on else ONE)
    going = stage.start_run()
    tool = stage.tool_pid()
    stage.kill(stage.agent_pid())
    stage.gone(tool)
    stage.completed(going.end())
    assert stage.is_in_conversation(stage.asked()[-1]) is goes_on
    assert len(stage.asked()) == 2
    assert len(stage.rows("SELECT DISTINCT resume_id FROM runs")) == (1 if goes_on else 2)
    stage.nothing_left()


@pytest.mark.parametrize("resume", ["restart", "conversation", "fresh"])
@pytest.mark.parametrize("who", ["both", "all"])
def test_segue_and_its_agent_are_killed_in_mid_tool(stage: Stage, who: str, resume: str) -> None:
    """With Segue, or with everything: the next start continues as the plan says."""
    stage.agent("codex", f"tool:{TOOL_UP}", "say:done", more=FULL)
    stage.plan(f"{ONE}  - resume: {resume}\n")
    going = stage.start_run()
    tool, agent = stage.tool_pid(), stage.agent_pid()
    if who == "all":
        stage.power_cut()
    else:
        going.kill()
        stage.kill(agent)
    stage.gone(tool)
    stage.continues_after_a_cut(resume)


def test_an_interrupted_agent_has_not_succeeded(stage: Stage) -> None:
    """SIGINT in mid-stream is no success."""
    stage.agent("codex", "slow:20", "say:done")
    stage.plan(ONE + "  - retries: 0\n")
    going = stage.start_run()
    stage.asked(1)
    stage.kill(stage.agent_pid(), signal.SIGINT)
    result = going.end()
    assert (result.code, result.tasks("task_failed")) == (1, ["T-1"]), result.said
    assert stage.marks() == {"T-1": "!"}
    stage.nothing_left()


def test_a_lost_conversation_begins_afresh_with_a_summary(stage: Stage) -> None:
    """The program does not know it any more: an event, and a new one with what is known."""
    gate = stage.asks_in_words("codex", "Which?", said="I painted it blue.")
    shutil.rmtree(stage.home / ".codex" / "sessions")
    stage.plays("say:done")
    stage.answer(gate, "PostgreSQL")
    done = stage.run()
    stage.completed(done)
    assert done.tasks("conversation_lost") == ["T-1"]
    assert done.of("task_retrying") == []
    last = stage.asked()[-1]
    assert len(last.prompts) == 1
    for part in ("use a tool", "PostgreSQL", "I painted it blue."):
        assert part in last.prompt
    stage.nothing_left()


# --- what stops it


def test_a_usage_limit_parks(stage: Stage) -> None:
    """It parks until later, uses up no try, and asks the model no more."""
    stage.agent("codex", "429u5h:7200")
    stage.plan(ONE + "  - retries: 0\n")
    done = stage.run("--no-wait")
    assert (done.code, done.finished["parked"]) == (4, ["T-1"]), done.said
    (parked,) = done.of("task_parked")
    assert parked["kind"] == "session_limit"
    asked = stage.asked()
    assert at(parked["resets_at"]) == (asked[0].at + 7200) // 60 * 60, "as its words have it"
    assert at(parked["wakes_at"]) == at(parked["resets_at"]) + 60 + 1, "the minute's end, a margin"
    assert len(asked) == 1
    stage.nothing_left()


def test_a_limit_of_days_parks_for_days(stage: Stage) -> None:
    """Its words name a date then, and the kind follows from that."""
    stage.agent("codex", "429u7d:259200")
    stage.plan(ONE + "  - retries: 0\n")
    (parked,) = stage.run("--no-wait").of("task_parked")
    assert parked["kind"] == "weekly_limit"
    assert at(parked["resets_at"]) == (stage.asked()[0].at + 259200) // 60 * 60


def test_the_minute_that_it_names_is_waited_for_and_it_wakes_once(stage: Stage) -> None:
    """Killed while it waits, too: not before the end of that minute, then once, in its
    conversation."""
    stage.agent("codex", "429u5h:1", "say:done")
    stage.plan(ONE + "  - retries: 0\n")
    going = stage.start_run()
    parked = going.event("task_parked")
    going.kill()
    done = stage.run(wait_s=90)
    stage.completed(done)
    first, second = stage.asked()
    wakes_s = (first.at + 1) // 60 * 60 + 60 + 1
    assert at(parked["wakes_at"]) == wakes_s
    (resumed,) = done.of("task_resumed")
    assert wakes_s <= at(resumed["at"]) < wakes_s + 1
    assert second.at >= wakes_s
    assert stage.is_in_conversation(second)
    assert done.of("task_parked") == []
    stage.nothing_left()


@pytest.mark.parametrize("mode", ["401", "credit"])
def test_a_person_is_asked_where_waiting_does_not_help(stage: Stage, mode: str) -> None:
    """No login, no credit: a gate, soon; seen to, the next run goes on in the conversation."""
    stage.agent("codex", mode)
    stage.plan(ONE + "  - retries: 0\n")
    done = stage.run()
    assert (done.code, done.finished["waiting"]) == (3, ["T-1"]), done.said
    assert done.tasks("gate_opened") == ["T-1"]
    stage.nothing_left()
    before = len(stage.asked())
    stage.plays("say:done")
    again = stage.run()
    stage.completed(again)
    assert again.of("conversation_lost") == []
    (last,) = stage.asked()[before:]
    assert stage.is_in_conversation(last)


# --- what it used


def test_a_resumed_conversation_is_not_counted_twice(stage: Stage) -> None:
    """A question, answered: two processes on one conversation, and each answer counts once."""
    stage.every_answer_uses(READ, WRITTEN, CACHED)
    gate = stage.asks_in_words("codex", "Which?")
    stage.plays("say:done")
    stage.answer(gate, "B")
    done = stage.run()
    stage.completed(done)
    count = len(stage.asked())
    assert count == 3
    used = done.of("task_completed")[0]["usage"]
    assert used == done.finished["usage"] == stage.status()["usage"]
    assert (used["input_tokens"], used["output_tokens"]) == (count * READ, count * WRITTEN)
    assert stage.asked()[-1].prompt.endswith("B")


# --- signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_tree_and_keeps_the_place(stage: Stage, number: signal.Signals) -> None:
    """The agent ends with its tools, the mark stays, the next start goes on."""
    stage.agent("codex", f"tool:{TOOL_UP}", "say:done", more=FULL)
    stage.plan(GOES_ON)
    going = stage.start_run()
    tool, agent = stage.tool_pid(), stage.agent_pid()
    assert os.getsid(tool) != os.getsid(agent)
    going.send(number)
    assert going.end().code == 130
    assert not stage.is_alive(tool)
    assert not stage.is_alive(agent)
    assert stage.marks() == {"T-1": "~"}
    stage.nothing_left()
    stage.completed(stage.run())
    assert stage.is_in_conversation(stage.asked()[-1])


def test_the_wrapper_of_the_package_is_bypassed(stage: Stage) -> None:
    """Named by npm's script, the program itself runs: Ctrl-Z reaches it and its tools."""
    (script,) = codex_folder().glob(".bin/codex")
    stage.agent("codex", f"tool:{HOLD}", "say:done", more=FULL, command=[str(script)])
    stage.plan(ONE)
    going = stage.start_run()
    tool, agent = stage.tool_pid(), stage.agent_pid()
    assert Path(f"/proc/{agent}/exe").resolve() == codex().resolve()
    assert not [words for words in stage.left_behind().values() if words.startswith("node")]
    going.send(signal.SIGTSTP)
    stage.all_stand_still(going.pid, agent, tool)
    stage.release_tool()
    going.send(signal.SIGCONT)
    stage.completed(going.end())
    assert len(stage.asked()) == 2
    stage.nothing_left()


def codex_folder() -> Path:
    return next(path for path in codex().parents if path.name == "node_modules")


# --- Segue's own tools


def test_the_model_is_offered_segues_tools(stage: Stage) -> None:
    """From its first request on: later would be too late for a question."""
    stage.agent("codex", "say:done", mcp=True)
    stage.plan(ONE)
    stage.completed(stage.run())
    assert "mcp__segue" in stage.asked()[0].tools


def test_a_reported_step_is_ticked_at_once(stage: Stage) -> None:
    """report_step by tool call ticks the step in the plan while the agent works on."""
    report = 'loop:mcp__segue__report_step {"n": 1}'
    stage.agent("codex", report, f"loop:{HOLD}", "say:done", more=FULL, mcp=True)
    stage.plan(ONE + "  - steps:\n    - [ ] first\n    - [ ] second\n")
    going = stage.start_run()
    step = going.event("step_done")
    assert (step["task"], step["step"], step["text"]) == ("T-1", 1, "first")
    until(lambda: "- [x] first" in stage.text(), "the tick")
    assert "- [ ] second" in stage.text()
    stage.tool_pid()
    stage.release_tool()
    stage.completed(going.end())


def test_a_question_by_tool_opens_a_gate(stage: Stage) -> None:
    """ask_question by tool call: a gate with its options; the answer goes to the conversation."""
    asking = {"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}
    ask = f"loop:mcp__segue__ask_question {json.dumps(asking)}"
    stage.agent("codex", ask, "say:I wait", mcp=True)
    stage.plan(ONE)
    done = stage.run()
    assert (done.code, done.finished["waiting"]) == (3, ["T-1"]), done.said
    (gate,) = done.of("gate_opened")
    assert (gate["text"], gate["options"]) == ("Which database?", ["PostgreSQL", "SQLite"])
    stage.plays("say:done")
    stage.answer(gate["gate"], "SQLite")
    again = stage.run()
    stage.completed(again)
    last = stage.asked()[-1]
    assert stage.is_in_conversation(last)
    assert last.prompt.endswith("SQLite")
    stage.nothing_left()
