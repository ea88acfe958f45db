"""Claude Code, for real: Ctrl-C keeps the place, Ctrl-Z stops all of it, and it goes on."""

from __future__ import annotations

import os
import signal

import pytest

from kit.stage import FULL, GOES_ON, HOLD, ONE, TOOL_UP, Stage, until


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_ends_the_tree_and_keeps_the_place(stage: Stage, number: signal.Signals) -> None:
    """The agent ends with its tools, the mark stays, the next start goes on; no try is used."""
    stage.agent("claude", f"tool:{TOOL_UP}", "say:done", more=FULL)
    stage.plan(ONE + "  - retries: 0\n")
    going = stage.start_run()
    tool, agent = stage.tool_pid(), stage.agent_pid()
    going.send(number)
    stopped = going.end()
    assert (stopped.code, stopped.finished["exit"]) == (130, 130), stopped.said
    assert not stage.is_alive(tool)
    assert not stage.is_alive(agent)
    assert stage.marks() == {"T-1": "~"}
    stage.nothing_left()
    assert stage.status()["state"] == "interrupted"
    again = stage.run()
    assert (again.code, again.tasks("task_completed")) == (0, ["T-1"]), again.said
    assert again.tasks("task_restarted") == ["T-1"]
    last = stage.asked()[-1]
    assert stage.is_in_conversation(last)
    assert "interrupted" in last.prompt, "told of it, with the task from its beginning"
    assert "use a tool" in last.prompt


def test_ctrl_c_and_on_in_the_conversation(stage: Stage) -> None:
    """With `resume: conversation` the next start goes on in it."""
    stage.agent("claude", f"tool:{TOOL_UP}", "say:done", more=FULL)
    stage.plan(GOES_ON)
    going = stage.start_run()
    stage.tool_pid()
    going.send(signal.SIGINT)
    assert going.end().code == 130
    again = stage.run()
    assert (again.code, again.tasks("task_completed")) == (0, ["T-1"]), again.said
    assert [e["after"] for e in again.of("task_resumed")] == ["cut off"]
    last = stage.asked()[-1]
    assert "use a tool" in last.messages[0]["text"]
    assert len(last.results) == 1, "it knows of the tool that was cut off"
    assert len(stage.rows("SELECT DISTINCT resume_id FROM runs")) == 1


def test_ctrl_c_in_mid_stream(stage: Stage) -> None:
    """A turn that Ctrl-C cut off is neither done nor failed, whatever claude's exit code is."""
    stage.agent("claude", "slow:20", "say:done")
    stage.plan(ONE + "  - retries: 0\n")
    going = stage.start_run()
    stage.asked(1)
    going.send(signal.SIGINT)
    stopped = going.end()
    assert stopped.code == 130, stopped.said
    assert (stopped.of("task_completed"), stopped.of("task_failed")) == ([], [])
    assert stage.marks() == {"T-1": "~"}
    stage.nothing_left()
    assert stage.run().code == 0


def test_ctrl_z_stops_the_whole_tree(stage: Stage) -> None:
    """SIGTSTP to Segue: agent and tools stand still, in whatever session; SIGCONT: all go on."""
    stage.agent("claude", f"tool:{HOLD}", "say:done", more=FULL)
    stage.plan(ONE)
    going = stage.start_run()
    tool, agent = stage.tool_pid(), stage.agent_pid()
    assert os.getsid(tool) != os.getsid(agent)
    going.send(signal.SIGTSTP)
    stage.all_stand_still(going.pid, agent, tool)
    stage.release_tool()
    stage.all_stand_still(*stage.agents(), going.pid)
    going.send(signal.SIGCONT)
    result = going.end()
    assert (result.code, result.tasks("task_completed")) == (0, ["T-1"]), result.said
    assert len(stage.asked()) == 2
    stage.nothing_left()


def test_ctrl_z_in_mid_stream(stage: Stage) -> None:
    """The stream waits with the agent, and comes to its end afterwards: asked once."""
    stage.agent("claude", "slow:3")
    stage.plan(ONE)
    going = stage.start_run()
    stage.asked(1)
    agent = stage.agent_pid()
    going.send(signal.SIGTSTP)
    stage.all_stand_still(going.pid, agent)
    until(lambda: stage.asked()[0].ended, "the end of what the model says")
    assert stage.state_of(agent) == "T"
    going.send(signal.SIGCONT)
    result = going.end()
    assert (result.code, result.tasks("task_completed")) == (0, ["T-1"]), result.said
    assert len(stage.asked()) == 1


def test_stopped_segue_can_be_ended(stage: Stage) -> None:
    """Ctrl-Z, then kill: nothing that stood still is left standing."""
    stage.agent("claude", f"tool:{TOOL_UP}", more=FULL)
    stage.plan(ONE)
    going = stage.start_run()
    tool = stage.tool_pid()
    going.send(signal.SIGTSTP)
    stage.all_stand_still(going.pid, tool)
    going.send(signal.SIGTERM)
    going.send(signal.SIGCONT)
    assert going.end().code == 130
    stage.nothing_left()


def test_killed_while_it_stood_still(stage: Stage) -> None:
    """Ctrl-Z, then kill -9 of Segue: the next start finds the agent, and it goes on."""
    stage.agent("claude", "slow:2")
    stage.plan(ONE)
    going = stage.start_run()
    stage.asked(1)
    agent = stage.agent_pid()
    going.send(signal.SIGTSTP)
    stage.all_stand_still(going.pid, agent)
    going.kill()
    result = stage.run(wait_s=90)
    assert (result.code, result.tasks("task_completed")) == (0, ["T-1"]), result.said
    stage.nothing_left()
