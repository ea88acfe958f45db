"""Tokens and cost of all works, and the types of tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.app import House, play
from segue.core.machines import RunState
from segue.store.changes import Note


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_usage_is_summed_up_each_way(house: House) -> None:
    house.add(house.script("write docs/draft.md The sea.\nphase 1\n"))

    async def scene() -> None:
        async with house.open() as work:
            for _ in range(2):
                await work.status(work.new(), "review")
            store = work.app.supervisor.records.store
            runs = [
                row["id"]
                for row in store.all("SELECT id FROM runs WHERE state = ?", RunState.ASKED)
            ]
            runs = runs or [
                row["id"] for row in store.all("SELECT id FROM runs WHERE role = 'work'")
            ]
            for run in runs:
                used = {"input_tokens": 10, "output_tokens": 5, "cost_usd": 0.5}
                store.move(Note("run", run, used), at=work.app.supervisor.clock.now())
            found = work.commands.used()
            assert found["total"] == {"inputTokens": 20, "outputTokens": 10, "costUsd": 1.0}
            for way in ("byDay", "byAccount", "byAgent", "byWork"):
                (one,) = found[way]
                assert one["inputTokens"] == 20
            assert found["byWork"][0]["work"]["kind"] == "server"

    play(scene)


def test_types_have_their_phases(house: House) -> None:
    async def scene() -> None:
        async with house.open() as work:
            types = {one["name"]: one for one in work.commands.list_types()["items"]}
            assert set(types) >= {"create_app", "modify_app", "workflow", "custom", "report"}
            assert [phase["name"] for phase in types["report"]["phases"]] == ["draft", "final"]
            assert types["custom"]["phases"] == []

    play(scene)
