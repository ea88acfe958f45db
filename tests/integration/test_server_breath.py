"""Several things that an agent tells in one breath: the most important first, and none is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kit.app import House, play

READ = """#!/bin/sh
if [ -n "$SEGUE_RESUME" ]; then
  cat > told; echo "key is $SEA_KEY" >> told
  echo "=== CUSTOM TASK COMPLETE $SEGUE_NONCE ==="; exit
fi
cat > /dev/null
"""
QUESTION = "[USER_QUESTION $SEGUE_NONCE]\\nquestion: Which sea?\\n[/USER_QUESTION]\\n"
OTHER = "[USER_QUESTION $SEGUE_NONCE]\\nquestion: How deep?\\n[/USER_QUESTION]\\n"
DEPENDENCY = (
    "[DEPENDENCY_REQUEST $SEGUE_NONCE]\\ntype: api_key\\nname: SEA_KEY\\n[/DEPENDENCY_REQUEST]\\n"
)
FATAL = "[ERROR $SEGUE_NONCE]\\ntype: fatal\\nmessage: no sea\\n[/ERROR]\\n"
DONE = "=== CUSTOM TASK COMPLETE $SEGUE_NONCE ===\\n"


def told_by(server: object, id: str) -> str:
    workspace = server.commands.task(id)["workspace"]  # type: ignore[attr-defined]
    return Path(workspace, "told").read_text(encoding="utf-8")


@pytest.mark.parametrize("more", ["", "interactive = true\n"], ids=["one-shot", "interactive"])
def test_a_question_beside_a_dependency_is_asked_after_it(house: House, more: str) -> None:
    """The agent goes on when both are settled, and is told both."""
    house.program(READ + f'printf "{QUESTION}{DEPENDENCY}"; sleep 1000\n', more=more)
    if more:  # it is started again by what it depends on, and reads a line
        path = house.folder / "player.sh"
        path.write_text(READ.replace("cat >", "head -n 1 >") + path.read_text().split("null\n")[1])

    async def scene() -> None:
        async with house.open(is_killed=True) as server:
            id = server.new("custom")
            await server.status(id, "in_progress", "waiting_dependency")
            assert not server.commands.questions(id)["items"]
            server.commands.provide((await server.pending(id, "dependency"))["id"], "key-123456")
            assert server.commands.task(id)["agentStatus"] == "waiting_question"
        async with house.open() as server:
            server.commands.answer((await server.pending(id, "question"))["id"], "the North Sea")
            await server.status(id, "completed")
            told = told_by(server, id)
            assert told.count("SEA_KEY is now set") == told.count("the North Sea") == 1
            assert "key is key-123456" in told
            assert not server.troubles(id)

    play(scene)


def test_two_questions_are_asked_one_after_the_other(house: House) -> None:
    """Each once, however often it was said; the answers say what they answer."""
    house.program(READ + f'printf "{QUESTION}{OTHER}{QUESTION}"; sleep 1000\n')

    async def scene() -> None:
        async with house.open() as server:
            id = server.new("custom")
            for question, answer in (("Which sea?", "the North Sea"), ("How deep?", "95 m")):
                gate = await server.pending(id, "question")
                assert gate["question"] == question
                server.commands.answer(gate["id"], answer)
            await server.status(id, "completed")
            lines = told_by(server, id).splitlines()
            assert [line for line in lines if "Which sea?" in line and "the North Sea" in line]
            assert [line for line in lines if "How deep?" in line and "95 m" in line]
            assert len(server.commands.questions(id)["items"]) == 2

    play(scene)


def test_an_agent_that_lives_gets_a_line_for_each_answer(house: House) -> None:
    """With the id of its question."""
    body = "#!/bin/sh\nread prompt\n" + f'printf "{QUESTION}{OTHER}"\n'
    body += 'read one; read two; printf "%s\\n%s\\n" "$one" "$two" > told\n' + f'printf "{DONE}"\n'
    house.program(body, more="interactive = true\n")

    async def scene() -> None:
        async with house.open() as server:
            id = server.new("custom")
            for answer in ("the North Sea", "95 m"):
                server.commands.answer((await server.pending(id, "question"))["id"], answer)
            await server.status(id, "completed")
            lines = [json.loads(line) for line in told_by(server, id).splitlines()]
            asked = server.commands.questions(id)["items"]
            assert [line["questionId"] for line in lines] == [gate["id"] for gate in asked]
            assert [line["answer"] for line in lines] == ["the North Sea", "95 m"]

    play(scene)


@pytest.mark.parametrize("more", ["", "interactive = true\n"], ids=["one-shot", "interactive"])
@pytest.mark.parametrize(
    ("said", "status"), [(DEPENDENCY + FATAL, "failed"), (DONE, "completed")], ids=["error", "end"]
)
def test_what_counts_more_comes_first(house: House, said: str, status: str, more: str) -> None:
    """An error and the end leave no room for a question: people are told what it was."""
    house.program(f'#!/bin/sh\nread prompt\nprintf "{QUESTION}{said}"; sleep 1000\n', more=more)

    async def scene() -> None:
        async with house.open() as server:
            id = server.new("custom")
            await server.status(id, status)
            assert not server.commands.questions(id)["items"]
            assert any("Which sea?" in text for text in server.troubles(id))

    play(scene)


STUBBORN = """#!/bin/sh
if [ -n "$SEGUE_RESUME" ]; then
  kill -0 "$(cat pid)" && touch overlap
  echo "=== CUSTOM TASK COMPLETE $SEGUE_NONCE ==="; exit
fi
trap 'touch asked' TERM
echo $$ > pid
"""


@pytest.mark.parametrize("is_killed", [False, True])
def test_an_agent_that_is_started_again_never_meets_the_old_one(
    house: House, is_killed: bool
) -> None:
    """A dependency starts a living agent again: the next one begins when the old one is gone,
    however long that takes to end, and also where the server is killed meanwhile."""
    body = STUBBORN + f'printf "{DEPENDENCY}"; while :; do sleep 0.1; done\n'
    house.program(body, more="interactive = true\n")

    async def scene() -> None:
        async with house.open(is_killed=is_killed) as server:
            id = server.new("custom")
            gate = await server.pending(id, "dependency")
            workspace = Path(server.commands.task(id)["workspace"])
            server.commands.provide(gate["id"], "key-123456")
            if is_killed:
                await server.until((workspace / "asked").exists)
            else:
                await server.status(id, "completed")
        if is_killed:
            async with house.open() as server:
                await server.status(id, "completed")
        assert not (workspace / "overlap").exists(), "two agents for one task"

    play(scene)
