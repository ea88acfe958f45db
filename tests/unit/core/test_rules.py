"""What failed and skipped tasks mean for those that wait for them."""

from __future__ import annotations

import pytest

from segue.core.graph import Graph
from segue.core.plan import Task, TaskState
from segue.core.rules import (
    Reopen,
    Skip,
    Stay,
    Why,
    cascade,
    dependency_report,
    is_stuck,
    judge_skipped,
)

MARKS = {
    " ": TaskState.PENDING,
    "x": TaskState.COMPLETED,
    "~": TaskState.IN_PROGRESS,
    "!": TaskState.FAILED,
    "-": TaskState.SKIPPED,
}


def plan(text: str) -> tuple[Graph, list[Task], dict[str, TaskState]]:
    """Lines of `mark id blockers…`, the mark in brackets."""
    tasks = []
    for line in text.strip().splitlines():
        mark, rest = line.strip()[1], line.strip()[3:].split()
        tasks.append(Task(rest[0], rest[0], state=MARKS[mark], blocked_by=tuple(rest[1:])))
    return Graph(tasks), tasks, {task.id: task.state for task in tasks}


def test_all_that_depends_on_a_failed_task_is_skipped() -> None:
    """Pending dependants, direct or not, are skipped because of it; others are not touched."""
    graph, _, states = plan("""
        [!] A
        [ ] B A
        [ ] C B
        [ ] D
        [ ] E C D
    """)
    assert cascade(graph, states, ["A"]) == [Skip("B", "A"), Skip("C", "A"), Skip("E", "A")]


def test_a_cascade_passes_skipped_tasks_and_stops_at_free_ones() -> None:
    """A skipped dependant holds its own; one that is completed or runs does not."""
    graph, _, states = plan("""
        [!] A
        [-] B A
        [ ] C B
        [x] D A
        [ ] E D
        [~] F A
        [ ] G F
    """)
    assert cascade(graph, states, ["A"]) == [Skip("C", "A")]


def test_the_nearest_failed_task_is_the_reason() -> None:
    """Below a second failed task, that one is named."""
    graph, _, states = plan("""
        [!] A
        [!] B A
        [ ] C B
        [ ] D A
    """)
    assert cascade(graph, states, ["A", "B"]) == [Skip("C", "B"), Skip("D", "A")]


@pytest.mark.parametrize(
    ("blockers", "verdict"),
    [
        ("[x] A\n[x] B", Reopen("T")),
        ("[x] A\n[ ] B", Reopen("T", ("B",))),
        ("[~] A\n[x] B", Reopen("T", ("A",))),
        ("[x] A\n[!] B", Stay("T", Why.BLOCKER, "B")),
        ("[ ] A\n[!] B", Stay("T", Why.BLOCKER, "B")),
        ("[x] A\n[-] B", Stay("T", Why.BLOCKER, "B")),
    ],
)
def test_a_skipped_task_is_judged_by_its_blockers(blockers: str, verdict: Reopen | Stay) -> None:
    """All completed: it reopens; one unfinished: it reopens and waits; one failed: it stays."""
    graph, tasks, states = plan(f"{blockers}\n[-] T A B")
    assert judge_skipped(graph, tasks, states)[-1] == verdict


def test_a_task_that_a_person_skipped_stays() -> None:
    """Without blockers nothing but a person can have skipped it."""
    graph, tasks, states = plan("[-] A")
    assert judge_skipped(graph, tasks, states) == [Stay("A", Why.PERSON)]


def test_a_task_past_its_limit_stays_skipped() -> None:
    """However its blockers stand, it was tried too often."""
    tasks = [
        Task("A", "", state=TaskState.COMPLETED),
        Task("B", "", state=TaskState.SKIPPED, blocked_by=("A",), retries=2, retries_used=3),
    ]
    states = {task.id: task.state for task in tasks}
    assert judge_skipped(Graph(tasks), tasks, states) == [Stay("B", Why.PAST_LIMIT)]


def test_chains_of_skipped_tasks_reopen_together() -> None:
    """Blockers are judged first, wherever they stand in the file."""
    graph, tasks, states = plan("""
        [-] C B
        [-] B A
        [x] A
    """)
    assert judge_skipped(graph, tasks, states) == [Reopen("B"), Reopen("C", ("B",))]


def test_chains_below_a_failed_task_stay_because_of_it() -> None:
    """The task at the root is named, not the skipped one in between."""
    graph, tasks, states = plan("""
        [!] A
        [-] B A
        [-] C B
    """)
    assert judge_skipped(graph, tasks, states) == [
        Stay("B", Why.BLOCKER, "A"),
        Stay("C", Why.BLOCKER, "A"),
    ]


def test_the_report_says_which_task_holds_which() -> None:
    """Failed tasks, and those skipped for themselves, with all that waits for them."""
    graph, _, states = plan("""
        [!] A
        [-] B A
        [-] C B
        [-] P
        [-] D P A
        [!] Z
        [x] Y Z
    """)
    assert dependency_report(graph, states) == [("A", ["B", "C", "D"]), ("P", ["D"])]


def test_a_failed_task_is_held_by_none() -> None:
    """It had its run; what waits for it waits for the one above it as well."""
    graph, _, states = plan("""
        [!] A
        [!] B A
        [-] C B
    """)
    assert dependency_report(graph, states) == [("A", ["C"]), ("B", ["C"])]


@pytest.mark.parametrize(
    ("marks", "expected"),
    [("x!-", True), ("-", True), ("x!", False), ("x- ", False), ("-~", False), ("", False)],
)
def test_a_plan_is_stuck_when_only_skipped_tasks_are_left(marks: str, expected: bool) -> None:
    """Something skipped, and nothing that runs or could."""
    states = {f"T-{n}": MARKS[mark] for n, mark in enumerate(marks)}
    assert is_stuck(states) is expected
