"""SIGTERM to the server: an end in order, with checkpoints of what is at work, in a bounded time."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
from pathlib import Path

import pytest

from kit.app import House, Open, play
from kit.command import start_segue
from kit.server import TOKEN, Server
from kit.waiting import until
from segue import i18n
from segue.work.phases import closing
from segue.work.phases.supervisor import Supervisor

BUSY = """#!/bin/sh
cat > /dev/null
echo half > draft.md
echo $$ > pid
until [ -e go ]; do sleep 0.02; done
echo "=== CUSTOM TASK COMPLETE $SEGUE_NONCE ==="
"""
SLOW_GIT = """#!/bin/sh
for word in "$@"; do
  if [ "$word" = write-tree ]; then touch "{folder}/slow"; exec sleep 1000; fi
done
exec {git} "$@"
"""


@pytest.fixture
def house(tmp_path: Path) -> House:
    i18n.use("en")
    made = House(tmp_path)
    made.program(BUSY, "busy")
    return made


def pid_file(server: Open, id: str) -> Path:
    return Path(server.commands.task(id)["workspace"] or "-") / "pid"


def serve(house: House) -> Server:
    """A `segue serve` of its own in a folder."""
    env = {**house.environ, "SEGUE_TOKEN": TOKEN}
    words = ("serve", "--port", "0", "--json")
    return Server(start_segue(*words, cwd=house.folder, env=env, output=house.folder / "served"))


def test_sigterm_writes_a_checkpoint_of_what_is_at_work(house: House) -> None:
    """Exit 0, the agent lives on, and its task has a checkpoint, whole, with the files."""
    served = serve(house)
    try:
        given = {
            "title": "T",
            "description": "D",
            "type": "custom",
            "agent": "busy",
            "submit": True,
        }
        id = served.post("/tasks", given).ok()["id"]
        workspace = house.folder / ".segue" / "server" / "workspaces" / id
        until(lambda: (workspace / "pid").exists() and (workspace / "pid").read_text().strip())
        pid = int((workspace / "pid").read_text())
    finally:
        code = served.stop()
    assert code == 0
    os.kill(pid, 0)  # it is there
    served = serve(house)
    try:
        items = served.items(f"/tasks/{id}/checkpoints")
        assert [(item["kind"], item["whole"]) for item in items] == [("stop", True)]
        (workspace / "go").touch()
        until(lambda: served.task(id)["status"] == "completed")
    finally:
        assert served.stop() == 0


def test_the_checkpoint_of_the_end_can_be_gone_back_to(house: House) -> None:
    """It has the files as they were; one that waits has its checkpoint, and gets no other."""
    house.add(house.script('ask "Which sea?" North Baltic\n', "asker"))

    async def scene() -> None:
        async with house.open() as server:
            id, waits = server.new("custom", "busy"), server.new("custom", "asker")
            await server.until(lambda: pid_file(server, id).exists())
            await server.pending(waits, "question")
        async with house.open() as server:
            assert (server.kinds(id), server.kinds(waits)) == (["stop"], ["question"])
            forked = server.commands.fork(id)["id"]
            copied = server.app.data / "workspaces" / forked / "draft.md"
            assert copied.read_text() == "half\n"
            for each in (id, waits, forked):
                server.commands.cancel(each)

    play(scene)


def test_an_end_does_not_wait_for_a_snapshot_for_ever(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A git that hangs is killed after the bound, and it is said of which task."""
    git = subprocess.run(
        ["which", "git"], capture_output=True, text=True, check=True
    ).stdout.strip()
    folder = house.folder / "bin"

    async def scene() -> None:
        async with house.open(is_killed=True) as server:
            id = server.new("custom", "busy")
            await server.until(lambda: pid_file(server, id).exists())
            folder.mkdir()
            (folder / "git").write_text(SLOW_GIT.format(folder=house.folder, git=git))
            (folder / "git").chmod(0o755)
            monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
            app: Supervisor = server.app.supervisor
            closing.save(app)
            await server.until((house.folder / "slow").exists)
            with caplog.at_level(logging.WARNING):
                async with asyncio.timeout(closing.BREAK_OFF_S):
                    await closing.settle(app, within_s=0.1)
            assert not app.saving.underway
            assert [getattr(record, "task", None) for record in caplog.records].count(id) == 1
            os.kill(int(pid_file(server, id).read_text()), signal.SIGKILL)

    play(scene)


def test_an_agent_whose_task_was_lost_with_the_memory_is_ended(house: House) -> None:
    """Nobody will ever ask for what it does, and nobody could follow it: nothing is left behind."""
    env = {
        "PATH": os.environ["PATH"], "SEGUE_PROJECT": str(house.folder),
        "SEGUE_RUN": "task_lost-1", "SEGUE_TASK": "task_lost",
    }  # fmt: skip
    agent = subprocess.Popen(["sleep", "1000"], env=env)
    try:

        async def scene() -> None:
            async with house.open() as server:
                await server.until(lambda: agent.poll() is not None)

        play(scene)
    finally:
        agent.kill()
        agent.wait()
