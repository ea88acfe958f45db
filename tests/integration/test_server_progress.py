"""How far an agent has got: steps by their numbers, or the agent's own list."""

from __future__ import annotations

from collections.abc import Callable

from kit.app import House, Open, play
from segue.dialects.events import Event, StepDone, Todo, TodosListed
from segue.engine.executors import Heard

STEPS = """#!/bin/sh
hold() { until [ -e "$SEGUE_PROJECT/$1" ]; do sleep 0.02; done; }
step() { echo "=== STEP $1 DONE $SEGUE_NONCE ==="; }
"""


async def hearing(server: Open, task: str) -> Callable[..., None]:
    """As if the agent of a task told something."""
    engine = server.app.supervisor.engine
    await server.until(lambda: server.runs(task) == ["running"])
    (run,) = server.app.supervisor.records.open_runs(task)

    def told(*events: Event) -> None:
        for event in events:
            engine.notify(Heard(run.id, event))

    return told


def test_steps_move_the_progress(house: House) -> None:
    """`currentStep` is the step after the last one that is done; `progress` grows within the
    phase, and a new phase begins afresh."""
    house.program(
        STEPS + 'case "$SEGUE_PHASE" in\n'
        "1) step 1; hold one; step 2; step 1; hold two; mkdir -p docs; echo 'A text' > docs/draft.md"
        '; echo "=== PHASE 1 COMPLETE $SEGUE_NONCE ===" ;;\n*) hold never ;;\nesac\n'
    )

    async def scene() -> None:
        async with house.open() as server:
            commands, id = server.commands, server.new()
            await server.until(lambda: commands.agent(id)["currentStep"] == "2")
            first = commands.task(id)
            assert (first["progress"], commands.agent(id)["progress"]) == (25, 50)
            (house.folder / "one").touch()
            await server.until(lambda: commands.agent(id)["currentStep"] == "3")
            assert first["progress"] < commands.task(id)["progress"] < 50
            (house.folder / "two").touch()
            await server.status(id, "review")
            assert commands.agent(id)["currentStep"] is None
            commands.approve((await server.pending(id, "review"))["id"])
            await server.status(id, "in_progress", "running")
            assert (commands.agent(id)["currentStep"], commands.task(id)["progress"]) == (None, 50)
            steps = [e for e in commands.journal(id)["items"] if e["trigger"] == "step"]
            assert [e["metadata"]["done"] for e in steps] == [1, 2]

    play(scene)


def test_an_agents_own_list_counts_more_than_its_steps(house: House) -> None:
    """The entry in progress is the current step, and the share of those done the progress."""
    house.add(house.script("hang\n"))

    async def scene() -> None:
        async with house.open() as server:
            commands, id = server.commands, server.new("custom")
            told = await hearing(server, id)
            told(StepDone(1))
            await server.until(lambda: commands.agent(id)["currentStep"] == "2")
            assert commands.task(id)["progress"] == 50
            todos = (
                Todo("Read", "completed"),
                Todo("Write", "in_progress"),
                Todo("Try", "pending"),
            )
            told(TodosListed(todos), TodosListed(todos), StepDone(7))
            await server.until(lambda: commands.agent(id)["currentStep"] == "Write")
            agent = commands.agent(id)
            assert (agent["currentStep"], agent["progress"]) == ("Write", 33)
            assert (commands.task(id)["currentStep"], commands.task(id)["progress"]) == (
                "Write",
                33,
            )
            (listed,) = commands.list_tasks()["items"]
            assert (listed["currentStep"], listed["progress"]) == ("Write", 33)
            commands.cancel(id)
            assert commands.agent(id)["currentStep"] is None

    play(scene)


def test_the_steps_of_a_type_are_named(house: House) -> None:
    """From the first one on, and no step beyond the last."""
    house.add(house.script("hang\n"))

    async def scene() -> None:
        async with house.open() as server:
            commands, id = server.commands, server.new("create_app")
            told = await hearing(server, id)
            assert commands.agent(id)["currentStep"].startswith("1. Understand")
            told(StepDone(1))
            await server.until(lambda: commands.agent(id)["currentStep"].startswith("2. "))
            assert commands.agent(id)["progress"] == 33
            told(StepDone(99))
            await server.until(lambda: commands.agent(id)["currentStep"].startswith("3. "))
            assert (commands.agent(id)["progress"], commands.task(id)["progress"]) == (99, 25)
            commands.cancel(id)

    play(scene)


LIVING = """#!/bin/sh
step() { echo "=== STEP $1 DONE $SEGUE_NONCE ==="; }
mkdir -p docs
read -r first
step 1; step 2
echo 'A text' > docs/draft.md; echo "=== PHASE 1 COMPLETE $SEGUE_NONCE ==="
read -r second
step 1
read -r never
"""


def test_each_phase_of_a_living_agent_begins_afresh(house: House) -> None:
    """Also after a restart, when all that it printed is heard again."""
    house.program(LIVING, more="interactive = true\n")

    async def scene() -> None:
        async with house.open(is_killed=True) as server:
            commands, id = server.commands, server.new()
            review = (await server.pending(id, "review"))["id"]
            commands.approve(review)
            await server.until(lambda: commands.agent(id)["currentStep"] == "2")
        async with house.open() as server:
            attempts = server.app.supervisor.attempts
            await server.until(lambda: [a for a in attempts.values() if a.progress])
            assert server.commands.agent(id)["currentStep"] == "2"
            steps = [e for e in server.commands.journal(id)["items"] if e["trigger"] == "step"]
            assert [e["metadata"]["done"] for e in steps][-1] == 1
            server.commands.cancel(id)

    play(scene)
