"""Work of one kind that is killed at the nth dangerous moment: around each commit, each write of a
file that people own, each order to an executor, each wait for what an agent says.

    forked("kit.crashing_kind", [KIND, N], …)

With N = 0 it is never killed. Where it ends by itself, it writes the count of moments to `$MOMENTS`.

What outlives Segue outlives it here, too: agents are processes, and a pane is a file.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from kit import clock as virtual_time
from kit.app import House, Open
from kit.pane_bench import FakeHost, FakePane, make_bench, works
from segue.cli.main import main
from segue.engine.accounts import Accounts
from segue.engine.executors.job_output import JobOutput
from segue.engine.executors.process import ProcessExecutor
from segue.store import files
from segue.store.sqlite import Store

die_at = passed = 0
LIMIT_S = 60  # of a pane, on a clock that needs no time


def moment() -> None:
    global passed  # noqa: PLW0603 - one count for the process
    passed += 1
    if passed == die_at:
        os.kill(os.getpid(), signal.SIGKILL)


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    def dangerous(*args: Any, **kwargs: Any) -> Any:
        moment()
        result = function(*args, **kwargs)
        moment()
        return result

    async def dangerous_wait(*args: Any, **kwargs: Any) -> Any:
        moment()
        result = await function(*args, **kwargs)
        moment()
        return result

    return dangerous_wait if inspect.iscoroutinefunction(function) else dangerous


class KeptHost(FakeHost):
    """One pane whose program outlives the watcher: what was typed into it is in a file."""

    def __init__(self, folder: Path) -> None:
        super().__init__(str(folder / "socket"))
        self._file = folder / "pane.json"
        at = virtual_time.START + timedelta(seconds=LIMIT_S)
        body = [f"Claude AI usage limit reached|{int(at.timestamp())}"]
        self.pane = self.add("%1", "⏺ I begin.", "", *body)
        if self._file.exists():
            for sent in json.loads(self._file.read_text()):
                FakePane.take(self.pane, sent["text"])

    async def _send(self, pane_id: str, text: str) -> None:
        kept = json.loads(self._file.read_text()) if self._file.exists() else []
        at = now().isoformat()
        moment()
        self._file.write_text(json.dumps([*kept, {"text": text, "at": at}]))
        moment()
        await super()._send(pane_id, text)


now = virtual_time.LoopClock().now


async def watch(folder: Path) -> None:
    bench = make_bench(folder / ".segue")
    bench.host = host = KeptHost(folder)
    host.pane.reacts = works
    async with bench.watching():
        await bench.state(host.pane, "busy", within_s=3600)
        await asyncio.sleep(20)  # until it has worked for long enough


async def serve(folder: Path) -> None:
    house = House.__new__(House)
    house.folder = folder
    async with house.open() as server:
        await _serve(server)


async def _serve(server: Open) -> None:
    if not server.commands.list_tasks()["items"]:
        server.new("custom", "mine")
    [task] = server.commands.list_tasks()["items"]
    await server.status(task["id"], "completed")


GUARDED: list[tuple[Any, str]] = [
    (Store, "move"),
    (ProcessExecutor, "begin"),
    (ProcessExecutor, "forget"),
    (JobOutput, "_hear"),
    (Accounts, "probe"),
]
replace = files.replace


def replace_beside(path: Path, *args: Any, **kwargs: Any) -> None:
    """Files of people; what is in `.segue/` beside the tables can be made again."""
    (replace if ".segue" in path.parts else guarded(replace))(path, *args, **kwargs)


def run(words: list[str]) -> None:
    global die_at
    kind, die_at = words[0], int(words[1])
    for owner, name in GUARDED:
        setattr(owner, name, guarded(getattr(owner, name)))
    files.replace = replace_beside
    here = Path.cwd()
    code = 0
    match kind:
        case "feature":
            try:
                main(["develop", "--resume", "--json", "--jobs", "2"])
            except SystemExit as end:
                code = int(end.code or 0)
        case "server":
            asyncio.run(serve(here))
        case "panes":
            starts = here / "starts"
            count = len(starts.read_text()) if starts.exists() else 0
            starts.write_text("x" * (count + 1))
            (here / ".segue").mkdir(exist_ok=True)
            start = virtual_time.START
            virtual_time.START = start + timedelta(seconds=45 * count)
            virtual_time.play(watch(here))
    Path(os.environ["MOMENTS"]).write_text(str(passed))
    sys.exit(code)
