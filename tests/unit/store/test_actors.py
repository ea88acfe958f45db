"""In whose name something is done."""

from __future__ import annotations

import asyncio

import pytest

from segue.store.actors import SEGUE, TIMER, Actor, acting, agent, current


def test_without_a_name_it_is_segue_itself() -> None:
    """What nobody asked for is Segue's own."""
    assert current() == SEGUE


def test_the_name_ends_with_its_block() -> None:
    """Whatever happens in the block, afterwards it is the one before again."""
    kim = Actor("kim", "terminal")
    with acting(kim):
        with pytest.raises(ZeroDivisionError), acting(TIMER):
            assert current() == TIMER
            raise ZeroDivisionError
        assert current() == kim
    assert current() == SEGUE


def test_tasks_beside_each_other_have_names_of_their_own() -> None:
    """Two requests that are served at the same time do not mix their actors."""
    seen = []

    async def one(run: str) -> None:
        with acting(agent(run)):
            await asyncio.sleep(0)
            seen.append(current().name)

    async def both() -> None:
        await asyncio.gather(one("a"), one("b"))

    asyncio.run(both())
    assert sorted(seen) == ["agent a", "agent b"]
