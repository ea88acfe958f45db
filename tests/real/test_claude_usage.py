"""Claude Code, for real: what it used is counted once, shown, and bounded."""

from __future__ import annotations

import json

import pytest

from kit.stage import FULL, HOLD, ONE, Stage

READ, WRITTEN, CACHED = 1_000, 50, 200


def asks() -> str:
    labels = [{"label": option, "description": option} for option in ("A", "B")]
    asked = {"question": "Which?", "header": "x", "multiSelect": False, "options": labels}
    return f"tool:AskUserQuestion {json.dumps({'questions': [asked]})}"


def cost_of(stage: Stage, answers: int) -> float:
    """What so many answers cost by the program's own list of prices, from its last result."""
    logs = sorted((stage.root / ".segue" / "logs").glob("*.log"))
    lines = [line for log in logs for line in log.read_text("utf-8").splitlines()]
    results = [json.loads(line) for line in lines if '"type":"result"' in line]
    own = results[-1]["model_usage_since_last_result"]
    (used,) = own.values()
    each = used["costUSD"] / (used["outputTokens"] / WRITTEN)
    return float(each * answers)


def test_tokens_and_cost_are_shown_everywhere(stage: Stage) -> None:
    """The same sums on the task, the plan, `status` and in the tables: what the model reported."""
    stage.agent("claude", "tool:touch made.txt", "say:done", more=FULL)
    stage.every_answer_uses(READ, WRITTEN, CACHED)
    stage.plan(ONE + "- [ ] **T-2**: another\n  - blocked by: T-1\n")
    done = stage.run()
    assert done.code == 0, done.said
    per_task = {e["task"]: e["usage"] for e in done.of("task_completed")}
    expected = {
        "T-1": {"input_tokens": 2 * READ, "output_tokens": 2 * WRITTEN},
        "T-2": {"input_tokens": READ, "output_tokens": WRITTEN},
    }
    for task, used in expected.items():
        shown = per_task[task]
        assert {name: shown[name] for name in used} == used
        assert shown["cost_usd"] > 0
    whole = done.finished["usage"]
    assert whole["input_tokens"] == 3 * READ
    assert whole["output_tokens"] == 3 * WRITTEN
    assert whole["cost_usd"] == pytest.approx(sum(u["cost_usd"] for u in per_task.values()))
    assert whole["cost_usd"] == pytest.approx(cost_of(stage, 3))
    assert stage.status()["usage"] == whole
    runs = stage.rows("SELECT input_tokens, output_tokens FROM runs ORDER BY created_at")
    assert [tuple(row) for row in runs] == [(2 * READ, 2 * WRITTEN), (READ, WRITTEN)]
    assert "tokens" in stage.segue("status").said


def test_a_resumed_conversation_is_not_counted_twice(stage: Stage) -> None:
    """A question, answered: two processes on one conversation, and each answer counts once."""
    stage.every_answer_uses(READ, WRITTEN, CACHED)
    gate = stage.asks_in_words("claude", "Which?")
    stage.plays("say:done")
    stage.answer(gate, "B")
    done = stage.run()
    assert done.code == 0, done.said
    count = len(stage.models.requests())
    assert count == 3
    used = done.of("task_completed")[0]["usage"]
    assert used["input_tokens"] == count * READ
    assert done.finished["usage"] == used == stage.status()["usage"]
    assert used["output_tokens"] == count * WRITTEN
    assert used["cost_usd"] == pytest.approx(cost_of(stage, count))


def test_a_run_that_was_stopped_to_ask_counts_as_far_as_it_told(stage: Stage) -> None:
    """Stopped in the middle of a turn, it has told what it read, not yet what it wrote or cost."""
    stage.agent("claude", asks())
    stage.every_answer_uses(READ, WRITTEN, CACHED)
    stage.plan(ONE)
    done = stage.run()
    assert done.code == 3, done.said
    stage.plays("say:done")
    stage.answer(done.of("gate_opened")[0]["gate"], "B")
    again = stage.run()
    assert again.code == 0, again.said
    used = again.finished["usage"]
    assert used["input_tokens"] == 2 * READ
    assert WRITTEN < used["output_tokens"] <= 2 * WRITTEN
    assert used["cost_usd"] == pytest.approx(cost_of(stage, 1))


def test_a_parked_run_is_counted_once(stage: Stage) -> None:
    """Before and behind a limit: each answer counts once, over both processes."""
    stage.agent("claude", "tool:touch made.txt", "429u5h:2", "say:done", oauth=True, more=FULL)
    stage.every_answer_uses(READ, WRITTEN, CACHED)
    stage.plan(ONE)
    done = stage.run()
    assert done.code == 0, done.said
    used = done.finished["usage"]
    assert (used["input_tokens"], used["output_tokens"]) == (2 * READ, 2 * WRITTEN)
    assert used["cost_usd"] == pytest.approx(cost_of(stage, 2))


def test_a_killed_agent_is_counted(stage: Stage) -> None:
    """What a run used before it was killed is not forgotten."""
    stage.agent("claude", f"tool:{HOLD}", "say:done", more=FULL)
    stage.every_answer_uses(READ, WRITTEN, CACHED)
    stage.plan(ONE)
    going = stage.start_run()
    stage.tool_pid()
    stage.kill(stage.agent_pid())
    done = going.end()
    assert done.code == 0, done.said
    assert done.finished["usage"]["input_tokens"] == 2 * READ


def test_a_budget_pauses_and_asks(stage: Stage) -> None:
    """Used up: nothing new starts, what runs is let finish, a gate, exit code 3; a yes gives as
    much again."""
    stage.every_answer_uses(READ, WRITTEN, CACHED)
    stage.agent("claude", "say:done")
    stage.plan(ONE, "FIRST.md")
    each = stage.segue("run", "FIRST.md", "--json").finished["usage"]["cost_usd"]
    stage.agent("claude", "slow:1", "slow:4", rest=f"[leash]\nbudget_usd = {0.9 * each:f}")
    stage.plan(
        "- [ ] **T-1**: short\n- [ ] **T-2**: long\n- [ ] **T-3**: later\n  - blocked by: T-1\n"
    )
    done = stage.run("--jobs", "2")
    assert done.code == 3, done.said
    assert sorted(done.tasks("task_completed")) == ["T-1", "T-2"], "what ran was not killed"
    assert "T-3" not in done.tasks("task_started")
    (gate,) = done.of("gate_opened")
    assert gate["task"] is None
    assert "budget" in gate["text"]
    stage.nothing_left()
    stage.plays("say:done")
    assert yes(stage) == 3, "two answers cost more than two budgets"
    assert stage.marks()["T-3"] == " "
    yes(stage)
    assert stage.marks() == {"T-1": "x", "T-2": "x", "T-3": "x"}
    assert stage.status()["usage"]["cost_usd"] == pytest.approx(3 * each)


def test_a_budget_used_up_by_the_last_task_asks_nobody(stage: Stage) -> None:
    """All is done: there is nothing to go on with, so nothing is asked and the code is 0."""
    stage.agent("claude", "say:done", rest="[leash]\nbudget_usd = 0.000001")
    stage.plan(ONE)
    done = stage.run()
    assert (done.code, done.finished["completed"]) == (0, ["T-1"]), done.said
    assert done.of("gate_opened") == []
    assert stage.status()["state"] == "finished"


def yes(stage: Stage) -> int:
    (shown,) = stage.status()["gates"]
    stage.answer(shown["id"], "yes")
    return stage.run().code
