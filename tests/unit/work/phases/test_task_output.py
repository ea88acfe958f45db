"""The files of a workspace, and what changed in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kit.app import House, play
from segue.work.phases.create import NewTask
from segue.work.phases.refused import Refused

WRITES = """
write docs/draft.md The sea is deep.
write notes.txt remember
phase 1
write docs/final.md The sea is wide.
phase 2
"""


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_files_are_listed_and_nothing_leads_out(house: House) -> None:
    house.add(house.script(WRITES))
    (house.folder / "secret").write_text("outside")

    async def scene() -> None:
        async with house.open() as work:
            id = work.new()
            task = await work.status(id, "review")
            workspace = Path(task["workspace"])
            (workspace / "link").symlink_to(house.folder / "secret")
            (workspace / "folder").symlink_to(house.folder)
            found = await work.commands.files(id)
            assert [item["path"] for item in found["items"]] == ["docs/draft.md", "notes.txt"]
            assert found["items"][1]["size"] == (workspace / "notes.txt").stat().st_size
            assert (await work.commands.files(id, page=2, page_size=1))["items"] == [
                found["items"][1]
            ]
            with os.fdopen(work.commands.file(id, "notes.txt")) as file:
                assert "remember" in file.read()
            for path in ("link", "folder/secret", "../secret", "/etc/passwd", "none", ".."):
                with pytest.raises(Refused) as why:
                    work.commands.file(id, path)
                assert why.value.status == 404

    play(scene)


def test_a_diff_is_against_the_beginning_or_a_checkpoint(house: House) -> None:
    house.add(house.script(WRITES))

    async def scene() -> None:
        async with house.open() as work:
            id = work.new()
            await work.status(id, "review")
            await work.commands.saved(id)
            before = work.commands.checkpoints(id)["items"][0]["id"]
            found = await work.commands.diff(id)
            assert {one["path"] for one in found["files"]} == {"docs/draft.md", "notes.txt"}
            assert "+The sea is deep." in found["patch"]
            review = await work.pending(id, "review")
            work.commands.approve(review["id"])
            await work.until(lambda: work.commands.task(id)["currentPhase"] == 2)
            await work.status(id, "review")
            since = await work.commands.diff(id, since=before)
            assert [one["path"] for one in since["files"]] == ["docs/final.md"]
            assert (since["files"][0]["additions"], since["files"][0]["deletions"]) == (1, 0)
            with pytest.raises(Refused):
                await work.commands.diff(id, since="cp_none")

    play(scene)


def test_a_draft_has_no_files_and_no_diff(house: House) -> None:
    house.add(house.script(WRITES))

    async def scene() -> None:
        async with house.open() as work:
            id = work.commands.create_task(NewTask("t", "d", "report", "player"))["id"]
            assert (await work.commands.files(id))["items"] == []
            assert (await work.commands.diff(id))["files"] == []
            assert (await work.commands.conversation(id))["items"] == []

    play(scene)
