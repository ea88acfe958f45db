"""The real `segue` as a process: started, heard, ended."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kit.waiting import WAIT_S, until

SEGUE = Path(sys.executable).with_name("segue")
Event = dict[str, Any]


@dataclass
class Result:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str = ""

    @property
    def said(self) -> str:
        return self.out + self.err

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def events(self) -> list[Event]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def finished(self) -> Event:
        last = self.events[-1]
        assert last["event"] == "finished", last
        return last

    def of(self, event: str, task: str | None = None) -> list[Event]:
        """The events of this name, of this task if one is given."""
        wanted = [e for e in self.events if e["event"] == event]
        return [e for e in wanted if task is None or e.get("task") == task]

    def tasks(self, event: str) -> list[str]:
        return [e["task"] for e in self.of(event)]


class Going:
    """A `segue` command that is under way; its output goes to files."""

    def __init__(self, process: subprocess.Popen[bytes], out: Path, err: Path) -> None:
        self.process, self._out, self._err = process, out, err
        self.pid = process.pid

    @property
    def result(self) -> Result:
        text = self._out.read_text("utf-8")
        whole = text[: text.rfind("\n") + 1]  # a line may be half written
        return Result(self.process.poll() or 0, whole, self._err.read_text("utf-8"))

    def event(self, name: str, task: str | None = None, wait_s: float = WAIT_S) -> Event:
        """Wait for an event (of a run with --json)."""

        def seen() -> list[Event]:
            found = self.result.of(name, task)
            assert found or self.process.poll() is None, f"ended before {name}: {self.result}"
            return found

        return until(seen, name, wait_s)[0]

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        """Death without warning."""
        self.process.kill()
        self.process.wait()

    def end(self, wait_s: float = WAIT_S) -> Result:
        """Wait until it ends by itself."""
        code = self.process.wait(wait_s)
        return Result(code, self._out.read_text("utf-8"), self._err.read_text("utf-8"))


def start_segue(*args: str, cwd: Path, env: Mapping[str, str], output: Path) -> Going:
    """A command in the background; what it prints goes to `OUTPUT.out` and `OUTPUT.err`."""
    out, err = output.with_name(f"{output.name}.out"), output.with_name(f"{output.name}.err")
    with out.open("wb") as to_out, err.open("wb") as to_err:
        process = subprocess.Popen(
            [str(SEGUE), *args], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
            stdout=to_out, stderr=to_err, start_new_session=True,
        )  # fmt: skip
    return Going(process, out, err)
