"""One kind of work as the contract suite sees it: the same verbs for all of them.

A test says what the agent of each task plays, begins the work, and reads states, parks, gates and
the agent's own record of its starts. Tasks are numbered from 0; `name` is what `status --json`
calls them. Nothing here knows how Segue does its work: programs, files, REST.
"""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from contract.scenes import Step
from kit.box import Box
from kit.command import Going, Result
from kit.server import TOKEN, Answer, Server
from kit.waiting import until

from .records import (
    DONE,
    FAILED,
    PARKED,
    SKIPPED,
    WAITING,
    Gate,
    Json,
    Park,
    Settings,
    Start,
    epoch,
)

T = TypeVar("T")
PLAYER = Path(__file__).parents[1] / "player.py"


class Subject(ABC):
    """The verbs; what is common to all kinds is here."""

    kind: str
    is_pane = False
    retries = 0
    fails_after = 1  # how many bad ends of its agent make a task failed

    def __init__(self, box: Box, voice: str = "text") -> None:
        self.box, self.voice, self.count = box, voice, 0
        self.settings = Settings()
        box.extra_env = {"TZ": "UTC", "SEGUE_LANG": "en", **box.extra_env}
        for name in ("plays", "released"):
            (box.out / name).mkdir()

    # --- what a test prepares

    def plays(self, *turns: list[Step], task: int | None = None) -> None:
        """What the agent does at its first, second, … start, for one task or for all."""
        name = "all" if task is None else self.key(task)
        (self.box.out / "plays" / f"{name}.json").write_text(json.dumps(turns), "utf-8")

    def release(self, name: str) -> None:
        """Let agents continue that hold this name."""
        (self.box.out / "released" / name).touch()

    def player(self, name: str = "actor", voice: str | None = None) -> list[str]:
        """The command of the scripted agent."""
        return [sys.executable, "-S", str(PLAYER), str(self.box.out), self.kind, name,
                voice or self.voice]  # fmt: skip

    def agent_table(self) -> dict[str, Any]:
        tables: dict[str, dict[str, Any]] = {
            "text": {"kind": "command", "command": self.player()},
            "claude": {"kind": "claude", "command": self.player(), "mcp": False},
            "script": {"kind": "script", "scenario": "play.scenario"},
        }
        return {**tables[self.voice], "account": "work", **self.settings.agent}

    def scenario(self, text: str) -> None:
        """What an agent with the voice `script` plays for every task."""
        (self.box.root / "play.scenario").write_text(text, "utf-8")

    def configure(self) -> None:
        """Write the project's settings."""
        made = self.settings
        text = 'agent = "actor"\n' + made.table("agents.actor", self.agent_table())
        self.box.config(text + made.table("recovery", made.recovery) + made.more)

    # --- the work

    @abstractmethod
    def begin(self, tasks: int = 1, *, is_side_by_side: bool = True) -> None:
        """Begin work on so many independent tasks and return at once. Not side by side: the
        second one gets its turn when the first one ended or waits."""

    @abstractmethod
    def begin_in_turn(self) -> None:
        """Begin work on two tasks of which the second depends on the first."""

    @abstractmethod
    def drive(self) -> None:
        """Start what drives the work (again), unless it lives."""

    @abstractmethod
    def key(self, task: int) -> str:
        """How the agent's record calls a task."""

    @abstractmethod
    def name(self, task: int) -> str:
        """How `status --json` calls a task."""

    @abstractmethod
    def state(self, task: int) -> str:
        """pending, running, parked, waiting, done, failed or skipped."""

    @abstractmethod
    def history(self, task: int) -> list[str]:
        """The states that the task went through, by the journal that users can read."""

    @property
    def owners(self) -> list[Going]:
        """The processes that drive the work."""
        return self.box.started

    def kill(self) -> None:
        """kill -9 of everything that drives the work; agents live on."""
        for going in self.owners:
            if going.process.poll() is None:
                going.kill()

    def power_cut(self) -> None:
        """Everything dies at once: what drives the work, keepers, agents."""
        self.box.power_cut()

    def is_driven(self) -> bool:
        return any(going.process.poll() is None for going in self.owners)

    # --- reading

    def record(self, name: str, task: int | None = None) -> list[Json]:
        path = self.box.out / name
        text = path.read_text("utf-8") if path.exists() else ""
        found = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
        return [each for each in found if task is None or each["key"] == self.key(task)]

    def starts(self, task: int | None = None) -> list[Start]:
        """Every start of the agent for a task (of any task), in order."""
        return [Start(**each) for each in self.record("starts", task)]

    def ends(self, task: int) -> list[float]:
        """When the agent of a task ended."""
        return [each["at"] for each in self.record("ends", task)]

    def status(self) -> list[Json]:
        """This work in `segue status --json`."""
        found: list[Json] = self.box.segue("status", "--json").json["plans"]
        return [plan for plan in found if plan["kind"] == self.status_kind]

    @property
    def status_kind(self) -> str:
        return self.kind

    def parks(self) -> list[Park]:
        """What waits for a time now, as `status --json` shows it."""
        names = {self.name(task): task for task in range(self.count)}
        return [
            Park(names[park["task"]], park["kind"], epoch(park["wakes_at"]), park["account"])
            for plan in self.status()
            for park in plan["parks"]
            if park["task"] in names
        ]

    def gates(self) -> list[Gate]:
        """What waits for a person, as `status --json` shows it."""
        names = {self.name(task): task for task in range(self.count)}
        return [
            Gate(gate["id"], names.get(gate["task"], -1), gate["kind"], gate["text"])
            for plan in self.status()
            for gate in plan["gates"]
        ]

    # --- waiting

    def until(self, condition: Callable[[], T], what: str) -> T:
        try:
            return until(condition, what)
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.transcript()}") from None

    def wait(self, task: int, *wanted: str, unless: Sequence[str] = ()) -> str:
        """Wait until a task is in one of these states; an end in another one fails at once."""
        ends = {DONE, FAILED, SKIPPED, *unless} - set(wanted)

        def there() -> str:
            now = self.state(task)
            assert now not in ends, f"{self.name(task)} is {now}, not {wanted}"
            return now if now in wanted else ""

        return self.until(there, f"{wanted} of task {task}")

    def started(self, task: int, times: int = 1) -> Start:
        """Wait for a start; the last of so many."""
        return self.until(lambda: self.starts(task)[times - 1 :], f"start {times} of {task}")[0]

    def park_of(self, task: int) -> Park:
        """Wait until a task is parked; its park."""
        self.wait(task, PARKED, unless=[WAITING])
        return self.until(lambda: [p for p in self.parks() if p.task == task], "its park")[0]

    def gate_of(self, task: int) -> Gate:
        """Wait until a task waits for a person; its gate."""
        self.wait(task, WAITING, unless=[PARKED])
        return self.until(lambda: [g for g in self.gates() if g.task == task], "its gate")[0]

    def transcript(self) -> str:
        """What the work said, for a failed assertion."""
        said = [f"{going.result.out}\n{going.result.err}" for going in self.owners]
        starts = [
            f"{start.key} at {start.at:.1f}: {start.prompt[:60]!r} (resume={start.is_resume})"
            for start in self.starts()
        ]
        return "\n".join([*said, *starts])[-4000:]

    # --- acts of a person at another terminal

    def act(self, verb: str, *args: str) -> Result:
        return self.box.segue(verb, *args)

    def park(self, task: int, duration: str = "1h") -> Result:
        return self.act("park", self.name(task), "--for", duration, *self.where(task))

    def wake(self, task: int) -> Result:
        return self.act("wake", self.name(task), *self.where(task))

    def retry(self, task: int) -> Result:
        return self.act("retry", self.name(task), *self.where(task))

    def again(self, task: int) -> int:
        """The task that a retry of this one is: the same, or a new one."""
        return task

    def skip(self, task: int) -> Result:
        return self.act("skip", self.name(task), *self.where(task))

    def notices(self) -> list[Json]:
        """What went out through the channel of `notify_by_command`, in order."""
        path = self.box.out / "notices"
        text = path.read_text("utf-8") if path.exists() else ""
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]

    def notify_by_command(self) -> None:
        """A channel that keeps every notice."""
        program = self.box.tmp / "tell"
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$SEGUE_NOTICE" >> {self.box.out}/notices\n')
        program.chmod(0o755)
        self.settings.more += f'[notify]\nchannels = ["command:{program}"]\n'

    def answer(self, gate: Gate, text: str) -> Result:
        return self.act("answer", gate.id, text)

    def approve(self, gate: Gate) -> Result:
        return self.act("approve", gate.id)

    def answer_by_api(self, gate: Gate, text: str) -> Answer:
        """By the server of the project, which owns this work or does not."""
        self.box.extra_env["SEGUE_TOKEN"] = TOKEN
        going = self.box.start("serve", "--port", "0", "--json")
        answer = Server(going).post(f"/questions/{gate.id}/answer", {"answer": text})
        going.kill()
        return answer

    def make_needless(self, gate: Gate) -> None:
        """Nobody needs what a gate asks for any more."""
        done = self.skip(gate.task)
        assert done.code == 0, done.said

    def decisions(self, gate: Gate) -> list[Json]:
        """What `segue audit --json` says of how a gate was settled."""
        found: list[Json] = self.box.segue("audit", "--json").json["decisions"]
        return [one for one in found if one["id"] == gate.id]

    def where(self, task: int) -> list[str]:
        """Options that name the plan where a task's name alone could mean several."""
        return []

    # --- the end

    def close(self) -> None:
        self.box.end_everything()
