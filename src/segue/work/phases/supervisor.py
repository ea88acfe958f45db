"""The supervisor of the server: what it holds in memory, and how it commits.

Whatever changes a task (a person's command, an event of its agent, a timer) commits it with what
must follow: a run to start, a text to deliver. `reconcile` then looks at the rows of the
task and does what they say. The same function makes good after a death: nothing else is needed.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from segue.core.decide import Leash
from segue.core.limits import Waits
from segue.engine import outage
from segue.engine.accounts import Accounts
from segue.engine.agent_events import AgentEvents
from segue.engine.budget import Budget
from segue.engine.canary import Canaries
from segue.engine.clock import Clock
from segue.engine.conversations import BUSY_S
from segue.engine.executors import Due, Executor
from segue.engine.gates import Reminders, Steps
from segue.engine.outcome import Circumstances
from segue.engine.parking import Parking
from segue.engine.silence import SilenceBounds, SilenceWatch
from segue.errors import AgentError, UserError
from segue.store.changes import Change
from segue.store.rows import AgentRow, PhaseTaskRow
from segue.work.agents.profiles import Profile
from segue.work.phases.attempt import Attempt
from segue.work.phases.continuation import Continuation
from segue.work.phases.jobs import Jobs
from segue.work.phases.records import Records
from segue.work.phases.saving import Saving

if TYPE_CHECKING:
    from segue.dialects.limits import Extra


logger = logging.getLogger("segue.work.phases")


@dataclass(slots=True)
class Supervisor:
    records: Records
    engine: Executor
    clock: Clock
    jobs: Jobs
    continuation: Continuation
    saving: Saving
    accounts: Accounts
    waits: Waits
    resume_text: str
    tz: tzinfo
    slots: Callable[[], int]
    limit_patterns: tuple[Extra, ...] = ()  # the user's own
    reminder_steps: Steps = ()  # when people are reminded of what waits for them
    silence: SilenceBounds = field(default_factory=SilenceBounds)
    leash: Leash = field(default_factory=Leash)
    budget_usd: float | None = None
    tell_output: Callable[[str, str], None] = lambda task, text: None
    keep_memory: Callable[[], str | None] = lambda: None  # what had to be put back, in words
    take_in_acts: Callable[[], None] = lambda: None  # what people want from other terminals
    # What the driver brings: processes follow the rows of a task; all is taken up after a death.
    reconcile: Callable[[str], None] = lambda task: None
    recover: Callable[[], None] = lambda: None
    attempts: dict[str, Attempt] = field(default_factory=dict)
    canaries: Canaries = field(init=False)
    silences: SilenceWatch[Attempt] = field(init=False)
    events: AgentEvents = field(init=False)
    parking: Parking[Profile] = field(init=False)
    reminders: Reminders = field(init=False)
    look_at: datetime | None = None  # when deciding again could change something
    granted: set[str] = field(default_factory=set)  # tasks whose turn it is, while it is given
    ended: str | None = None  # the task whose run has just ended: it keeps its slot
    not_before: dict[str, datetime] = field(default_factory=dict)  # whose conversation is in use
    held: str | None = None  # why nothing new may start
    budget: Budget = field(init=False)
    quarantined: set[str] = field(default_factory=set)  # tasks that could not even be failed
    unsaved: dict[str, None] = field(default_factory=dict)  # whose last step is in no checkpoint
    troubles: dict[str, int] = field(default_factory=dict)  # of files of one task
    keeper_deaths: Counter[str] = field(default_factory=Counter)  # of each task
    looked_through: dict[str, list[str]] = field(default_factory=dict)  # what is wanting, by task
    deferred_timers: dict[str, datetime] = field(default_factory=dict)  # timers that could not fire
    is_stopping: bool = False
    is_away: bool = False  # nothing can be kept: nothing is done until it can
    trouble: Exception | None = None  # that the loop has to see to
    recent_errors: list[datetime] = field(default_factory=list)  # errors about no task
    may_start: bool = True
    _is_patient: bool = True
    _committed: list[Callable[[], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.canaries = Canaries(self.accounts)

    # Committing

    def commit(
        self,
        *changes: Change,
        then: Callable[[], Iterable[Change]] = tuple,
        may_start: bool = True,
    ) -> bool:
        """All of it or nothing; listeners are notified. Another process that holds the database is
        waited for once, and not by each of those who come meanwhile. `may_start`: whether
        something may begin or continue now because of it."""
        store = self.records.store
        try:
            if not store.move(*changes, at=self.clock.now(), then=then):
                return False
        except UserError as error:
            if outage.is_trouble(error):
                self.be_patient(False)
            raise
        if not self._is_patient:
            self.be_patient(True)
        if may_start and not self.may_start:
            self.kick()  # by any commit, a slot may be free now
        for listener in self._committed:
            listener()
        return True

    def be_patient(self, is_patient: bool) -> None:
        self._is_patient = is_patient
        wait_s = outage.PATIENT_S if is_patient else outage.IMPATIENT_S
        self.records.store.wait_at_most(wait_s)

    def on_commit(self, listener: Callable[[], None]) -> None:
        self._committed.append(listener)

    def can_write(self) -> bool:
        """Whether the disk and the database take something now."""
        return outage.can_write(self.records.store, self.saving.data, self.clock.now())

    def stop(self) -> None:
        """No new runs; agents are left for the next start."""
        self.is_stopping = True
        self.kick()

    def kick(self) -> None:
        """Let the loop look again: something may start now."""
        self.may_start = True
        self.engine.notify(Due())

    def is_being_checked(self, attempt: Attempt) -> bool:
        runs = self.records.open_runs(attempt.run.task)
        return any(run.role != "work" for run in runs)

    def wait_for_conversation(self, run: str) -> None:
        """Another run is at work in it: tried again when that may have left it."""
        self.not_before[run] = self.clock.now() + timedelta(seconds=BUSY_S)

    def end(self, attempt: Attempt) -> None:
        if not attempt.is_ending:
            attempt.is_ending = True
            self.engine.end_soon(attempt.run.id)

    def rows(self, id: str) -> tuple[PhaseTaskRow, AgentRow]:
        task, agent = self.records.task(id), self.records.agent(id)
        if task is None or agent is None:
            raise AgentError(f"the task {id} is gone")
        return task, agent

    def circumstances(self, attempt: Attempt) -> Circumstances:
        run = attempt.run
        return Circumstances(
            is_continued=run.resume_id is not None, keeper_deaths=self.keeper_deaths[run.task]
        )
