"""Dependencies, waves, the critical path and file conflicts."""

from __future__ import annotations

from collections.abc import ValuesView
from itertools import pairwise

import pytest

from segue.core import graph as graph_module
from segue.core.graph import Graph, conflicts, find_cycle
from segue.core.plan import Task
from segue.errors import Bug


def task(id: str, *blocked_by: str, wave: int | None = None, files: tuple[str, ...] = ()) -> Task:
    return Task(id, id, wave=wave, blocked_by=blocked_by, files=files)


DIAMOND = [task("A"), task("B", "A"), task("C", "A"), task("D", "B", "C"), task("E")]


def test_blockers_and_dependants_go_both_ways() -> None:
    """Who waits for whom can be asked from either end, directly or not."""
    graph = Graph(DIAMOND)
    assert graph.blockers("D") == ("B", "C")
    assert graph.dependants("A") == ("B", "C")
    assert graph.all_dependants("A") == ["B", "C", "D"]
    assert graph.all_dependants("E") == []


def test_a_blocker_named_twice_counts_once() -> None:
    """A task that names a blocker twice waits for it once."""
    graph = Graph([task("A"), task("B", "A", "A")])
    assert graph.blockers("B") == ("A",)
    assert graph.dependants("A") == ("B",)


@pytest.mark.parametrize(
    "tasks",
    [
        [task("A", "X")],
        [task("A"), task("A")],
        [task("A", "B"), task("B", "A")],
        [task("A", "B", wave=1), task("B", wave=2)],
    ],
    ids=["unknown blocker", "same id", "cycle", "blocker in a later wave"],
)
def test_an_unsound_plan_is_refused(tasks: list[Task]) -> None:
    """What its file's reader must have found out never gets as far as here."""
    with pytest.raises(Bug):
        Graph(tasks)


def test_waves_without_headings_are_levels() -> None:
    """A task's level is one more than its deepest blocker's."""
    graph = Graph(DIAMOND)
    assert graph.waves() == [["A", "E"], ["B", "C"], ["D"]]
    assert [graph.wave_of(id) for id in "ABCDE"] == [1, 2, 2, 3, 1]


def test_declared_waves_stand_in_the_order_of_their_numbers() -> None:
    """Headings decide, not dependencies nor the order of the file."""
    graph = Graph([task("A", wave=5), task("B", wave=2), task("C", "B", wave=2)])
    assert graph.waves() == [["B", "C"], ["A"]]
    assert graph.wave_of("A") == 5


def test_the_critical_path_is_the_longest_chain() -> None:
    """Of chains of the same length the one that stands first in the file is taken."""
    assert Graph(DIAMOND).critical_path() == ["A", "B", "D"]
    assert Graph([]).critical_path() == []


def test_weights_move_the_critical_path() -> None:
    """The longest chain is the one that takes longest."""
    assert Graph(DIAMOND).critical_path(lambda t: 9.0 if t.id == "E" else 1.0) == ["E"]


def test_the_critical_path_passes_through_waves() -> None:
    """A wave waits for all of the one before: the chain goes on without a dependency."""
    tasks = [
        task("A", wave=1),
        task("B", wave=1),
        task("C", "B", wave=1),
        task("D", "A", wave=2),
        task("E", wave=3),
    ]
    assert Graph(tasks).critical_path() == ["B", "C", "D", "E"]


def test_a_cycle_is_shown_as_a_chain() -> None:
    """The chain leads from a task back to itself, and is the shortest through it."""
    edges = {"A": ["B"], "B": ["C", "D"], "C": ["D"], "D": ["B", "unknown"], "E": ["A"]}
    chain = find_cycle(edges)
    assert chain is not None
    assert chain[0] == chain[-1]
    assert all(b in edges[a] for a, b in pairwise(chain))
    assert len(chain) == 3
    assert find_cycle({"A": ["A"]}) == ["A", "A"]


def test_no_cycle_is_none() -> None:
    """Sound dependencies, also on unknown tasks, have no cycle."""
    assert find_cycle({"A": [], "B": ["A"], "C": ["A", "B", "X"]}) is None


def test_long_chains_need_no_recursion() -> None:
    """A hundred thousand tasks in a row are sorted, walked and searched for cycles."""
    count = 100_000
    tasks = [task(f"T-{n}", *([f"T-{n - 1}"] if n else [])) for n in range(count)]
    graph = Graph(tasks)
    assert len(graph.critical_path()) == count
    assert len(graph.all_dependants("T-0")) == count - 1
    assert graph.wave_of(f"T-{count - 1}") == count
    edges = {t.id: t.blocked_by for t in tasks}
    assert find_cycle(edges) is None
    chain = find_cycle({**edges, "T-0": (f"T-{count - 1}",)})
    assert chain is not None
    assert len(chain) == count + 1


def test_conflicts_are_pairs_that_could_run_side_by_side() -> None:
    """Overlapping files matter only where neither task waits for the other."""
    tasks = [
        task("A", files=("src/**",)),
        task("B", "A", files=("src/b.py",)),
        task("C", "B"),
        task("D", "C", files=("src/d.py",)),
        task("E", files=("docs/", "src/*.py")),
    ]
    assert conflicts(tasks) == [
        ("A", "E", ["src/**", "src/*.py"]),
        ("B", "E", ["src/b.py", "src/*.py"]),
        ("D", "E", ["src/d.py", "src/*.py"]),
    ]


def test_waves_keep_tasks_apart() -> None:
    """Tasks of different waves never meet, so their files do not conflict."""
    same = ("src/",)
    tasks = [task("A", wave=1, files=same), task("B", wave=2, files=same)]
    tasks += [task("C", wave=2, files=same), task("D", "C", wave=2, files=same)]
    assert [pair[:2] for pair in conflicts(tasks)] == [("B", "C"), ("B", "D")]


def test_conflicts_beyond_one_block_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many tasks are compared at a time changes nothing."""
    tasks = [task(f"T-{n}", *([f"T-{n - 3}"] if n > 2 else []), files=("x/*",)) for n in range(9)]
    whole = conflicts(tasks)
    assert len(whole) == 27
    monkeypatch.setattr(graph_module, "BLOCK_TASKS", 2)
    assert conflicts(tasks) == whole


def test_comparing_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more pairs are compared than the limit says."""
    monkeypatch.setattr(graph_module, "PAIRS_MAX", 5)
    assert len(conflicts([task(f"T-{n}", files=("x",)) for n in range(50)])) == 5


# --- heights ----------------------------------------------------------------------------------


def test_heights_without_a_past_count_tasks() -> None:
    """How many wait in a row, the task itself included."""
    graph = Graph(DIAMOND)
    assert [graph.height(id) for id in "ABCDE"] == [3, 2, 2, 1, 1]


def test_heights_with_a_past_are_seconds() -> None:
    """The chain that lasts longest counts, not the one with most tasks."""
    graph = Graph(DIAMOND, {"A": 10, "B": 5, "C": 100, "D": 1, "E": 500})
    assert [graph.height(id) for id in "ABCDE"] == [111, 6, 101, 1, 500]


def test_a_task_without_a_past_is_taken_to_last_as_long_as_the_others() -> None:
    """Of which nothing is known: their mean; so a new chain of two is longer than one of one."""
    graph = Graph([task("A"), task("B", "A"), task("C"), task("D")], {"C": 30, "D": 90})
    assert [graph.height(id) for id in "ABCD"] == [120, 60, 30, 90]


def test_a_past_of_tasks_that_are_gone_does_no_harm() -> None:
    """The plan was edited since; the heights of what is left stay in their order."""
    graph = Graph([task("A"), task("B", "A")], {"gone": 40.0})
    assert graph.height("A") == 80
    assert graph.height("B") == 40


def test_a_past_of_no_time_at_all_is_a_past() -> None:
    """Tasks that ended within the same tick last nothing."""
    graph = Graph([task("A"), task("B", "A")], {"A": 0.0, "B": 0.0})
    assert [graph.height(id) for id in "AB"] == [0, 0]


class Past(dict[str, float]):
    """Counts how often it is looked through."""

    looks = 0

    def values(self) -> ValuesView[float]:  # type: ignore[override]
        self.looks += 1
        return super().values()


def test_the_past_is_looked_through_once_however_long_the_plan() -> None:
    """A plan of many tasks that was run before starts as fast as one that was not."""
    tasks = [task(f"T-{n}", *([f"T-{n - 1}"] if n else [])) for n in range(1000)]
    past = Past({t.id: 2.0 for t in tasks})
    assert Graph(tasks, past).height("T-0") == 2000
    assert past.looks <= 2


def test_what_lasts_longest_changes_no_wave_and_no_critical_path() -> None:
    """The dry run shows the plan as it is written."""
    plain, learnt = Graph(DIAMOND), Graph(DIAMOND, {"E": 1e6, "C": 1e5})
    assert plain.waves() == learnt.waves()
    assert plain.critical_path() == learnt.critical_path()
