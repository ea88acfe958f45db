"""Claude Code, for real: leave to use a tool, questions, Segue's own tools."""

from __future__ import annotations

import json

import pytest

from kit.stage import FULL, HOLD, ONE, Result, Stage, Terminal, until

TOUCH = "tool:touch made.txt"


def made(stage: Stage) -> bool:
    return (stage.root / "made.txt").exists()


def completed(done: Result) -> bool:
    return (done.code, done.finished["completed"]) == (0, ["T-1"])


# --- permissions


def test_by_default_a_person_is_asked(stage: Stage) -> None:
    """The tool does not run; the gate names it; allowed by letter, it runs in the conversation."""
    stage.agent("claude", TOUCH)
    stage.plan(ONE)
    done = stage.run()
    assert (done.code, done.finished["waiting"]) == (3, ["T-1"]), done.said
    (gate,) = done.of("gate_opened")
    assert "Bash" in gate["text"]
    assert "touch made.txt" in gate["text"]
    assert not made(stage)
    stage.nothing_left()
    stage.answer(gate["gate"], "allow")
    again = stage.run()
    assert completed(again), again.said
    assert again.of("gate_opened") == [], "asked once"
    assert made(stage)
    assert "use a tool" in stage.asked()[-1].messages[0]["text"], "the same conversation"
    assert len(stage.rows("SELECT DISTINCT resume_id FROM runs")) == 1


def test_what_was_allowed_once_does_not_allow_another(stage: Stage) -> None:
    """“allow” is for this very use; another command of the same tool is asked about again."""
    stage.agent("claude", TOUCH)
    stage.plan(ONE)
    (gate,) = stage.run().of("gate_opened")
    stage.answer(gate["gate"], "allow")
    stage.plays("loop:touch made.txt", "loop:touch other.txt")
    again = stage.run()
    assert again.code == 3, again.said
    assert "touch other.txt" in again.of("gate_opened")[0]["text"]
    assert made(stage)
    assert not (stage.root / "other.txt").exists()


def test_a_tool_can_be_allowed_for_the_task(stage: Stage) -> None:
    """“allow tool” is for every use of it in this task, and for no other task."""
    stage.agent("claude", TOUCH)
    stage.plan(ONE + "- [ ] **T-2**: another\n  - blocked by: T-1\n")
    (gate,) = stage.run().of("gate_opened")
    stage.answer(gate["gate"], "allow tool")
    stage.plays("tool:touch other.txt", "say:done", "tool:touch third.txt")
    again = stage.run()
    assert again.finished["completed"] == ["T-1"], again.said
    assert (stage.root / "other.txt").exists()
    assert again.code == 3
    assert [e["task"] for e in again.of("gate_opened")] == ["T-2"]
    assert not (stage.root / "third.txt").exists()


def test_a_person_can_refuse(stage: Stage) -> None:
    """Denied: the agent is told so, goes on without it, and the tool never runs."""
    stage.agent("claude", TOUCH)
    stage.plan(ONE)
    (gate,) = stage.run().of("gate_opened")
    stage.answer(gate["gate"], "deny")
    stage.plays("say:done without")
    again = stage.run()
    assert completed(again), again.said
    assert "may not use Bash" in stage.asked()[-1].prompt
    assert not made(stage)


def test_a_letter_is_taken_while_segue_runs(stage: Stage) -> None:
    """Answered from elsewhere while other work goes on: taken up at once, in the same run."""
    stage.agent("claude", TOUCH, more="allow = ['Write']")
    stage.plan(ONE + f"- [ ] **T-2**: hold\n  - agent: shell\n  - run: {stage.hold('go')}\n")
    going = stage.start_run()
    gate = going.event("gate_opened")
    stage.answer(gate["gate"], "allow")
    going.event("task_completed", "T-1")
    assert made(stage)
    stage.release("go")
    result = going.end()
    assert result.code == 0, result.said
    assert result.tasks("gate_answered") == ["T-1"]


def test_a_person_at_the_terminal_is_asked_there(stage: Stage) -> None:
    """On a terminal the question is shown, its answer taken, and the run goes on."""
    stage.agent("claude", TOUCH)
    stage.plan(ONE)
    terminal = Terminal(stage, "run", "PLAN.md")
    terminal.expect("touch made.txt")
    terminal.expect("deny")
    assert not made(stage)
    terminal.type("1\r")
    result = terminal.end()
    assert result.code == 0, result.out
    assert made(stage)
    assert stage.marks() == {"T-1": "x"}


@pytest.mark.parametrize(
    ("rules", "runs"),
    [
        ("allow = ['Bash(touch:*)']", True),
        ("allow = ['Bash']", True),
        ("allow = ['Bash(ls:*)']\nunlisted = 'deny'", False),
        ("unlisted = 'deny'", False),
        ("deny = ['Bash(touch:*)']\npermissions = 'full'", False),
        ("permissions = 'full'", True),
        ("deny = ['Bash(touch:*)']\nallow = ['Bash']", False),
        ("permissions = 'accept-edits'\nunlisted = 'deny'\ndeny = ['Bash(touch:*)']", False),
    ],
)
def test_rules_decide_without_a_person(stage: Stage, rules: str, runs: bool) -> None:
    """Allowed: it runs. Denied: it does not, the model is told, and the task goes on."""
    stage.agent("claude", TOUCH, "say:done", more=rules)
    stage.plan(ONE)
    done = stage.run()
    assert (done.code, done.of("gate_opened")) == (0, []), done.said
    assert made(stage) is runs
    last = stage.asked()[-1]
    assert len(last.results) == 1, "the model was told how it went"
    stage.nothing_left()


def test_a_denied_tool_is_not_even_offered(stage: Stage) -> None:
    """A tool denied as a whole is not in the model's list, whatever else is allowed."""
    stage.agent("claude", "say:done", more=f"deny = ['Bash']\n{FULL}")
    stage.plan(ONE)
    assert completed(stage.run())
    assert "Bash" not in stage.asked()[0].tools
    assert "Write" in stage.asked()[0].tools


def test_an_allowed_command_does_not_bring_another_along(stage: Stage) -> None:
    """`Bash(touch:*)` is no leave for what stands behind a semicolon."""
    (stage.root / "precious.txt").write_text("precious")
    stage.agent("claude", "tool:touch made.txt; rm precious.txt", more="allow = ['Bash(touch:*)']")
    stage.plan(ONE)
    done = stage.run()
    assert done.code == 3, done.said
    assert (stage.root / "precious.txt").exists()


def test_edits_are_accepted_and_commands_are_not(stage: Stage) -> None:
    """`accept-edits`: files of the project may be written; a command is still asked about."""
    stage.agent("claude", f"write:{stage.root}/text.txt:hello", more="permissions = 'accept-edits'")
    stage.plan(ONE)
    done = stage.run()
    assert completed(done), done.said
    assert stage.text("text.txt") == "hello"
    stage.plays('tool:python3 -c \'open("made.txt", "w")\'')
    stage.plan("- [ ] **T-2**: another\n", "SECOND.md")
    asked = stage.segue("run", "SECOND.md", "--json")
    assert asked.code == 3, asked.said
    assert not made(stage)


# --- questions


def test_its_own_question_tool_asks_a_person(stage: Stage) -> None:
    """AskUserQuestion becomes a gate with its options; the answer goes to the conversation."""
    stage.agent("claude", asks("Which database?", "PostgreSQL", "SQLite"))
    stage.plan(ONE)
    done = stage.run()
    assert done.code == 3, done.said
    (gate,) = done.of("gate_opened")
    assert (gate["text"], gate["options"]) == ("Which database?", ["PostgreSQL", "SQLite"])
    stage.plays("say:done")
    stage.answer(gate["gate"], "SQLite")
    again = stage.run()
    assert completed(again), again.said
    last = stage.asked()[-1]
    assert "use a tool" in last.messages[0]["text"]
    assert last.prompt.endswith("SQLite")


def test_full_permissions_do_not_answer_questions(stage: Stage) -> None:
    """That it may use every tool does not mean that it may answer itself."""
    stage.agent("claude", asks("Which database?", "PostgreSQL", "SQLite"), more=FULL)
    stage.plan(ONE)
    done = stage.run()
    assert done.code == 3, done.said
    assert [gate["text"] for gate in done.of("gate_opened")] == ["Which database?"]


def asks(question: str, *options: str) -> str:
    labels = [{"label": option, "description": option} for option in options]
    asked = {"question": question, "header": "x", "multiSelect": False, "options": labels}
    return f"tool:AskUserQuestion {json.dumps({'questions': [asked]})}"


# --- Segue's own tools


STEPS = "- [ ] **T-1**: use a tool\n  - steps:\n    - [ ] first\n    - [ ] second\n"


def test_the_model_is_offered_segues_tools(stage: Stage) -> None:
    """They stand in its list of tools, not behind a search that it may never make."""
    stage.agent("claude", "say:done", mcp=True)
    stage.plan(ONE)
    assert completed(stage.run())
    offered = set(stage.asked()[0].tools)
    assert {"mcp__segue__report_step", "mcp__segue__ask_question"} <= offered


def test_a_reported_step_is_ticked_at_once(stage: Stage) -> None:
    """report_step by tool call ticks the step in the plan while the agent works on."""
    report = 'loop:mcp__segue__report_step {"n": 1}'
    stage.agent("claude", report, f"loop:{HOLD}", "say:done", more=FULL, mcp=True)
    stage.plan(STEPS)
    going = stage.start_run()
    step = going.event("step_done")
    assert (step["task"], step["step"], step["text"]) == ("T-1", 1, "first")
    until(lambda: "- [x] first" in stage.text(), "the tick")
    assert "- [ ] second" in stage.text()
    stage.tool_pid()
    stage.release_tool()
    result = going.end()
    assert completed(result), result.said
    assert result.of("gate_opened") == [], "its own tools need no leave"


def test_a_question_by_tool_opens_a_gate(stage: Stage) -> None:
    """ask_question by tool call: a gate with its options; the answer goes to the conversation."""
    asking = {"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}
    ask = f"tool:mcp__segue__ask_question {json.dumps(asking)}"
    stage.agent("claude", ask, "say:I wait", mcp=True)
    stage.plan(ONE)
    done = stage.run()
    assert (done.code, done.finished["waiting"]) == (3, ["T-1"]), done.said
    (gate,) = done.of("gate_opened")
    assert (gate["text"], gate["options"]) == ("Which database?", ["PostgreSQL", "SQLite"])
    stage.plays("say:done")
    stage.answer(gate["gate"], "SQLite")
    again = stage.run()
    assert completed(again), again.said
    last = stage.asked()[-1]
    assert "use a tool" in last.messages[0]["text"]
    assert last.prompt.endswith("SQLite")
    stage.nothing_left()
