"""The real programs in the sandbox: they work there, in their own state, on named hosts."""

from __future__ import annotations

import json

import pytest

from kit.attack import needs_sandbox
from kit.stage import FULL, ONE, THREE, Stage

pytestmark = needs_sandbox
KINDS = ("claude", "codex")


def confined(network: str = '"full"') -> str:
    return f'{FULL}\nsandbox = "bwrap"\nnetwork = {network}\n'


@pytest.mark.parametrize("kind", KINDS)
def test_three_tasks_run_to_their_end(stage: Stage, kind: str) -> None:
    """With Segue's tools, checked in the sandbox as well; nothing is left behind."""
    stage.agent(kind, "plan", more=confined(), mcp=True)
    stage.plan(THREE)
    done = stage.run()
    stage.completed(done, "T-1", "T-2", "T-3")
    assert stage.text("three.txt") == "1\n2\n"
    stage.nothing_left()


@pytest.mark.parametrize("kind", KINDS)
def test_its_model_is_the_only_host_that_it_reaches(stage: Stage, kind: str) -> None:
    """On an allow list the program finds the proxy by itself, and its model behind it."""
    stage.agent(kind, "say:done", more=confined('["127.0.0.1"]'))
    stage.plan(ONE)
    stage.completed(stage.run())
    assert len(stage.asked()) == 1
    log = next((stage.root / ".segue" / "logs").glob("*.network.log")).read_text()
    assert "allowed 127.0.0.1:" in log


@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_segue_adopts_it_in_its_sandbox(stage: Stage, kind: str) -> None:
    """The model is asked once."""
    stage.agent(kind, "slow:2", more=confined())
    stage.plan(ONE)
    going = stage.start_run()
    stage.asked(1)
    going.kill()
    stage.completed(stage.run())
    assert len(stage.asked()) == 1
    stage.nothing_left()


@pytest.mark.parametrize("kind", KINDS)
def test_it_asks_by_tool_and_resumes_its_conversation(stage: Stage, kind: str) -> None:
    """Segue's tools and the program's own conversation both reach out of the sandbox."""
    asking = {"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}
    ask = f"loop:mcp__segue__ask_question {json.dumps(asking)}"
    stage.agent(kind, ask, "say:I wait", more=confined(), mcp=True)
    stage.plan(ONE)
    done = stage.run()
    assert (done.code, done.finished["waiting"]) == (3, ["T-1"]), done.said
    (gate,) = done.of("gate_opened")
    assert gate["text"] == "Which database?"
    stage.plays("say:done")
    stage.answer(gate["gate"], "SQLite")
    stage.completed(stage.run())
    last = stage.asked()[-1]
    assert stage.is_in_conversation(last)
    assert last.prompt.endswith("SQLite")
    stage.nothing_left()
