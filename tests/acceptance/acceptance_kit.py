"""What the acceptance tests share: a project folder, the real command, a terminal.

Agents are recognised by `SEGUE_PROJECT` in their environment, so that whatever a run
leaves behind can be found (and ended) without knowing how Segue starts it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
SEGUE = Path(sys.executable).with_name("segue")
WAIT_S = 90.0
MARK = re.compile(r"^(?:[-*+]|\d+[.)]) \[(.)\] \**([A-Z]+-?\d[\d-]*)", re.MULTILINE)
Event = dict[str, Any]


def until(condition: Callable[[], T], what: str = "it", wait_s: float = WAIT_S) -> T:
    """Wait for a condition; its value."""
    deadline = time.monotonic() + wait_s
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what} never happened"
        time.sleep(0.01)
    return value


def environ_of(pid: int | str) -> dict[str, str]:
    """The environment of a process; empty when it is gone."""
    try:
        raw = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    pairs = (item.split(b"=", 1) for item in raw.split(b"\0") if b"=" in item)
    return {
        name.decode("utf-8", "replace"): value.decode("utf-8", "replace") for name, value in pairs
    }


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


class Box:
    """A project in a temporary folder. `out` is beside it: what agents leave as proof."""

    def __init__(self, tmp: Path) -> None:
        self.tmp = tmp
        self.root = tmp / "project"
        self.out = tmp / "out"
        self.home = tmp / "home"
        for folder in (self.root, self.out, self.home):
            folder.mkdir()
        self.extra_env: dict[str, str] = {}
        self.started: list[Going] = []

    # --- files

    @property
    def plan_path(self) -> Path:
        return self.root / "PLAN.md"

    def plan(self, text: str | bytes, name: str = "PLAN.md") -> Path:
        path = self.root / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def text(self, name: str = "PLAN.md") -> str:
        return (self.root / name).read_bytes().decode("utf-8", "replace")

    def marks(self, name: str = "PLAN.md") -> dict[str, str]:
        """The mark of each task with an id at the top level."""
        return {task: mark for mark, task in MARK.findall(self.text(name))}

    def config(self, text: str) -> None:
        (self.root / "segue.toml").write_text(text, "utf-8")

    def scripted(self, scenario: str, more: str = "") -> None:
        """A project whose default agent plays this scenario; limits end when they say so."""
        (self.root / "play.scenario").write_text(scenario, "utf-8")
        self.config(
            'agent = "actor"\n[agents.actor]\nkind = "script"\nscenario = "play.scenario"\n'
            "[recovery]\nwake_margin_s = 0\n" + more
        )

    def edit(self, old: str, new: str, name: str = "PLAN.md") -> None:
        """What a person's editor does: replace the file by a changed one."""
        text = self.text(name)
        assert old in text, (old, text)
        fresh = self.root / f".{name}.swp"
        fresh.write_bytes(text.replace(old, new).encode())
        fresh.replace(self.root / name)

    # --- proof that agents leave

    def note(self, name: str = "trace", what: str = "$SEGUE_TASK") -> str:
        """Shell: add one line to a file outside the project."""
        return f'echo "{what}" >> {self.out}/{name}'

    def hold(self, name: str) -> str:
        """Shell: wait until the test releases this name."""
        return f"until [ -e {self.out}/{name} ]; do sleep 0.02; done"

    def release(self, name: str) -> None:
        (self.out / name).touch()

    def notes(self, name: str = "trace") -> list[str]:
        path = self.out / name
        return path.read_text("utf-8").split() if path.exists() else []

    # --- the command

    def env(self, more: dict[str, str] | None = None) -> dict[str, str]:
        keep = {name: os.environ[name] for name in ("PATH",)}
        base = {"HOME": str(self.home), "LANG": "C.UTF-8", "TERM": "xterm-256color"}
        return {**keep, **base, **self.extra_env, **(more or {})}

    def segue(
        self, *args: str, env: dict[str, str] | None = None, cwd: Path | None = None,
        wait_s: float = 90, before: Sequence[str] = (),
    ) -> Result:  # fmt: skip
        done = subprocess.run(
            [*before, str(SEGUE), *args], cwd=cwd or self.root, env=self.env(env), timeout=wait_s,
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
        result = Result(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in result.said, result.said
        return result

    def run(self, *args: str, **rest: Any) -> Result:
        """`segue run PLAN.md --json`."""
        return self.segue("run", "PLAN.md", "--json", *args, **rest)

    def start(self, *args: str, env: dict[str, str] | None = None) -> Going:
        """A command in the background."""
        number = len(self.started)
        out, err = self.tmp / f"{number}.out", self.tmp / f"{number}.err"
        with out.open("wb") as o, err.open("wb") as e:
            process = subprocess.Popen(
                [str(SEGUE), *args], cwd=self.root, env=self.env(env), stdin=subprocess.DEVNULL,
                stdout=o, stderr=e, start_new_session=True,
            )  # fmt: skip
        going = Going(process, out, err)
        self.started.append(going)
        return going

    def start_run(self, *args: str) -> Going:
        return self.start("run", "PLAN.md", "--json", *args)

    # --- processes

    def agents(self) -> dict[int, dict[str, str]]:
        """What lives with this project in its environment: pid → environment."""
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                environ = environ_of(entry.name)
                if environ.get("SEGUE_PROJECT") == str(self.root):
                    found[int(entry.name)] = environ
        return found

    def left_behind(self) -> dict[int, str]:
        """Every process that came from here, by its HOME: agents, keepers, the command itself."""
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and environ_of(entry.name).get("HOME") == str(self.home):
                with contextlib.suppress(OSError):
                    words = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                    found[int(entry.name)] = words.decode("utf-8", "replace")
        return found

    def power_cut(self) -> None:
        """Everything of this project dies at the same instant: nobody sees another die."""
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in self.left_behind():
                with contextlib.suppress(OSError):
                    os.kill(pid, number)
        for going in self.started:
            if going.process.poll() is None:
                going.process.wait()
        until(lambda: not self.left_behind(), "all dead")

    def end_everything(self) -> None:
        for going in self.started:
            if going.process.poll() is None:
                going.kill()
        for _round in range(3):
            for pid in self.left_behind():
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
