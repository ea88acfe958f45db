"""A message reaches the agent of a task once: at once, or with its next turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.app import House, play
from segue.store.actors import Actor, acting
from segue.work.phases.create import NewTask
from segue.work.phases.refused import Refused

KIM = Actor("kim", "page")
# It keeps each prompt, asks at its first turn, and completes with the second.
ASKS = """#!/bin/sh
input=$(cat)
printf '%s\\n' "$input" >> prompts
if [ "$SEGUE_RESUME" = 1 ]; then
  nonce=$(cat nonce)
  echo "=== CUSTOM TASK COMPLETE $nonce ==="
else
  nonce=$(printf '%s' "$input" | sed -n 's/.*CUSTOM TASK COMPLETE \\([a-z0-9]*\\) ===.*/\\1/p' | head -1)
  echo "$nonce" > nonce
  printf '[USER_QUESTION %s]\\ncategory: choice\\nquestion: Which?\\noptions:\\n  - A\\n  - B\\n[/USER_QUESTION]\\n' "$nonce"
fi
"""
LISTENS = """#!/bin/sh
read -r first
nonce=$(printf '%s' "$first" | sed -n 's/.*CUSTOM TASK COMPLETE \\([a-z0-9]*\\) ===.*/\\1/p' | head -1)
echo ready
while read -r line; do
  printf '%s\\n' "$line" >> heard
  case $line in *finish*) echo "=== CUSTOM TASK COMPLETE $nonce ===";; esac
done
"""


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_one_that_waits_reads_it_with_its_next_turn(house: House) -> None:
    """Once, also if the server is killed in between; it stands in the conversation."""
    house.program(ASKS)

    async def scene() -> None:
        async with house.open(is_killed=True) as work:
            id = work.new("custom")
            await work.pending(id, "question")
            with acting(KIM):
                sent = work.commands.send_message(id, "mind the tides")
            assert (sent["status"], sent["actor"], sent["via"]) == ("waiting", "kim", "page")
        async with house.open() as work:
            question = await work.pending(id, "question")
            work.commands.answer(question["id"], "A")
            task = await work.status(id, "completed")
            prompts = (Path(task["workspace"]) / "prompts").read_text()
            assert prompts.count("mind the tides") == 1
            assert "kim" in prompts
            (shown,) = work.commands.messages(id)["items"]
            assert shown["status"] == "delivered"
            items = (await work.commands.conversation(id))["items"]
            said = [(one["kind"], one["text"]) for one in items if one["role"] == "person"]
            assert said == [("message", "mind the tides"), ("message", "A")]

    play(scene)


def test_one_that_takes_lines_reads_it_at_once(house: House) -> None:
    house.program(LISTENS, more="interactive = true\n")

    async def scene() -> None:
        async with house.open() as work:
            id = work.new("custom")
            task = await work.status(id, "in_progress", "running")
            await work.until(lambda: b"ready" in work.commands.log(id)[0])
            work.commands.send_message(id, "one")
            work.commands.send_message(id, "finish")
            task = await work.status(id, "completed")
            heard = (Path(task["workspace"]) / "heard").read_text()
            assert heard.count("one") == heard.count("finish") == 1

    play(scene)


def test_a_draft_reads_it_with_its_first_prompt_and_what_is_over_refuses(house: House) -> None:
    house.program(ASKS)

    async def scene() -> None:
        async with house.open() as work:
            id = work.commands.create_task(NewTask("t", "d", "custom", "player"))["id"]
            work.commands.send_message(id, "from the start")
            work.commands.submit(id)
            question = await work.pending(id, "question")
            work.commands.answer(question["id"], "B")
            task = await work.status(id, "completed")
            prompts = (Path(task["workspace"]) / "prompts").read_text()
            assert prompts.count("from the start") == 1
            with pytest.raises(Refused) as why:
                work.commands.send_message(id, "too late")
            assert why.value.status == 409

    play(scene)
