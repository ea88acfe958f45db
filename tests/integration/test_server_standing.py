"""How the tasks of a server stand, as `segue status` and `segue resume` find them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kit.app import House
from segue import i18n
from segue.store.changes import Note
from segue.work import overview
from segue.work.phases import standing


@pytest.fixture
def house(tmp_path: Path) -> House:
    i18n.use("en")
    made = House(tmp_path)
    made.add(made.script("done\n") + made.script("depend api_key SEA_KEY\n", "needy"))
    return made


def test_the_usage_of_a_server_has_the_three_figures(house: House) -> None:
    """Before anything was told, and as the sum of what its runs told."""

    async def scene() -> str:
        async with house.open() as server:
            id = server.new("custom", "needy")
            await server.pending(id, "dependency")
            (before,) = overview.look(house.folder)
            nothing = {"input_tokens": 0, "output_tokens": 0, "cost_usd": None}
            assert before.to_json()["usage"] == nothing
            supervisor = server.app.supervisor
            run = supervisor.records.last_work(id)
            assert run is not None
            told = {"input_tokens": 7, "output_tokens": 5, "cost_usd": 0.25}
            supervisor.commit(Note("run", run.id, told))
            return id

    id = asyncio.run(scene())
    (found,) = overview.look(house.folder)
    used = {"input_tokens": 7, "output_tokens": 5, "cost_usd": 0.25}
    assert (found.kind, found.to_json()["usage"]) == ("server", used)
    assert found.to_json()["usage_by_task"] == {id: used}


def test_what_waits_is_a_question_only_if_it_is_one(house: House) -> None:
    """A dependency is no question."""

    async def scene() -> None:
        async with house.open() as server:
            await server.pending(server.new("custom", "needy"), "dependency")

    asyncio.run(scene())
    (found,) = overview.look(house.folder)
    assert standing.facts(found)["why"] == "1 item waits for you"
