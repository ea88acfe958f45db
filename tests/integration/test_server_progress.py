"""How far an agent has got: steps by their numbers, or the agent's own list."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from office_kit import House, play

from segue.dialects.events import StepDone, Todo, TodosListed

STEPS = """#!/bin/sh
hold() { until [ -e "$SEGUE_PROJECT/$1" ]; do sleep 0.02; done; }
step() { echo "=== STEP $1 DONE $SEGUE_NONCE ==="; }
"""


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
            desk, id = server.desk, server.new()
            await server.until(lambda: desk.agent(id)["currentStep"] == "2")
            first = desk.task(id)
            assert (first["progress"], desk.agent(id)["progress"]) == (25, 50)
            (house.folder / "one").touch()
            await server.until(lambda: desk.agent(id)["currentStep"] == "3")
            assert first["progress"] < desk.task(id)["progress"] < 50
            (house.folder / "two").touch()
            await server.status(id, "review")
            assert desk.agent(id)["currentStep"] is None
            desk.approve((await server.pending(id, "review"))["id"])
            await server.status(id, "in_progress", "running")
            assert (desk.agent(id)["currentStep"], desk.task(id)["progress"]) == (None, 50)
            steps = [e for e in desk.journal(id)["items"] if e["trigger"] == "step"]
            assert [e["metadata"]["done"] for e in steps] == [1, 2]

    play(scene)


def test_an_agents_own_list_counts_more_than_its_steps(house: House) -> None:
    """The entry in progress is the current step, and the share of those done the progress."""
    house.add(house.script("hang\n"))

    async def scene() -> None:
        async with house.open() as server:
            desk, id = server.desk, server.new("custom")
            office = server.office.supervisor
            (attempt,) = await server.until(lambda: list(office.attempts.values()))
            await server.until(lambda: server.runs(id) == ["running"])
            office._heard(attempt, StepDone(1))
            assert (desk.agent(id)["currentStep"], desk.task(id)["progress"]) == ("2", 50)
            todos = (
                Todo("Read", "completed"),
                Todo("Write", "in_progress"),
                Todo("Try", "pending"),
            )
            for _twice in range(2):
                office._heard(attempt, TodosListed(todos))
            office._heard(attempt, StepDone(7))
            agent = desk.agent(id)
            assert (agent["currentStep"], agent["progress"]) == ("Write", 33)
            assert (desk.task(id)["currentStep"], desk.task(id)["progress"]) == ("Write", 33)
            (listed,) = desk.list_tasks()["items"]
            assert (listed["currentStep"], listed["progress"]) == ("Write", 33)
            desk.cancel(id)
            assert desk.agent(id)["currentStep"] is None

    play(scene)


def test_the_steps_of_a_type_are_named(house: House) -> None:
    """From the first one on, and no step beyond the last."""
    house.add(house.script("hang\n"))

    async def scene() -> None:
        async with house.open() as server:
            desk, id = server.desk, server.new("create_app")
            office = server.office.supervisor
            (attempt,) = await server.until(lambda: list(office.attempts.values()))
            await server.until(lambda: server.runs(id) == ["running"])
            assert desk.agent(id)["currentStep"].startswith("1. Understand")
            office._heard(attempt, StepDone(1))
            assert desk.agent(id)["currentStep"].startswith("2. ")
            assert desk.agent(id)["progress"] == 33
            office._heard(attempt, StepDone(99))
            assert desk.agent(id)["currentStep"].startswith("3. ")
            assert (desk.agent(id)["progress"], desk.task(id)["progress"]) == (99, 25)
            desk.cancel(id)

    play(scene)
