"""Who waits for whom: blockers, waves, the critical path, file conflicts.

Everything here is linear in tasks and edges and free of recursion, so that a chain of
100,000 tasks is as ordinary as one of three. Tasks are taken in file order; places in that
order are what ties are settled by. Wave headings are barriers, not edges.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from segue.core.bulk import no_collection
from segue.core.globs import globs_meet, literal_prefix, overlaps
from segue.core.plan import Task
from segue.core.schedule import Chart, improved
from segue.errors import Bug

__all__ = ["PAIRS_MAX", "Graph", "conflicts", "find_cycle", "overlaps"]

# How many pairs of tasks `conflicts` compares by their globs before it leaves off.
PAIRS_MAX = 1_000_000

# Relations are kept as bits, this many tasks at a time: memory stays bounded.
BLOCK_TASKS = 4_096


def one_each(_: Task) -> float:
    return 1.0


class Graph:
    """The dependencies of a plan that was found sound: no unknown blocker, no cycle,
    no blocker in a later wave. `lasted`: how long tasks took when they were last done, in
    seconds, as far as it is known; `slots`: how many run side by side, if that is known."""

    def __init__(
        self,
        tasks: Sequence[Task],
        lasted: Mapping[str, float] | None = None,
        *,
        slots: int | None = None,
    ) -> None:
        self._lasted = lasted or {}
        self._slots = slots
        with no_collection():
            self._build(tasks)

    def _build(self, tasks: Sequence[Task]) -> None:
        self.tasks: tuple[Task, ...] = tuple(tasks)
        self.place: dict[str, int] = {task.id: at for at, task in enumerate(self.tasks)}
        if len(self.place) != len(self.tasks):
            raise Bug("two tasks of a plan have the same id")
        self._blockers: list[tuple[int, ...]] = []
        self._dependants: list[list[int]] = [[] for _ in self.tasks]
        for at, task in enumerate(self.tasks):
            self._blockers.append(tuple(self._place_of_blocker(task, id) for id in _once(task)))
            for blocker in self._blockers[at]:
                self._dependants[blocker].append(at)
        self.has_waves = any(task.wave is not None for task in self.tasks)
        self._order = self._sorted()

    def _place_of_blocker(self, task: Task, blocker: str) -> int:
        if blocker not in self.place:
            raise Bug(f"{task.id} is blocked by {blocker}, which is not in the plan")
        return self.place[blocker]

    def _sorted(self) -> list[int]:
        """Places, every blocker before its dependants and every wave before the next."""
        open_blockers = [len(blockers) for blockers in self._blockers]
        ready = deque(at for at, count in enumerate(open_blockers) if not count)
        order: list[int] = []
        while ready:
            at = ready.popleft()
            order.append(at)
            for dependant in self._dependants[at]:
                open_blockers[dependant] -= 1
                if not open_blockers[dependant]:
                    ready.append(dependant)
        if len(order) < len(self.tasks):
            raise Bug("the tasks of a plan wait for each other in a circle")
        if self.has_waves:
            order.sort(key=lambda at: _wave(self.tasks[at]))
            place = {at: rank for rank, at in enumerate(order)}
            if any(place[b] > place[at] for at in order for b in self._blockers[at]):
                raise Bug("a task is blocked by one of a later wave")
        return order

    def __len__(self) -> int:
        return len(self.tasks)

    def __contains__(self, id: object) -> bool:
        return id in self.place

    def task(self, id: str) -> Task:
        return self.tasks[self.place[id]]

    def blockers(self, id: str) -> tuple[str, ...]:
        """What this task waits for, as its plan states it."""
        return tuple(self.tasks[at].id for at in self._blockers[self.place[id]])

    def dependants(self, id: str) -> tuple[str, ...]:
        """What waits for this task directly, in file order."""
        return tuple(self.tasks[at].id for at in self._dependants[self.place[id]])

    def all_dependants(self, id: str) -> list[str]:
        """What waits for this task directly or not, in file order."""
        found: set[int] = set()
        todo = [self.place[id]]
        while todo:
            for at in self._dependants[todo.pop()]:
                if at not in found:
                    found.add(at)
                    todo.append(at)
        return [self.tasks[at].id for at in sorted(found)]

    def in_dependency_order(self) -> list[str]:
        """Every id, each after all that it waits for."""
        return [self.tasks[at].id for at in self._order]

    @cached_property
    def _numbers(self) -> list[int]:
        """Each task's wave: as declared, else its level in the longest chain, from 1."""
        if self.has_waves:
            return [_wave(task) for task in self.tasks]
        levels = [1] * len(self.tasks)
        for at in self._order:
            levels[at] = 1 + max((levels[b] for b in self._blockers[at]), default=0)
        return levels

    @cached_property
    def _heights(self) -> list[float]:
        """How long the longest chain lasts that begins with each task; where it is known how long
        all of them last, a little more or less, so that the order is a better one."""
        known = self._lasted.values()
        typical_s = sum(known) / len(known) if known else 1.0  # of those nothing is known of
        lasts = [self._lasted.get(task.id, typical_s) for task in self.tasks]
        heights = list(lasts)
        for at in reversed(self._order):
            for blocker in self._blockers[at]:
                heights[blocker] = max(heights[blocker], heights[at] + lasts[blocker])
        if self._slots is None or self.has_waves or not self._is_known:
            return heights
        chart = Chart(self._dependants, [len(found) for found in self._blockers], self._slots)
        return improved(chart, lasts, heights)

    @property
    def _is_known(self) -> bool:
        """Whether it is known of each task how long it lasts."""
        return all(task.id in self._lasted for task in self.tasks)

    def height(self, id: str) -> float:
        """How long the chain is that waits for this task, itself included: in seconds where it
        is known how long its tasks last, else in tasks."""
        return self._heights[self.place[id]]

    def wave_of(self, id: str) -> int:
        return self._numbers[self.place[id]]

    def waves(self) -> list[list[str]]:
        """The ids wave by wave, each in file order."""
        waves: dict[int, list[str]] = {}
        for task, number in zip(self.tasks, self._numbers, strict=True):
            waves.setdefault(number, []).append(task.id)
        return [waves[number] for number in sorted(waves)]

    def critical_path(self, weight: Callable[[Task], float] = one_each) -> list[str]:
        """The longest chain; from a declared wave it may pass to any task of the next."""
        if not self.tasks:
            return []
        with no_collection():
            return self._longest_chain(weight)

    def _longest_chain(self, weight: Callable[[Task], float]) -> list[str]:
        length = [0.0] * len(self.tasks)
        before: list[int | None] = [None] * len(self.tasks)

        def longer(a: int, b: int) -> int:
            return min(a, b, key=lambda at: (-length[at], at))

        last: int | None = None  # the end of the longest chain so far
        barrier: int | None = None  # the end of the longest one in the waves before
        wave = self._numbers[self._order[0]]
        for at in self._order:
            if self.has_waves and self._numbers[at] != wave:
                wave, barrier = self._numbers[at], last
            previous = barrier
            for blocker in self._blockers[at]:
                previous = blocker if previous is None else longer(previous, blocker)
            before[at] = previous
            length[at] = weight(self.tasks[at]) + (0.0 if previous is None else length[previous])
            last = at if last is None else longer(last, at)
        chain: list[str] = []
        while last is not None:
            chain.append(self.tasks[last].id)
            last = before[last]
        return chain[::-1]

    def ancestors(self, places: Sequence[int], of_interest: Mapping[int, int]) -> dict[int, int]:
        """For each of these places, in dependency order, the bits of its ancestors among
        those of interest (place → bit). Paths through other places are not seen."""
        seen: dict[int, int] = {}
        for at in places:
            bits = 0
            for blocker in self._blockers[at]:
                bits |= seen.get(blocker, 0) | of_interest.get(blocker, 0)
            seen[at] = bits
        return seen

    def side_by_side(self) -> list[list[int]]:
        """Places that no wave parts, in dependency order: one list per declared wave."""
        if not self.has_waves:
            return [self._order]
        groups: dict[int, list[int]] = {}
        for at in self._order:
            groups.setdefault(self._numbers[at], []).append(at)
        return [groups[number] for number in sorted(groups)]


def _once(task: Task) -> tuple[str, ...]:
    return tuple(dict.fromkeys(task.blocked_by))


def _wave(task: Task) -> int:
    """In a plan with waves, what stands before the first heading comes first."""
    return 0 if task.wave is None else task.wave


def find_cycle(edges: Mapping[str, Sequence[str]]) -> list[str] | None:
    """A chain of ids in which each waits for the next, first and last the same; or None.

    `edges` maps each id to what it waits for; ids that are no keys are passed over. The
    chain is the shortest through its first id.
    """
    on_cycle = _any_on_a_cycle(edges)
    if on_cycle is None:
        return None
    before: dict[str, str] = {}
    todo = deque([on_cycle])
    while on_cycle not in before:
        at = todo.popleft()
        for to in edges[at]:
            if to in edges and to not in before:
                before[to] = at
                todo.append(to)
    chain = [on_cycle]
    while len(chain) == 1 or chain[-1] != on_cycle:
        chain.append(before[chain[-1]])
    return chain[::-1]


def _any_on_a_cycle(edges: Mapping[str, Sequence[str]]) -> str | None:
    """An id that a walk along the edges comes back to while it is still on its way."""
    done: set[str] = set()
    for root in edges:
        walk: dict[str, int] = {}  # the ids of the present walk → edges of it already taken
        at: str | None = None if root in done else root
        while at is not None:
            taken = walk.get(at, 0)
            walk[at] = taken + 1
            if taken < len(edges[at]):
                to = edges[at][taken]
                if to in walk:
                    return to
                if to in edges and to not in done:
                    at = to
            else:
                del walk[at]
                done.add(at)
                at = next(reversed(walk), None)
    return None


def conflicts(tasks: Sequence[Task]) -> list[tuple[str, str, list[str]]]:
    """Pairs that nothing keeps from running side by side and whose `files` overlap.

    In file order, each with the globs that meet. A plan in which more than `PAIRS_MAX`
    pairs would have to be compared gets the conflicts found until then.
    """
    if not any(task.files for task in tasks):
        return []
    graph = Graph(tasks)
    found: list[tuple[int, int, list[str]]] = []
    for pair in islice(_unrelated_pairs(graph), PAIRS_MAX):
        a, b = sorted(pair)
        if globs := _globs_that_meet(graph.tasks[a].files, graph.tasks[b].files):
            found.append((a, b, globs))
    found.sort(key=lambda conflict: conflict[:2])
    return [(graph.tasks[a].id, graph.tasks[b].id, globs) for a, b, globs in found]


def _globs_that_meet(files_a: Sequence[str], files_b: Sequence[str]) -> list[str]:
    met = [(a, b) for a in files_a for b in files_b if globs_meet(a, b)]
    return list(dict.fromkeys(glob for pair in met for glob in pair))


def _unrelated_pairs(graph: Graph) -> Iterator[tuple[int, int]]:
    """Pairs of places that neither wait for each other nor differ from the first segments on."""
    for group in graph.side_by_side():
        filed = [at for at in group if graph.tasks[at].files]
        for start in range(0, len(filed), BLOCK_TASKS):
            yield from _pairs_of_block(graph, group, filed[start:])


def _pairs_of_block(
    graph: Graph, group: Sequence[int], filed: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Pairs of one of the first `BLOCK_TASKS` filed places with any after it.

    The places are in dependency order: only the earlier can be an ancestor of the later.
    """
    bits = {at: 1 << number for number, at in enumerate(filed[:BLOCK_TASKS])}
    ancestors = graph.ancestors(group, bits)
    at_prefix: dict[tuple[str, ...], int] = {}
    under_prefix: dict[tuple[str, ...], int] = {}
    for at, bit in bits.items():
        for prefix in map(literal_prefix, graph.tasks[at].files):
            at_prefix[prefix] = at_prefix.get(prefix, 0) | bit
            for size in range(len(prefix) + 1):
                under_prefix[prefix[:size]] = under_prefix.get(prefix[:size], 0) | bit
    for later in filed:
        candidates = 0
        for prefix in map(literal_prefix, graph.tasks[later].files):
            candidates |= under_prefix.get(prefix, 0)
            for size in range(len(prefix)):
                candidates |= at_prefix.get(prefix[:size], 0)
        candidates &= ~ancestors[later] & (bits.get(later, 1 << BLOCK_TASKS) - 1)
        while candidates:
            number = candidates.bit_length() - 1
            candidates ^= 1 << number
            yield filed[number], later
