"""How an attempt of the server's agents comes out, by the same rules as in a plan: limits, last
words, silence, deaths, what was used."""

from __future__ import annotations

import json
import os
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kit.app import House, Open, play
from segue.engine.clock import SystemClock

OPENED = {"type": "system", "subtype": "init", "session_id": "talk-1"}
AT_WORK = {
    "type": "assistant",
    "session_id": "talk-1",
    "message": {"content": [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]},
}
WELL = {"type": "result", "subtype": "success", "is_error": False, "result": "done"}
BADLY = {"type": "result", "subtype": "error", "is_error": True, "result": "it broke"}
VAGUE = {**BADLY, "result": "API Error: 529 Overloaded", "api_error_status": 529}
IN_2_HOURS = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=2)


def rejected(at: datetime = IN_2_HOURS) -> dict[str, Any]:
    info = {"status": "rejected", "resetsAt": int(at.timestamp()), "rateLimitType": "five_hour"}
    return {"type": "rate_limit_event", "rate_limit_info": info}


class Tomorrow:
    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(days=1)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def agent(house: House, *turns: list[dict[str, Any]], kind: str = "claude", code: int = 1) -> None:
    """A program that keeps what it reads in `heard`, and prints one of these turns each time it is
    started; the last one again and again."""
    folder = house.folder / "turns"
    folder.mkdir()
    for number, turn in enumerate(turns, 1):
        (folder / str(number)).write_text("".join(json.dumps(told) + "\n" for told in turn))
    path = house.folder / f"{kind}.sh"
    path.write_text(
        f'#!/bin/sh\nread line; echo "$line" >> {house.folder}/heard\n'
        f"n=$(wc -l < {house.folder}/heard); [ -e {folder}/$n ] || n={len(turns)}\n"
        f"cat {folder}/$n\nexit {code}\n"
    )
    path.chmod(0o755)
    house.add(f'[agents.player]\nkind = "{kind}"\ncommand = ["{path}"]\nmcp = false\n')


def heard(house: House) -> list[str]:
    path = house.folder / "heard"
    return path.read_text("utf-8").splitlines() if path.exists() else []


async def parked(server: Open, id: str) -> dict[str, Any]:
    await server.until(lambda: server.commands.agent(id)["status"] == "paused")
    (park,) = server.commands.limits()["parks"]
    return dict(park)


# --- limits -------------------------------------------------------------------------------------


def test_an_error_after_the_agent_worked_again_is_a_failure(house: House) -> None:
    """It got over its limit by itself: nothing is waited for."""
    agent(house, [OPENED, rejected(), AT_WORK, BADLY])

    async def scene() -> None:
        async with house.open() as server:
            id = server.new("custom")
            task = await server.status(id, "failed")
            assert "it broke" in task["error"]
            assert server.commands.limits()["parks"] == []

    play(scene)


def test_figures_are_kept_over_vaguer_words(house: House) -> None:
    """The error that the limit led to names no time: the time of the limit counts."""
    agent(house, [OPENED, rejected(), VAGUE])

    async def scene() -> None:
        async with house.open() as server:
            park = await parked(server, server.new("custom"))
            assert park["kind"] == "session_limit"
            assert datetime.fromisoformat(park["resetsAt"]) == IN_2_HOURS

    play(scene)


def test_a_good_end_counts_more_than_a_limit_before_it(house: House) -> None:
    """The program waited by itself and ended well: it only has to report."""
    agent(house, [OPENED, rejected(), WELL])

    async def scene() -> None:
        async with house.open() as server:
            id = server.new("custom")
            await server.until(lambda: len(heard(house)) == 2)
            assert "without a report" in heard(house)[1]
            await server.status(id, "failed")
            assert server.commands.limits()["parks"] == []

    play(scene)


def test_the_users_own_patterns_count(house: House) -> None:
    """In the last words of a text agent, as in a plan."""
    house.program("#!/bin/sh\ncat > /dev/null\necho 'the model sleeps for now'\nexit 1\n")
    house.add('[[limits.patterns]]\npattern = "the model sleeps"\nkind = "daily_quota"\n')

    async def scene() -> None:
        async with house.open() as server:
            park = await parked(server, server.new("custom"))
            assert park["kind"] == "daily_quota"

    play(scene)


def test_the_last_word_is_the_reason(house: House) -> None:
    """An exit code says nothing that people could use."""
    agent(house, [OPENED, BADLY], code=7)

    async def scene() -> None:
        async with house.open() as server:
            task = await server.status(server.new("custom"), "failed")
            assert task["error"].startswith("it broke")

    play(scene)


# --- silence ------------------------------------------------------------------------------------


def test_an_agent_that_is_silent_for_too_long_is_ended(house: House) -> None:
    """It continues in its conversation, and learns that it was interrupted; then it has failed."""
    house.program(
        f"#!/bin/sh\ncat >> {house.folder}/heard\necho here\nexec sleep 600\n",
        more='silence_max = "1s"\n',
    )

    async def scene() -> None:
        async with house.open() as server:
            task = await server.status(server.new("custom"), "failed")
            assert "it printed nothing for too long (1s)" in task["error"]
            said = "\n".join(heard(house))
            assert said.count("You were interrupted before you finished") == 1

    play(scene)


def test_an_agent_that_waits_for_a_person_is_not_silent(house: House) -> None:
    """It stands still: how long a person takes is not its fault."""
    house.program(
        """#!/usr/bin/env python3
import json, os, sys
asked = {"question": "Which sea?", "required": True}
sys.stdin.readline()
print(f"[USER_QUESTION_JSON {os.environ['SEGUE_NONCE']}]")
print(json.dumps(asked))
print("[/USER_QUESTION_JSON]", flush=True)
sys.stdin.readline()
print(f"=== CUSTOM TASK COMPLETE {os.environ['SEGUE_NONCE']} ===", flush=True)
sys.stdin.readline()
""",
        more='interactive = true\nsilence_max = "5m"\n',
    )

    async def scene() -> None:
        async with house.open() as server:
            id = server.new("custom")
            gate = await server.pending(id, "question")
            supervisor = server.app.supervisor
            supervisor.clock = Tomorrow()
            supervisor.silences.look(supervisor.clock.now())
            assert [attempt.is_ending for attempt in supervisor.attempts.values()] == [False]
            supervisor.clock = SystemClock()
            server.commands.answer(gate["id"], "the north sea")
            await server.status(id, "completed")
            assert len(server.runs(id)) == 1

    play(scene)


# --- cut off ------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_paused", [False, True])
def test_an_agent_that_was_killed_while_no_segue_lived_was_cut_off(
    house: House, is_paused: bool
) -> None:
    """It continues, is told so, and nothing counts against it; also if a person had paused it."""
    house.program(
        f"""#!/bin/sh
cat >> {house.folder}/heard
if [ "$SEGUE_RESUME" = 1 ]; then echo "=== CUSTOM TASK COMPLETE $SEGUE_NONCE ==="; exit 0; fi
echo $$ > {house.folder}/pid.new; mv {house.folder}/pid.new {house.folder}/pid
exec sleep 600
"""
    )
    pid = house.folder / "pid"

    async def scene() -> None:
        async with house.open(is_killed=True) as server:
            id = server.new("custom")
            await server.until(pid.exists)
            await server.until(lambda: server.runs(id) == ["running"])
            if is_paused:
                server.commands.pause(id)
        os.kill(int(pid.read_text()), signal.SIGKILL)
        async with house.open() as server:
            if is_paused:
                await server.until(lambda: server.runs(id) == ["cut_off"])
                server.commands.resume(id)
            await server.status(id, "completed")
            assert server.runs(id) == ["cut_off", "completed"]
            assert "You were interrupted before you finished" in "\n".join(heard(house))

    play(scene)


# --- what was used ------------------------------------------------------------------------------


def test_a_program_that_counts_its_conversation_is_not_counted_twice(house: House) -> None:
    """Codex tells what the whole conversation used: each run gets its own share."""
    opened = {"type": "thread.started", "thread_id": "talk-1"}
    first = {"type": "turn.completed", "usage": {"input_tokens": 100, "output_tokens": 10}}
    second = {"type": "turn.completed", "usage": {"input_tokens": 150, "output_tokens": 30}}
    agent(house, [opened, first], [opened, second], kind="codex", code=0)

    async def scene() -> None:
        async with house.open() as server:
            task = await server.status(server.new("custom"), "failed")
            used = task["usage"]
            assert (used["inputTokens"], used["outputTokens"]) == (150, 30)

    play(scene)
