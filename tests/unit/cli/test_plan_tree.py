"""The plan on a screen: as much as there is room for."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from segue.cli import console
from segue.cli.plan_tree import PlanTree
from segue.core.graph import Graph
from segue.core.plan import Task, TaskState


@pytest.fixture(autouse=True)
def afterwards() -> Iterator[None]:
    yield
    console.set_up([], {})


def drawn(tasks: list[Task], rows: int, width: int = 60, kind: str = "tasklist") -> list[str]:
    states = {task.id: task.state for task in tasks}
    run: Any = SimpleNamespace(
        graph=Graph(tuple(tasks)),
        frontier=SimpleNamespace(states=states),
        file=SimpleNamespace(kind=kind),
        ledger=SimpleNamespace(parks={}, gates={}),
        deferred={},
        jobs={},
    )
    board = Console(width=width, height=rows, force_terminal=False)
    with board.capture() as got:
        board.print(PlanTree(run).draw(width, rows))
    return got.get().splitlines()


def some(done: int, running: int, title: str = "a title") -> list[Task]:
    """A chain of tasks that are done, and some that run beside each other after it."""
    chain = [
        Task(f"D-{n}", title, TaskState.COMPLETED, blocked_by=(f"D-{n - 1}",) if n else ())
        for n in range(done)
    ]
    last = (f"D-{done - 1}",) if done else ()
    beside = [Task(f"R-{n}", title, TaskState.IN_PROGRESS, blocked_by=last) for n in range(running)]
    return [*chain, *beside]


@pytest.mark.parametrize("kind", ["tasklist", "book", "develop"])
@pytest.mark.parametrize("rows", [1, 2, 3, 5, 8, 40])
@pytest.mark.parametrize(("done", "running"), [(0, 1), (3, 2), (20, 3), (2, 20)])
def test_never_more_rows_than_there_are(kind: str, rows: int, done: int, running: int) -> None:
    """What runs is folded last, and what does not fit is counted."""
    lines = drawn(some(done, running), rows, kind=kind)
    assert len(lines) <= rows
    shown = sum("R-" in line for line in lines)
    assert shown == min(running, rows) or any("more" in line for line in lines)


def test_everything_is_shown_where_there_is_room() -> None:
    """Waves with their tasks."""
    text = "\n".join(drawn(some(2, 2), 20))
    for part in ("Wave 1", "Wave 3", "D-0", "D-1", "R-0", "R-1"):
        assert part in text


@pytest.mark.parametrize("width", [20, 40, 80])
def test_a_row_is_one_line_and_only_shows(width: int) -> None:
    """However long the title is, and whatever is in it."""
    lines = drawn(some(1, 2, "a\x1b[2Jb\u202e" + "한글 " * 60), 10, width)
    assert len(lines) == 5
    assert "\x1b" not in "".join(lines)
    assert "\u202e" not in "".join(lines)
