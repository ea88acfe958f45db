"""Books: each task is a book of one chapter in the same project, with a `segue write-all` of its own.

The chapters of one book depend on each other, so independent tasks are several books; their limits
meet at the account.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from kit.command import Event, Going

from .plans import STATES, Plan
from .records import DONE, FAILED, PARKED, PENDING, SKIPPED, WAITING, Gate, Json, Park, epoch

JUDGE = "import json; print(json.dumps({'score': 90, 'reasons': []}))"


ENDS = {0: [DONE], 1: [FAILED], 3: [WAITING]}
STEP_ENDS = ("task_completed", "task_failed")  # of a draft or a judgement, not of the chapter


class Books(Plan):
    """Books `b1`, `b2`, … whose judge is content."""

    kind = "book"
    fails_after = 3  # bad ends trip the circuit breaker

    def begin(self, tasks: int = 1, *, is_side_by_side: bool = True) -> None:
        self._prepare(tasks)
        for task in range(tasks):
            self._write(task)
            if task == 0:  # the project's memory is there before the others come
                self._owners[0][0].event("started")
            if not is_side_by_side:
                self.wait(task, PARKED, WAITING, DONE)

    def begin_at_once(self, tasks: int) -> None:
        """As many commands as books, none of which waits for another, in a new project."""
        self._prepare(tasks)
        for task in range(tasks):
            self._write(task)

    def begin_in_turn(self) -> None:
        self._prepare(1, chapters=2)
        self._write(0)

    def _prepare(self, tasks: int, chapters: int = 1) -> None:
        self.count = tasks
        self._owners: list[list[Going]] = [[] for _task in range(tasks)]
        self.configure()
        judge = json.dumps([sys.executable, "-S", "-c", JUDGE])
        for task in range(tasks):
            folder = self.folder(task)
            folder.mkdir()
            head = (
                f'title = "Book {task}"\nchapters = {chapters}\nthreshold = 80\nwriter = "actor"\n'
            )
            (folder / "book.toml").write_text(f"{head}judge_command = {judge}\n", "utf-8")

    def _write(self, task: int) -> None:
        going = self.box.start("write-all", str(self.folder(task)), "--json")
        self._owners[task].append(going)

    def drive(self) -> None:
        for task, owners in enumerate(self._owners):
            if all(going.process.poll() is not None for going in owners):
                self._write(task)

    def folder(self, task: int) -> Path:
        return self.box.root / self.key(task)

    def key(self, task: int) -> str:
        return f"b{task + 1}"

    def name(self, task: int) -> str:
        return "ch1.write.1"

    def where(self, task: int) -> list[str]:
        return ["--plan", str(self.folder(task))]

    # --- every book has owners and a plan of its own

    def owners_of(self, task: int) -> list[Going]:
        return self._owners[task]

    def is_of(self, event: Event, task: int) -> bool:
        return True

    def history(self, task: int) -> list[str]:
        states: list[str] = []
        for event in self.events(task):
            if event["event"] == "chapter_skipped":
                states.append(SKIPPED)
            elif event["event"] == "finished" and states[-1:] != [SKIPPED]:
                states += ENDS.get(event["exit"], [])
            elif event["event"] in STATES and event["event"] not in STEP_ENDS:
                states.append(STATES[event["event"]])
        return [state for n, state in enumerate(states) if n == 0 or states[n - 1] != state]

    def state(self, task: int) -> str:
        return (self.history(task) or [PENDING])[-1]

    def _plans(self) -> list[tuple[int, Json]]:
        folders = {self.folder(task): task for task in range(self.count)}
        found = []
        for plan in self.status():
            path = Path(plan["path"])
            found += [
                (task, plan) for place, task in folders.items() if place in (path, *path.parents)
            ]
        return found

    def parks(self) -> list[Park]:
        return [
            Park(task, park["kind"], epoch(park["wakes_at"]), park["account"])
            for task, plan in self._plans()
            for park in plan["parks"]
        ]

    def gates(self) -> list[Gate]:
        return [
            Gate(gate["id"], task, gate["kind"], gate["text"])
            for task, plan in self._plans()
            for gate in plan["gates"]
        ]
