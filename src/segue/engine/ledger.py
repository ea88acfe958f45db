"""What the tables know of one plan, and the changes that are about to be made to it.

Changes are staged, then committed together: a run that ended and the one that takes its
slot are one transaction. The mirror in memory is right because this plan's rows are
written by the holder of its lock alone.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from segue.core.bulk import no_collection
from segue.core.machines import PlanState, RunState, Trigger
from segue.core.plan import Task, TaskState
from segue.drivers.living import LivingAgent
from segue.engine import acts, gates, parking
from segue.engine.clock import Clock
from segue.engine.limits import Park
from segue.engine.question_texts import PLAN_EDIT, in_words
from segue.engine.records import Records
from segue.engine.waiting_parks import WaitingParks
from segue.errors import Bug
from segue.i18n import _
from segue.store import rows, usage
from segue.store.changes import Add, Change, Move, Note, Value, instant, stamp
from segue.store.database_errors import damaged
from segue.store.rows import OPEN_RUNS, ActRow, GateRow, ParkRow, RunRow, TaskRow
from segue.store.sqlite import Store
from segue.store.usage import Usage

LATER = timedelta(milliseconds=50)
MOMENT = timedelta(milliseconds=50)
DEPENDENCY = "dependency"


class Ledger(Records):
    """The rows of one plan."""

    def __init__(self, store: Store, clock: Clock, path: Path, kind: str) -> None:
        super().__init__(store, "")
        self._clock = clock
        self._staged: list[Change] = []
        self._made: list[Callable[[], Iterable[Change]]] = []
        self._later: list[Change] = []
        self._later_since = clock.now()
        self._unwritten: set[str] = set()  # tasks: the plan lacks steps or comments
        self._acts_settled: set[str] = set()  # by this owner, perhaps not committed yet
        self._lasted: dict[str, float] | None = None  # as earlier starts of Segue left it
        self.tasks: dict[str, TaskRow] = {}
        self.runs: dict[str, RunRow] = {}  # open ones
        self.parks = WaitingParks()
        self.gates: dict[str, GateRow] = {}  # open ones
        with store.reading():
            self._load(path, kind)

    # Loading

    def _load(self, path: Path, kind: str) -> None:
        found = self.store.one("SELECT * FROM works WHERE path = ?", str(path))
        if found is None:
            self.work = secrets.token_hex(4)
            self.state = self.found = PlanState.PENDING
            self.windows = 0
            self._options = "{}"
            self._held: str | None = None
            self.is_unread = False
            self.cost_usd = 0.0
            row: dict[str, Value] = {"path": str(path), "kind": kind}
            self.stage(Add("work", self.work, PlanState.PENDING, row))
            return
        self.work = found["id"]
        self.state = self.found = PlanState(found["state"])
        self.windows = found["windows"]
        self._options = found["options"]
        self._held = found["held"]
        self.is_unread = bool(found["is_unread"])
        self.cost_usd = float(self.usage()["cost_usd"] or 0)
        with no_collection():
            self._load_rows()

    def _load_rows(self) -> None:
        for task in self.store.all(f"SELECT {rows.TASK} FROM tasks WHERE work = ?", self.work):  # noqa: S608
            row = rows.task_row(task)
            self.tasks[row.key] = row
        self.runs.update({run.id: run for run in self.open_runs()})
        for park in self.waiting_parks():
            self.parks[park.id] = park
        for gate in self.pending_gates():
            words = in_words(gate.category, gate.about, gate.text)
            self.gates[gate.id] = replace(gate, text=words)

    def cut_off_runs(self) -> list[RunRow]:
        """The runs that were cut off and that nothing has followed yet."""
        self.commit()
        sql = (
            "SELECT * FROM runs AS cut WHERE work = ? AND state = ? AND NOT EXISTS"
            " (SELECT 1 FROM runs AS other WHERE other.task = cut.task AND other.rowid > cut.rowid)"
        )
        found = self.store.all(sql, self.work, RunState.CUT_OFF)
        return [rows.run_row(run) for run in found]

    def provided(self, task: str) -> list[str]:
        """The names of what a person says to have provided for a task."""
        found = self.answered_gates(task, DEPENDENCY)
        return [gate.about["name"] for gate in found if gate.answer in gate.options[:1]]

    def lasted(self) -> dict[str, float]:
        """How long each task took when it was last done without a pause, in seconds."""
        if self._lasted is None:
            sql = (
                "SELECT task, created_at, updated_at, MAX(updated_at) FROM runs"
                " WHERE work = ? AND state = ? AND resumes IS NULL GROUP BY task"
            )
            self._lasted = {}
            for row in self.store.all(sql, self.work, RunState.COMPLETED):
                took = instant(row["updated_at"]) - instant(row["created_at"])
                # What hardly takes any time is all the same: else chance would choose the order.
                task = row["task"].removeprefix(f"{self.work}/")
                self._lasted[task] = max(took, MOMENT).total_seconds()
        return self._lasted

    def usage(self, task: str | None = None) -> Usage:
        """What the plan (or one task of it) has used, over all runs."""
        if task is None:
            return usage.of_plan(self.store, self.work)
        return usage.of_task(self.store, self.task_id(task))

    # Changing

    def stage(self, *changes: Change) -> None:
        self._staged.extend(changes)

    def later(self, *changes: Change) -> None:
        """Facts that may be lost with this process: they go along with the next commit, or
        soon by themselves."""
        if not self._later:
            self._later_since = self._clock.now()
        self._later.extend(changes)

    @property
    def has_later(self) -> bool:
        return bool(self._later)

    def stage_made(self, make: Callable[[], Iterable[Change]]) -> None:
        """Changes of rows that others write, too: made within the transaction."""
        self._made.append(make)

    def commit(self) -> None:
        is_urgent = bool(self._staged or self._made)
        if not is_urgent and self._clock.now() - self._later_since < LATER:
            return
        changes, made = [*self._later, *self._staged], [*self._made]
        if not changes and not made:
            return
        self._later.clear()
        self._staged.clear()
        self._made.clear()
        if not self.store.move(
            *changes,
            at=self._clock.now(),
            then=lambda: chain.from_iterable(make() for make in made),
        ):
            if not self.store.is_whole():
                raise damaged(str(self.store.path), ValueError(_("some of its rows are missing")))
            raise Bug(f"the rows of a locked plan were changed by somebody else: {changes[:20]}")

    def unstage(self) -> list[Change]:
        """What is staged, for another transaction."""
        changes = [*self._later, *self._staged]
        self._later.clear()
        self._staged.clear()
        return changes

    def flush(self) -> None:
        """At the end: what could have waited is not lost."""
        self._later_since -= LATER
        self.commit()

    def move_plan(self, to: PlanState, cause: Trigger, **sets: Value) -> None:
        self.stage(Move("work", self.work, self.state, to, cause, sets))
        self.state = to

    def note_options(self, options: str) -> None:
        """How the work was started this time."""
        if options != self._options:
            self._options = options
            self.stage(Note("work", self.work, {"options": options}))

    def add_task(self, task: Task, *, pinned: str | None = None) -> None:
        row = TaskRow(
            id=self.task_id(task.id),
            key=task.id,
            state=task.state,
            mark=task.state,
            retries_used=task.retries_used,
            error=task.previous_error,
            summary=None,
            pinned=pinned,
        )
        self.tasks[task.id] = row
        values: dict[str, Value] = {
            "work": self.work,
            "key": task.id,
            "title": task.title,
            "mark": row.mark,
            "retries_used": row.retries_used,
            "error": row.error,
            "pinned": pinned,
        }
        self.stage(Add("task", row.id, row.state, values))

    def move_task(self, key: str, to: TaskState, cause: Trigger, **sets: Value) -> None:
        row = self.tasks[key]
        self.stage(Move("task", row.id, row.state, to, cause, sets))
        row.state = to
        for name, value in sets.items():
            setattr(row, name, value)

    def note_mark(self, key: str, mark: TaskState) -> None:
        row = self.tasks[key]
        if row.mark != mark:
            row.mark = mark
            self.later(Note("task", row.id, {"mark": mark}))

    def note_unwritten(self, key: str, text: str) -> None:
        """What the plan is to show of a task besides its mark: committed with what it is about."""
        self._unwritten.add(key)
        self.note_task(key, unwritten=text)

    def note_written(self) -> None:
        """The plan shows all of it now."""
        for key in self._unwritten:
            self._forget_unwritten(key)
        self._unwritten.clear()

    @property
    def has_unwritten(self) -> bool:
        return bool(self._unwritten)

    def drop_unwritten(self, key: str) -> None:
        """A person decided about the task: what Segue had not shown of it yet does not count."""
        if key in self._unwritten or self.tasks[key].unwritten is not None:
            self._unwritten.discard(key)
            self._forget_unwritten(key)

    def _forget_unwritten(self, key: str) -> None:
        row = self.tasks[key]
        row.unwritten = None
        # Behind the note that it takes back: what can wait is committed before what is staged.
        note = self.stage if self._staged else self.later
        note(Note("task", row.id, {"unwritten": None}))

    def give_up_marks(self) -> None:
        """The file is the truth of its marks, and nothing of Segue's is missing in it."""
        for key, row in self.tasks.items():
            if row.mark != row.state or row.unwritten is not None:
                self.note_task(key, mark=row.state, unwritten=None)

    def note_task(self, key: str, **sets: Value) -> None:
        row = self.tasks[key]
        for name, value in sets.items():
            setattr(row, name, value)
        self.stage(Note("task", row.id, sets))

    def add_run(
        self,
        task: str,
        *,
        attempt: int,
        agent: str,
        account: str,
        resumes: RunRow | None = None,
        keeps_conversation: bool = True,
        purpose: str = "",
        answer: str | None = None,
        conversation: str | None = None,
        prompt: str | None = None,
    ) -> RunRow:
        """`prompt`: extra text for the agent."""
        run = RunRow(
            id=f"{_short(task)}-{attempt}-{secrets.token_hex(4)}",
            task=task,
            attempt=attempt,
            agent=agent,
            account=account,
            state=RunState.INTENDED,
            conversation=(
                resumes.conversation
                if resumes and keeps_conversation
                else conversation or secrets.token_hex(8)
            ),
            nonce=resumes.nonce if resumes else secrets.token_hex(3),
            resumes=resumes.id if resumes else None,
            created_at=self._clock.now(),
            resume_id=resumes.resume_id if resumes and keeps_conversation else None,
            purpose=purpose,
            answer=answer,
            prompt=prompt,
            task_id=self.task_id(task),
        )
        self._add_run(run)
        return run

    def _add_run(self, run: RunRow) -> None:
        self.runs[run.id] = run
        values: dict[str, Value] = {
            "work": self.work,
            "task": run.task_id,
            "attempt": run.attempt,
            "agent": run.agent,
            "account": run.account,
            "conversation": run.conversation,
            "nonce": run.nonce,
            "resumes": run.resumes,
            "resume_id": run.resume_id,
            "purpose": run.purpose,
            "answer": run.answer,
            "prompt": run.prompt,
        }
        self.stage(Add("run", run.id, RunState.INTENDED, values))

    def add_found_run(self, found: LivingAgent, agent: str, account: str) -> RunRow:
        """A run without a record, as its living agent knows it."""
        attempt = found.says("SEGUE_ATTEMPT")
        run = RunRow(
            id=found.run,
            task=found.says("SEGUE_TASK"),
            attempt=int(attempt) if attempt.isdecimal() else 1,
            agent=agent,
            account=account,
            state=RunState.INTENDED,
            conversation=found.says("SEGUE_CONVERSATION") or secrets.token_hex(8),
            nonce=found.says("SEGUE_NONCE") or secrets.token_hex(3),
            resumes=None,
            created_at=self._clock.now(),
            task_id=self.task_id(found.says("SEGUE_TASK")),
        )
        self._add_run(run)
        return run

    def move_run(self, run: RunRow, to: RunState, cause: Trigger, **sets: Value) -> None:
        self.stage(Move("run", run.id, run.state, to, cause, sets))
        run.state = to
        if to not in OPEN_RUNS:
            self.runs.pop(run.id, None)

    def verify_run(self, run: RunRow) -> str:
        """The run's work is to be checked, by a job with an id of its own each time."""
        run.verify_job = f"{run.id}.verify-{secrets.token_hex(2)}"
        job: dict[str, Value] = {"verify_job": run.verify_job}
        if run.state is RunState.VERIFYING:  # the check before was cut off
            self.stage(Note("run", run.id, job))
        else:
            self.move_run(run, RunState.VERIFYING, Trigger.VERIFY, **job)
        return run.verify_job

    def run_started(self, run: RunRow, handle: Mapping[str, int]) -> None:
        """`handle`: what the executor wants kept of it."""
        facts: dict[str, Value] = {**handle}
        self.later(Move("run", run.id, run.state, RunState.RUNNING, Trigger.STARTED, facts))
        run.state = RunState.RUNNING

    def note_conversation(self, run: RunRow, resume_id: str) -> None:
        """The program has reported the id by which its conversation can be resumed."""
        run.resume_id = resume_id
        self.stage(Note("run", run.id, {"resume_id": resume_id}))

    def note_usage(
        self, run: RunRow, input_tokens: int | None, output_tokens: int | None, cost: float | None
    ) -> None:
        used: dict[str, Value] = {
            "input_tokens": input_tokens,
            "output_tokens": output_tokens,
            "cost_usd": cost,
        }
        self.stage(Note("run", run.id, used))
        self.cost_usd += cost or 0.0

    @property
    def is_damaged(self) -> bool:
        """Whether what was remembered last could not be read any more."""
        return self.store.is_damaged

    @property
    def held(self) -> list[dict[str, Any]]:
        """The tasks that waited for a time without a run when that was last noted."""
        found: list[dict[str, Any]] = json.loads(self._held or "[]")
        return found

    def note_held(self, held: list[dict[str, Any]]) -> None:
        """The tasks that wait for a time without a run, for other processes."""
        text = json.dumps(held, ensure_ascii=False) if held else None
        if text != self._held:
            self._held = text
            self.stage(Note("work", self.work, {"held": text}))

    def note_unread(self, *, is_unread: bool) -> None:
        """Whether agents worked since the plan could last be read."""
        if is_unread != self.is_unread:
            self.is_unread = is_unread
            self.stage(Note("work", self.work, {"is_unread": int(is_unread)}))

    def count_window(self) -> None:
        """One more limit window that this plan waits through."""
        self.windows += 1
        self.stage(Note("work", self.work, {"windows": self.windows}))

    def add_park(self, run: RunRow, park: Park) -> None:
        row, add = parking.add_park(self.work, run, park)
        self.parks[row.id] = row
        self.stage(add)

    def delay_park(self, park: ParkRow, wakes_at: datetime) -> None:
        """It continues a little later than it could."""
        self.parks[park.id] = replace(park, wakes_at=wakes_at)
        self.stage(Note("park", park.id, {"wakes_at": stamp(wakes_at)}))

    def end_park(self, park: ParkRow, cause: Trigger) -> None:
        self.stage(parking.end_park(park, cause))
        del self.parks[park.id]

    def add_question(
        self,
        run: RunRow | None,
        text: str,
        category: str,
        options: tuple[str, ...] = (),
        preset: str | None = None,
        about: Mapping[str, Any] | None = None,
        deadline: datetime | None = None,
        *,
        is_required: bool = True,
    ) -> GateRow:
        """A gate for a run, or (None) for the plan as a whole."""
        task, run_id = (run.task, run.id) if run else (None, None)
        kind = category if category == DEPENDENCY else "question"
        wanted = GateRow(
            "", task, run_id, kind, text, options, preset, category, about or {}, deadline,
            is_required=is_required, work=self.work,
        )  # fmt: skip
        gate, add = gates.ask(wanted, self._clock.now())
        self.gates[gate.id] = gate
        self.stage(add)
        return gate

    def reword_gate(self, gate: GateRow, text: str, about: Mapping[str, Any]) -> GateRow:
        """The same question, in words that are right now."""
        gate, note = gates.reword(gate, text, about)
        self.gates[gate.id] = gate
        self.stage(note)
        return gate

    def close_gate(self, gate: GateRow, answer: str | None) -> None:
        """Answered; without an answer it is withdrawn."""
        del self.gates[gate.id]
        now = self._clock.now()
        if answer is None:
            self.stage(*gates.withdraw(gate, now))
        else:
            self.stage(*gates.settle(gate, Trigger.ANSWER, now, answer))

    def waiting_acts(self) -> list[ActRow]:
        """What people want and the owner has not dealt with yet."""
        found = acts.waiting(self.store, self.work)
        return [act for act in found if act.id not in self._acts_settled]

    def take_act(self, act: ActRow) -> None:
        """Committed with what follows from it."""
        self._acts_settled.add(act.id)
        self.stage(acts.taken(act))

    def refuse_act(self, act: ActRow, reason: str) -> None:
        self._acts_settled.add(act.id)
        self.stage(acts.refused(act, reason))

    def end_waits(self) -> None:
        """Nothing waits any more: what was parked or has asked begins again."""
        for park in list(self.parks.values()):
            self.end_park(park, Trigger.CANCEL)
        for gate in list(self.gates.values()):
            if gate.category != PLAN_EDIT:  # only a person accepts what is held
                self.close_gate(gate, None)

    def task_id(self, task: str) -> str:
        return f"{self.work}/{task}"


def _short(task: str) -> str:
    """A task's id as part of a file name."""
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in task)[:40].strip(".-") or "task"
