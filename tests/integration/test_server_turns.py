"""Slots and accounts of the server: who may begin or go on now, and who waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.app import House, Open, play
from kit.processes import is_stopped, state_of
from segue.store.changes import instant


def working(server: Open) -> int:
    found: int = server.commands.workers()["items"][0]["working"]
    return found


def test_a_pause_lets_the_next_task_begin(house: House) -> None:
    """A task that a person pauses has no slot any more: the queue moves at once."""
    house.add(house.script("hang\n"))

    async def scene() -> None:
        async with house.open(slots=1) as server:
            first, second = server.new("custom"), server.new("custom")
            await server.until(lambda: server.runs(first) == ["running"])
            assert server.commands.task(second)["status"] == "pending"
            server.commands.pause(first)
            await server.status(second, "in_progress")

    play(scene)


ASKS = """#!/bin/sh
finish() { echo "=== CUSTOM TASK COMPLETE $SEGUE_NONCE ==="; exit; }
ask() { printf '[USER_QUESTION %s]\\nquestion: Which sea?\\n[/USER_QUESTION]\\n' $SEGUE_NONCE; }
"""
ONE_SHOT = ASKS + 'cat >> ../said\n[ "$SEGUE_RESUME" = 1 ] && finish\nask\n'
LIVING = ASKS + "read -r line\nask\nread -r line\necho ${line##*,} >> ../said\nfinish\n"
AT_WORK = "until [ -e ../go ]; do sleep 0.05; done\n"


@pytest.mark.parametrize("is_living", [False, True])
@pytest.mark.parametrize("is_killed", [False, True])
def test_an_answer_is_taken_at_once_and_waits_for_a_slot(
    house: House, is_living: bool, is_killed: bool
) -> None:
    """The agent goes on, with the answer, when another one is done; a restart changes nothing."""
    house.program(LIVING if is_living else ONE_SHOT, more=f"interactive = {is_living}\n".lower())
    house.program(ASKS + "cat > /dev/null\n" + AT_WORK + "finish\n", "busy")

    async def answer() -> tuple[str, str]:
        async with house.open(slots=1, is_killed=is_killed) as server:
            id = server.new("custom")
            question = await server.pending(id, "question")
            other = server.new("custom", "busy")
            await server.until(lambda: server.runs(other) == ["running"])
            assert server.commands.answer(question["id"], "North")["status"] == "answered"
            await _waits(server, id)
            return id, other

    async def go_on(id: str, other: str) -> None:
        async with house.open(slots=1) as server:
            await _waits(server, id)
            folder = Path(server.commands.task(id)["workspace"]).parent
            (folder / "go").touch()
            await server.status(id, "completed")
            await server.status(other, "completed")
            said = (folder / "said").read_text().splitlines()
            assert len([line for line in said if "North" in line]) == 1

    async def scene() -> None:
        await go_on(*await answer())

    play(scene)


async def _waits(server: Open, id: str) -> None:
    """One agent works, and it is not this one."""
    await server.until(lambda: working(server) == 1)
    agent = server.commands.agent(id)
    assert (agent["status"], agent["currentStep"]) == ("running", "waits for a free slot")


def test_a_resumed_process_stands_still_until_there_is_a_slot(house: House) -> None:
    """Also over a death of the server."""
    house.program("#!/bin/sh\necho $$ > ../pid\nwhile :; do sleep 0.05; done\n")
    house.program("#!/bin/sh\n" + AT_WORK, "busy")

    async def resume() -> tuple[str, str, int]:
        async with house.open(slots=1, is_killed=True) as server:
            id = server.new("custom")
            await server.until(lambda: server.runs(id) == ["running"])
            pid = house.folder / ".segue/server/workspaces/pid"
            await server.until(lambda: pid.exists() and pid.read_text().strip())
            server.commands.pause(id)
            other = server.new("custom", "busy")
            await server.until(lambda: server.runs(other) == ["running"])
            server.commands.resume(id)
            await _waits(server, id)
            return id, other, int(pid.read_text())

    async def go_on(id: str, other: str, pid: int) -> None:
        async with house.open(slots=1) as server:
            await _waits(server, id)
            await server.until(lambda: is_stopped(pid))
            server.commands.cancel(other)
            await server.until(lambda: state_of(pid) in "RS")
            assert server.runs(id) == ["running"]
            server.commands.cancel(id)
            await server.until(lambda: not state_of(pid))

    async def scene() -> None:
        await go_on(*await resume())

    play(scene)


def test_an_answer_waits_for_the_end_of_its_accounts_limit(house: House) -> None:
    """And so do new tasks of the account; they go on at its end, even if the task that ran into
    the limit is no longer there."""
    house.add("[recovery]\nwake_margin_s = 0\n")
    house.program(ONE_SHOT, more='account = "one"\n')
    words = "You've hit your usage limit. Please try again in 3 seconds."
    limited = f'#!/bin/sh\ncat > /dev/null\necho "{words}"\nexit 1\n'
    house.program(limited, "limited", 'account = "one"\n')

    async def scene() -> None:
        async with house.open() as server:
            supervisor = server.app.supervisor
            id = server.new("custom")
            question = await server.pending(id, "question")
            other = server.new("custom", "limited")
            await server.status(other, "in_progress", "paused")
            until = await server.until(lambda: supervisor.accounts.parked_until("one"))
            server.commands.answer(question["id"], "North")
            new = server.new("custom")
            server.commands.cancel(other)
            step = server.commands.agent(id)["currentStep"]
            assert step == "waits for its account's limit to end"
            await server.status(id, "completed")
            await server.pending(new, "question")
            sql = "SELECT max(at) FROM journal WHERE cause = 'started' AND entity_id LIKE ?"
            for task in (id, new):
                (started,) = supervisor.records.store.one(sql, f"{task}-%") or ("",)
                assert until is not None and instant(started) >= until

    play(scene)
