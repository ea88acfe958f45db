"""Which tasks are ready, kept up to date move by move.

A pending task is ready when all its blockers are completed and every earlier declared wave
is finished. Each move touches its dependants and, when it opens or closes a wave, the tasks
of that wave; nothing else is looked at, so a plan of 100,000 tasks costs no more per move
than a small one.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from segue.core.decide import Candidate
from segue.core.graph import Graph
from segue.core.plan import FINISHED, Task, TaskState


def agent_as_account(task: Task) -> str:
    return task.agent or ""


class Frontier:
    """The ready tasks of a plan, by rank.

    `at` is when this is known, in seconds on any one clock; `previous` is the frontier
    before the plan was edited: who was ready then keeps the place in the queue.
    """

    def __init__(
        self,
        graph: Graph,
        states: Mapping[str, TaskState],
        *,
        at: float,
        previous: Frontier | None = None,
        account_of: Callable[[Task], str] = agent_as_account,
    ) -> None:
        self.graph = graph
        self.counts: Counter[TaskState] = Counter(states[task.id] for task in graph.tasks)
        self._account_of = account_of
        self._states = {task.id: states[task.id] for task in graph.tasks}
        self._ready: list[Candidate] = []
        self._candidates: dict[str, Candidate] = {}
        self._open_blockers = {
            task.id: sum(not self._is_completed(b) for b in graph.blockers(task.id))
            for task in graph.tasks
        }
        # Without declared waves there is one: the computed levels are no barriers.
        all_ids = [task.id for task in graph.tasks]
        self._waves = graph.waves() if graph.has_waves else [all_ids]
        self._wave_of = {id: number for number, ids in enumerate(self._waves) for id in ids}
        self._unfinished = [sum(not self._is_finished(id) for id in ids) for ids in self._waves]
        self._open_wave = self._first_unfinished(0)
        self._fill(at, previous)

    def _fill(self, at: float, previous: Frontier | None) -> None:
        before = {} if previous is None else previous._candidates
        for task in self.graph.tasks:
            if self._should_be_ready(task.id):
                since = before[task.id].ready_since if task.id in before else at
                self._candidates[task.id] = self._candidate(task.id, since)
        self._ready = sorted(self._candidates.values(), key=_rank)

    @property
    def ready(self) -> Sequence[Candidate]:
        """Sorted by rank. A live view: the next move changes it."""
        return self._ready

    @property
    def states(self) -> Mapping[str, TaskState]:
        """Every task's state. A live view: the next move changes it."""
        return self._states

    def move(self, id: str, state: TaskState, at: float) -> None:
        """A task's state is now this one."""
        old = self._states[id]
        if old is state:
            return
        self._states[id] = state
        self.counts[old] -= 1
        self.counts[state] += 1
        self._update(id, at)
        completed = (state is TaskState.COMPLETED) - (old is TaskState.COMPLETED)
        if completed:
            for dependant in self.graph.dependants(id):
                self._open_blockers[dependant] -= completed
                self._update(dependant, at)
        finished = (state in FINISHED) - (old in FINISHED)
        if finished:
            self._unfinished[self._wave_of[id]] -= finished
            self._shift_open_wave(self._wave_of[id], at)

    def _shift_open_wave(self, changed: int, at: float) -> None:
        """The open wave is the first unfinished one; those after it wait."""
        old = self._open_wave
        if changed > old:
            return
        self._open_wave = changed if self._unfinished[changed] else self._first_unfinished(old)
        low, high = sorted((old, self._open_wave))
        for wave in self._waves[low + 1 : high + 1]:
            for id in wave:
                self._update(id, at)

    def _first_unfinished(self, start: int) -> int:
        waves = range(start, len(self._waves))
        return next((wave for wave in waves if self._unfinished[wave]), len(self._waves))

    def _should_be_ready(self, id: str) -> bool:
        return (
            self._states[id] is TaskState.PENDING
            and not self._open_blockers[id]
            and self._wave_of[id] <= self._open_wave
        )

    def _update(self, id: str, at: float) -> None:
        is_ready = id in self._candidates
        if is_ready == self._should_be_ready(id):
            return
        if is_ready:
            candidate = self._candidates.pop(id)
            del self._ready[bisect_left(self._ready, candidate.rank, key=_rank)]
        else:
            self._candidates[id] = self._candidate(id, at)
            insort(self._ready, self._candidates[id], key=_rank)

    def _candidate(self, id: str, ready_since: float) -> Candidate:
        task = self.graph.task(id)
        return Candidate(
            id=id,
            account=self._account_of(task),
            files=task.files,
            ready_since=ready_since,
            order=self.graph.place[id],
            priority=task.priority,
            height=self.graph.height(id),
        )

    def _is_completed(self, id: str) -> bool:
        return self._states[id] is TaskState.COMPLETED

    def _is_finished(self, id: str) -> bool:
        return self._states[id] in FINISHED


def _rank(candidate: Candidate) -> tuple[int, float, int]:
    return candidate.rank
