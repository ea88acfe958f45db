"""Claude Code, for real: plans run to their end, whoever dies on the way."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess

import pytest

from kit.stage import FULL, GOES_ON, ONE, THREE, TOOL_UP, Stage, until


def test_three_tasks_run_to_their_end(stage: Stage) -> None:
    """Each task is done once and in its turn, checked by Segue, marked; nothing is left behind."""
    stage.agent("claude", "plan", more=FULL, mcp=True)
    stage.plan(THREE)
    done = stage.run()
    assert (done.code, done.finished["completed"]) == (0, ["T-1", "T-2", "T-3"]), done.said
    assert done.tasks("task_started") == done.tasks("task_completed") == ["T-1", "T-2", "T-3"]
    assert done.tasks("task_verifying") == ["T-1", "T-2", "T-3"]
    assert stage.marks() == {"T-1": "x", "T-2": "x", "T-3": "x"}
    assert [stage.text(name) for name in ("one.txt", "two.txt", "three.txt")] == [
        "1\n",
        "2\n",
        "1\n2\n",
    ]
    assert len(stage.asked()) == 6, "a command and an answer for each"
    stage.nothing_left()


def test_a_check_that_fails_is_told_to_the_next_try(stage: Stage) -> None:
    """What the agent claims is not believed: the check fails, and the next try gets its error."""
    stage.agent("claude", "say:I am done", "tool:touch made.txt", "say:now it is", more=FULL)
    stage.plan("- [ ] **T-1**: make it\n  - verify: ls made.txt || { echo no-such-luck; false; }\n")
    done = stage.run()
    assert done.code == 0, done.said
    assert [e["retry"] for e in done.of("task_retrying")] == [1]
    assert "no-such-luck" in stage.asked()[1].prompt


def test_it_finds_its_facts_and_no_secrets(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its environment tells it which run it is; keys that are not its own stay with Segue."""
    stage.extra_env |= {
        "OPENAI_API_KEY": "secret",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "GEMINI_API_KEY": "secret",
        "CLAUDE_CODE_ENTRYPOINT": "secret",
        "ANTHROPIC_CUSTOM_HEADERS": "x-of: the-user",
    }
    stage.agent("claude", "slow:2")
    stage.plan("- [ ] **T-1**: speak\n")
    going = stage.start_run()
    told = going.event("task_started")
    stage.asked(1)
    found = stage.environ_of(stage.agent_pid())
    assert "secret" not in found.values()
    assert found["ANTHROPIC_CUSTOM_HEADERS"] == "x-of: the-user"
    assert (found["SEGUE_TASK"], found["SEGUE_RUN"]) == ("T-1", told["run"])
    assert found["SEGUE_ATTEMPT"] == "1"
    assert "SEGUE_RESUME" not in found
    assert going.end().code == 0


def test_a_long_prompt_arrives_whole(stage: Stage) -> None:
    """More than a command line or a pipe can hold, with characters of all kinds."""
    lines = "".join(f"  line {number}: 길고 긴 “text” $(x) `y` \\\n" for number in range(30_000))
    assert len(lines.encode()) > 1 << 20
    stage.agent("claude", "say:done")
    stage.plan("- [ ] **T-1**: read all of it\n" + lines)
    done = stage.run()
    stage.completed(done)
    (asked,) = stage.asked()
    for number in (0, 15_000, 29_999):
        assert f"line {number}: 길고 긴 “text” $(x) `y` \\" in asked.prompt


def test_a_conversation_goes_on_in_its_worktree(stage: Stage) -> None:
    """Claude knows conversations by their folder: parked in a worktree, it goes on there."""
    (stage.home / ".gitconfig").write_text("[user]\nname = T\nemail = t@example.org\n")
    stage.agent("claude", "tool:touch made.txt", "429u5h:2", "say:done", oauth=True, more=FULL)
    stage.plan(ONE)
    for words in (["init", "-q"], ["add", "PLAN.md"], ["commit", "-qm", "begin"]):
        subprocess.run(["git", *words], cwd=stage.root, env=stage.env(), check=True)
    done = stage.run("--isolate", "worktree")
    stage.completed(done)
    assert done.tasks("task_parked") == done.tasks("task_resumed") == ["T-1"]
    assert stage.is_in_conversation(stage.asked()[-1])
    assert done.of("conversation_lost") == []
    assert (stage.root / "made.txt").exists(), "merged"
    stage.nothing_left()


# --- Segue dies


def test_killed_before_the_first_output(stage: Stage) -> None:
    """Segue dies while its agent is starting up: it is adopted, and the model asked once."""
    stage.agent("claude", "slow:1")
    stage.plan("- [ ] **T-1**: speak\n")
    going = stage.start_run()
    going.event("task_started")
    going.kill()
    assert not stage.asked(), "too late for this test"
    finishes_once(stage)


def test_killed_in_mid_stream(stage: Stage) -> None:
    """Segue dies while the model speaks: the agent is adopted, and the model asked once."""
    stage.agent("claude", "slow:3")
    stage.plan("- [ ] **T-1**: speak\n")
    going = stage.start_run()
    stage.asked(1)
    going.kill()
    agent = stage.agent_pid()
    again = stage.start_run()
    again.event("run_adopted")
    assert stage.agent_pid() == agent
    result = again.end()
    assert (result.code, result.tasks("task_completed")) == (0, ["T-1"])
    assert len(stage.asked()) == 1
    stage.nothing_left()


def test_killed_right_after_the_last_word(stage: Stage) -> None:
    """Segue dies with the agent's last word said and not yet heard: it counts, once."""
    stage.agent("claude", "slow:1")
    stage.plan("- [ ] **T-1**: speak\n")
    going = stage.start_run()
    stage.asked(1)
    going.send(signal.SIGSTOP)
    until(lambda: '"type":"result"' in stage.log(), "its last word")
    going.kill()
    finishes_once(stage)


def test_killed_while_its_agent_asks_for_leave(stage: Stage) -> None:
    """The agent asks for leave while no Segue lives: the next one answers, by the rules."""
    stage.agent("claude", "tool:touch made.txt", "say:done", more=FULL)
    stage.plan(ONE)
    going = stage.start_run()
    going.event("task_started")
    going.send(signal.SIGSTOP)
    until(lambda: "can_use_tool" in stage.log(), "its question")
    going.kill()
    assert not (stage.root / "made.txt").exists()
    done = stage.run(wait_s=90)
    stage.completed(done)
    assert (stage.root / "made.txt").exists()
    assert len(stage.asked()) == 2
    stage.nothing_left()


def test_killed_again_and_again(stage: Stage) -> None:
    """Segue dies at every request of a plan; each command is still run once."""
    stage.agent("claude", "plan", more=FULL)
    stage.plan(THREE)
    completed: list[str] = []
    for count in range(1, 7):
        going = stage.start_run()
        stage.asked(count)
        going.kill()
        completed += going.result.tasks("task_completed")
    result = stage.run()
    assert (result.code, result.finished["completed"]) == (0, ["T-1", "T-2", "T-3"])
    completed += result.tasks("task_completed")
    assert sorted(completed) == sorted(set(completed)), "no task was completed twice"
    assert [stage.text(name) for name in ("one.txt", "two.txt")] == ["1\n", "2\n"]
    assert len(stage.asked()) == 6, "nothing was done twice"
    stage.nothing_left()


def finishes_once(stage: Stage) -> None:
    result = stage.run()
    assert (result.code, result.tasks("task_completed")) == (0, ["T-1"]), result.said
    assert stage.marks() == {"T-1": "x"}
    assert len(stage.asked()) == 1, "the model was asked once"
    stage.nothing_left()


# --- the agent dies


def test_an_agent_killed_in_mid_tool_goes_on(stage: Stage) -> None:
    """With `resume: conversation` the next try is in the same conversation, and told of the
    interrupted tool; the tool does not live on."""
    stage.agent("claude", f"tool:{TOOL_UP}", "say:done", more=FULL)
    stage.plan(GOES_ON)
    going = stage.start_run()
    tool = stage.tool_pid()
    assert os.getsid(tool) != os.getsid(stage.agent_pid()), "a session of its own"
    until(lambda: '"tool_use"' in transcript(stage), "what it writes down")
    stage.kill(stage.agent_pid())
    result = going.end()
    assert (result.code, result.tasks("task_completed")) == (0, ["T-1"]), result.said
    assert not stage.is_alive(tool)
    last = stage.asked()[-1]
    assert stage.is_in_conversation(last)
    assert "interrupted" in last.results[0]
    conversations = stage.rows("SELECT DISTINCT resume_id FROM runs")
    assert len(conversations) == 1
    stage.nothing_left()


def transcript(stage: Stage) -> str:
    """What claude itself has written down so far."""
    found = (stage.home / ".claude" / "projects").rglob("*.jsonl")
    return "".join(path.read_text("utf-8") for path in found)


def test_an_agent_killed_in_mid_tool_starts_again(stage: Stage) -> None:
    """Without it the task begins again from its beginning, in a new conversation."""
    stage.agent("claude", f"tool:{TOOL_UP}", "say:done", more=FULL)
    stage.plan(ONE)
    going = stage.start_run()
    tool = stage.tool_pid()
    stage.kill(stage.agent_pid())
    result = going.end()
    assert (result.code, result.tasks("task_completed")) == (0, ["T-1"]), result.said
    assert not stage.is_alive(tool)
    last = stage.asked()[-1]
    assert len(last.prompts) == 1
    assert last.results == []
    assert len(stage.rows("SELECT DISTINCT resume_id FROM runs")) == 2
    stage.nothing_left()


@pytest.mark.parametrize("resume", ["restart", "conversation", "fresh"])
def test_segue_and_its_agent_are_killed(stage: Stage, resume: str) -> None:
    """Both die in mid-tool: the next start continues as the plan says, and the tool is long gone."""
    stage.agent("claude", f"tool:{TOOL_UP}", "say:done", more=FULL)
    stage.plan(f"{ONE}  - resume: {resume}\n")
    going = stage.start_run()
    tool = stage.tool_pid()
    agent = stage.agent_pid()
    going.kill()
    stage.kill(agent)
    stage.gone(tool)
    stage.continues_after_a_cut(resume)


@pytest.mark.parametrize("resume", ["restart", "conversation", "fresh"])
def test_the_power_fails(stage: Stage, resume: str) -> None:
    """All die at one instant, keepers too: the conversation is known from what was heard."""
    stage.agent("claude", f"tool:{TOOL_UP}", "say:done", more=FULL)
    stage.plan(f"{ONE}  - resume: {resume}\n")
    stage.start_run()
    stage.tool_pid()
    stage.power_cut()
    stage.continues_after_a_cut(resume)


def test_a_keeper_is_killed(stage: Stage) -> None:
    """Who holds the agent dies: the agent is ended before the next one starts."""
    stage.agent("claude", f"tool:{TOOL_UP}", "say:done", more=FULL)
    stage.plan(GOES_ON)
    going = stage.start_run()
    tool, agent = stage.tool_pid(), stage.agent_pid()
    stage.kill(stage.parent_of(agent))
    result = going.end()
    assert (result.code, result.tasks("task_completed")) == (0, ["T-1"]), result.said
    assert not stage.is_alive(tool)
    assert not stage.is_alive(agent)
    stage.never_two_at_once()
    stage.nothing_left()


def test_an_interrupted_agent_has_not_succeeded(stage: Stage) -> None:
    """SIGINT makes claude end with exit code 0 in mid-stream; that is no success."""
    stage.agent("claude", "slow:20", "say:done")
    stage.plan("- [ ] **T-1**: speak\n  - retries: 0\n")
    going = stage.start_run()
    stage.asked(1)
    until(lambda: "init" in stage.log(), "its first words")
    stage.kill(stage.agent_pid(), signal.SIGINT)
    result = going.end()
    assert result.code == 1, result.said
    assert result.tasks("task_completed") == []
    assert result.tasks("task_failed") == ["T-1"]
    assert stage.marks() == {"T-1": "!"}
    stage.nothing_left()


# --- the conversation


def test_a_lost_conversation_begins_afresh_with_a_summary(stage: Stage) -> None:
    """The program does not know it any more: told in words, and the new one gets what is known."""
    gate = stage.asks_in_words("claude", "Which?", said="I painted it blue.")
    shutil.rmtree(stage.home / ".claude" / "projects")
    stage.plays("say:done")
    stage.answer(gate, "PostgreSQL")
    done = stage.segue("run", "PLAN.md")
    assert done.code == 0, done.said
    assert "no longer has the conversation" in done.said
    last = stage.asked()[-1]
    assert len(last.prompts) == 1, "a new conversation"
    assert "use a tool" in last.prompt, "with the task"
    assert "PostgreSQL" in last.prompt, "with the answer"
    assert "I painted it blue." in last.prompt, "with what was said"
    assert "conversation that is lost" in last.prompt
    assert stage.marks() == {"T-1": "x"}
    stage.nothing_left()


def test_a_lost_conversation_is_an_event(stage: Stage) -> None:
    """`conversation_lost` names the task and the conversation; no retry is used for it."""
    gate = stage.asks_in_words("claude", "Which?")
    (lost,) = [row["resume_id"] for row in stage.rows("SELECT resume_id FROM runs")]
    shutil.rmtree(stage.home / ".claude" / "projects")
    stage.plays("say:done")
    stage.answer(gate, "PostgreSQL")
    done = stage.run()
    assert done.code == 0, done.said
    (event,) = done.of("conversation_lost")
    assert (event["task"], event["conversation"]) == ("T-1", lost)
    assert done.of("task_retrying") == []
    assert done.tasks("task_completed") == ["T-1"]


@pytest.mark.parametrize("where", ["two plans", "one plan"])
def test_two_runs_are_never_in_one_conversation(stage: Stage, where: str) -> None:
    """Commands that go on with the same conversation wait for each other; both are finished."""
    stage.agent("claude", "say:the beginning")
    stage.plan("- [ ] **T-0**: begin\n", "FIRST.md")
    assert stage.segue("run", "FIRST.md").code == 0
    (row,) = stage.rows("SELECT resume_id FROM runs")
    command = [*stage.command("claude"), "--resume", row["resume_id"]]
    stage.agent("claude", "slow:2", command=command)
    tasks = ["- [ ] **T-1**: colour\n", "- [ ] **T-2**: shape\n"]
    plans = tasks if where == "two plans" else ["".join(tasks)]
    for number, text in enumerate(plans):
        stage.plan(text, f"P{number}.md")
    runs = [stage.start("run", f"P{number}.md", "--json") for number in range(len(plans))]
    results = [run.end() for run in runs]
    assert [result.code for result in results] == [0] * len(plans), results
    stage.never_two_at_once()
    said = "\n".join(stage.asked()[-1].prompts)
    assert "T-0: begin" in said
    assert "T-1: colour" in said
    assert "T-2: shape" in said
    stage.nothing_left()
