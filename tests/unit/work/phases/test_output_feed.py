"""What agents say is handed over as it comes, and only while somebody follows."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kit.app import House, play

SLOW = """
say one
write docs/draft.md The sea is deep.
phase 1
say two
write docs/final.md The sea is wide.
phase 2
"""


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_items_come_while_somebody_follows(house: House) -> None:
    """What was said before is not repeated; text that is not over comes again under its id."""
    house.add(house.script(SLOW))

    async def scene() -> None:
        async with house.open() as work:
            first = work.new()
            await work.status(first, "review")
            heard: list[dict[str, object]] = []
            work.commands.follow_output(heard.extend)
            review = await work.pending(first, "review")
            work.commands.approve(review["id"])
            await work.status(first, "review")
            await work.until(lambda: any("two" in str(item["text"]) for item in heard))
            assert all(item["taskId"] == first for item in heard)
            assert not any("one" in str(item["text"]) for item in heard)
            page = await work.commands.conversation(first, page_size=200)
            ids = [item["id"] for item in page["items"]]
            assert len(ids) == len(set(ids)) == page["total"]
            assert {item["id"] for item in heard} <= set(ids)
            work.commands.follow_output(None)
            count = len(heard)
            second = work.new()
            await work.status(second, "review")
            await asyncio.sleep(0)
            assert len(heard) == count

    play(scene)


def test_a_page_has_only_its_items(house: House) -> None:
    house.program("#!/bin/sh\nprintf 'one\\n\\ntwo\\n\\nthree\\n'\nexit 3\n")

    async def scene() -> None:
        async with house.open() as work:
            id = work.new()
            await work.status(id, "failed")
            whole = await work.commands.conversation(id, page_size=200)
            texts = [item["text"] for item in whole["items"]]
            assert texts[:3] == ["one", "two", "three"]
            pages = [
                await work.commands.conversation(id, page=n, page_size=1)
                for n in range(1, whole["total"] + 1)
            ]
            assert [page["items"][0]["text"] for page in pages] == texts
            assert {page["total"] for page in pages} == {len(texts)}

    play(scene)
