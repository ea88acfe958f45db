"""What a task's state means for the tasks that wait for it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from segue.core.graph import Graph
from segue.core.plan import Task, TaskState

States = Mapping[str, TaskState]

# A dependant in one of these goes its own way, and so does what waits for it.
_FREE = frozenset({TaskState.COMPLETED, TaskState.IN_PROGRESS})


@dataclass(frozen=True, slots=True)
class Skip:
    """A pending task cannot run any more; `because` is the task that holds it."""

    task: str
    because: str


@dataclass(frozen=True, slots=True)
class Reopen:
    """A skipped task is pending again; `waits_for` is what is still to be done before it."""

    task: str
    waits_for: tuple[str, ...] = ()


class Why(StrEnum):
    PERSON = "person"  # nothing blocks it: a person skipped it
    PAST_LIMIT = "past_limit"  # tried more often than its plan allows
    BLOCKER = "blocker"  # what it waits for failed, or stays skipped


@dataclass(frozen=True, slots=True)
class Stay:
    """A skipped task stays so; `because` is the task at the root of it, if it is another."""

    task: str
    why: Why
    because: str | None = None


def cascade(graph: Graph, states: States, failed: Iterable[str]) -> list[Skip]:
    """Every pending task that waits, directly or not, for one of these; in file order."""
    because: dict[str, str] = {}
    for root in failed:
        _hold(graph, states, root, because)
    held = sorted(because, key=graph.place.__getitem__)
    return [Skip(id, because[id]) for id in held if states[id] is TaskState.PENDING]


def _hold(graph: Graph, states: States, root: str, because: dict[str, str]) -> None:
    todo = [(root, root)]
    while todo:
        at, holder = todo.pop()
        for id in graph.dependants(at):
            if id not in because and states[id] not in _FREE:
                because[id] = holder
                todo.append((id, id if states[id] is TaskState.FAILED else holder))


def judge_skipped(
    graph: Graph, tasks: Sequence[Task], states: States, kept: Collection[str] = ()
) -> list[Reopen | Stay]:
    """What becomes of each skipped task on resume, in dependency order.

    Blockers are judged before their dependants, so a chain of skipped tasks reopens as one.
    `kept`: those that a person has just decided to skip.
    """
    by_id = {task.id: task for task in tasks}
    staying: dict[str, Stay] = {}
    verdicts: list[Reopen | Stay] = []
    for id in graph.in_dependency_order():
        if id in by_id and states[id] is TaskState.SKIPPED:
            verdict = (
                Stay(id, Why.PERSON)
                if id in kept
                else _judge(by_id[id], graph.blockers(id), states, staying)
            )
            verdicts.append(verdict)
            if isinstance(verdict, Stay):
                staying[id] = verdict
    return verdicts


def _judge(
    task: Task, blockers: Sequence[str], states: States, staying: Mapping[str, Stay]
) -> Reopen | Stay:
    if task.is_past_limit:
        return Stay(task.id, Why.PAST_LIMIT)
    if not blockers:
        return Stay(task.id, Why.PERSON)
    for blocker in blockers:
        if states[blocker] is TaskState.FAILED:
            return Stay(task.id, Why.BLOCKER, blocker)
        if blocker in staying:
            return Stay(task.id, Why.BLOCKER, staying[blocker].because or blocker)
    return Reopen(task.id, tuple(b for b in blockers if states[b] is not TaskState.COMPLETED))


def dependency_report(graph: Graph, states: States) -> list[tuple[str, list[str]]]:
    """Which task holds which: each that failed, or was skipped on its own account, with all
    that cannot run because of it. Those that hold nothing are left out."""
    report: list[tuple[str, list[str]]] = []
    for task in graph.tasks:
        if _is_root(graph, states, task.id):
            because: dict[str, str] = {}
            _hold(graph, states, task.id, because)
            held = [id for id in because if states[id] is not TaskState.FAILED]
            if held:
                report.append((task.id, sorted(held, key=graph.place.__getitem__)))
    return report


def _is_root(graph: Graph, states: States, id: str) -> bool:
    if states[id] is TaskState.FAILED:
        return True
    if states[id] is not TaskState.SKIPPED:
        return False
    stuck = (TaskState.FAILED, TaskState.SKIPPED)
    return not any(states[blocker] in stuck for blocker in graph.blockers(id))


def is_stuck(states: States) -> bool:
    """Nothing is left but skipped tasks: someone must see to what holds them."""
    values = set(states.values())
    return TaskState.SKIPPED in values and not values & {
        TaskState.PENDING,
        TaskState.IN_PROGRESS,
    }
