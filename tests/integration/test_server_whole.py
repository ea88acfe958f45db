"""Checkpoints that are broken or gone at a start: passed over, and said."""

from __future__ import annotations

import logging
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from kit.app import House, Open, play
from segue import i18n

BUSY = """#!/bin/sh
cat > /dev/null
echo $$ > pid
if [ "$SEGUE_RESUME" = 1 ]; then echo "=== CUSTOM TASK COMPLETE $SEGUE_NONCE ==="; exit 0; fi
sleep 1000
"""


@pytest.fixture
def house(tmp_path: Path) -> House:
    i18n.use("en")
    made = House(tmp_path)
    made.program(BUSY)
    return made


async def die(house: House, *, saved: int) -> tuple[str, list[Path]]:
    """A task at work with some checkpoints; then its server, its agent and what kept that die."""
    async with house.open(is_killed=True) as server:
        id = server.new("custom")
        await server.until(
            lambda: Path(server.commands.task(id)["workspace"] or "-", "pid").exists()
        )
        for _n in range(saved):
            server.app.supervisor.saving.save(id, "timer")
            await server.app.supervisor.saving.settle()
        store = server.app.supervisor.records.store
        sql = "SELECT path FROM checkpoints WHERE task = ? ORDER BY rowid"
        files = [server.app.data / row["path"] for row in store.all(sql, id)]
        sql = "SELECT keeper FROM runs WHERE task = ? AND keeper IS NOT NULL"
        (keeper,) = await server.until(lambda: [row["keeper"] for row in store.all(sql, id)])
        pid = int(Path(server.commands.task(id)["workspace"], "pid").read_text())
    for each in (keeper, pid):
        os.kill(each, signal.SIGKILL)
    return id, files


def recovered(server: Open, id: str) -> dict[str, Any]:
    """What the journal says of how it was taken up."""
    items = server.commands.journal(id, page_size=200)["items"]
    (found,) = [entry["metadata"] for entry in items if entry["trigger"] == "recover"]
    return dict(found)


def logged(caplog: pytest.LogCaptureFixture, id: str) -> str:
    return "\n".join(r.getMessage() for r in caplog.records if getattr(r, "task", None) == id)


def test_a_broken_checkpoint_is_passed_over_and_said(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    """The one before it counts: it is in the log by its name and in the journal, and the task
    goes on; people need not be told."""
    caplog.set_level(logging.WARNING)

    async def scene() -> None:
        id, files = await die(house, saved=2)
        files[-1].write_text("{broken")
        async with house.open() as server:
            await server.status(id, "completed")
            broken, whole = server.commands.checkpoints(id)["items"][-2:]
            assert (broken["whole"], whole["whole"]) == (False, True)
            assert f"checkpoint {broken['id']}" in logged(caplog, id)
            assert "is broken" in logged(caplog, id)
            taken = recovered(server, id)
            assert (taken["checkpoint"], taken["broken"]) == (whole["id"], [broken["id"]])
            assert server.troubles(id) == []

    play(scene)


def test_a_whole_checkpoint_is_no_news(house: House, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is said where nothing is broken."""
    caplog.set_level(logging.WARNING)

    async def scene() -> None:
        id, _files = await die(house, saved=1)
        async with house.open() as server:
            await server.status(id, "completed")
            oldest = server.commands.checkpoints(id)["items"][-1]
            assert recovered(server, id)["checkpoint"] == oldest["id"]
            assert (logged(caplog, id), server.troubles(id)) == ("", [])

    play(scene)


@pytest.mark.parametrize("saved", [0, 2])
def test_a_cold_start_is_told_with_what_is_lost(
    house: House, caplog: pytest.LogCaptureFixture, saved: int
) -> None:
    """No checkpoint is there, or none is whole: people are told once, the log and the journal say
    it, and the task goes on from its files."""
    caplog.set_level(logging.WARNING)

    async def scene() -> None:
        id, files = await die(house, saved=saved)
        for file in files:
            file.unlink()
        async with house.open() as server:
            await server.status(id, "completed")
            (text,) = server.troubles(id)
            assert "Lost:" in text
            assert ("to rewind to" in text) is bool(saved)
            assert f"cold start: {text}" in logged(caplog, id)
            assert recovered(server, id)["lost"] == text
            await server.app.supervisor.saving.settle()
            assert server.commands.checkpoints(id)["items"][0]["whole"]

    play(scene)


def test_a_fork_passes_over_what_is_broken_and_says_so(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    """Without a name the newest whole one is taken."""
    caplog.set_level(logging.WARNING)

    async def scene() -> None:
        id, files = await die(house, saved=2)
        async with house.open() as server:
            await server.status(id, "completed")
            await server.app.supervisor.saving.settle()
            assert logged(caplog, id) == ""
            newest = server.commands.checkpoints(id)["items"][0]
            for file in set(files[0].parent.iterdir()) - {files[0]}:
                file.write_text("{broken")
            forked = server.commands.fork(id)
            assert forked["forkedFrom"] == id
            assert f"checkpoint {newest['id']}" in logged(caplog, id)

    play(scene)


def test_of_a_task_that_waits_it_is_said_as_well(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    """There may be many of them: they are looked at while the server works."""

    async def scene() -> None:
        async with house.open() as server:
            id = server.new("custom")
            await server.status(id, "in_progress", "running")
            server.commands.pause(id)
            await server.app.supervisor.saving.settle()
            store = server.app.supervisor.records.store
            (row,) = store.all("SELECT path FROM checkpoints WHERE task = ?", id)
            (server.app.data / row["path"]).write_bytes(b"{")
        with caplog.at_level(logging.WARNING):
            async with house.open() as server:
                await server.until(
                    lambda: "none of its checkpoints is intact" in logged(caplog, id)
                )

    play(scene)
