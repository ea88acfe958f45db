"""Orders that are found by trying: never worse than by the longest chain, and the same each time."""

from __future__ import annotations

import random

import pytest

from segue.core.graph import Graph
from segue.core.plan import Task
from segue.core.schedule import Chart, improved

TASKS, SLOTS, REACH = 40, 4, 12


def random_plan(seed: int) -> tuple[list[list[int]], list[float]]:
    """Who waits for whom, and how long each lasts."""
    chance = random.Random(seed)
    blockers: list[list[int]] = []
    for task in range(TASKS):
        near = range(max(0, task - REACH), task)
        count = min(len(near), chance.choice((0, 1, 1, 2, 2, 3)))
        blockers.append(sorted(chance.sample(near, count)))
    return blockers, [chance.randint(50, 300) / 1_000 for _task in range(TASKS)]


def charted(blockers: list[list[int]], lasts_s: list[float]) -> tuple[Chart, list[float]]:
    """The plan, and the height of each task by its longest chain."""
    dependants: list[list[int]] = [[] for _task in blockers]
    for at, found in enumerate(blockers):
        for blocker in found:
            dependants[blocker].append(at)
    heights = list(lasts_s)
    for at in reversed(range(len(blockers))):
        heights[at] += max((heights[other] for other in dependants[at]), default=0.0)
    return Chart(dependants, [len(found) for found in blockers], SLOTS), heights


@pytest.mark.parametrize("seed", range(1, 13))
def test_the_order_found_ends_close_to_the_shortest_time(seed: int) -> None:
    blockers, lasts_s = random_plan(seed)
    chart, heights = charted(blockers, lasts_s)
    before_s = chart.length_s(lasts_s, heights)
    found_s = chart.length_s(lasts_s, improved(chart, lasts_s, heights))
    bound_s = max(*heights, sum(lasts_s) / SLOTS)
    assert found_s <= 1.015 * bound_s
    assert found_s <= before_s * 1.005, "what is better on average may lose a little here"


def test_the_same_plan_gets_the_same_order() -> None:
    blockers, lasts_s = random_plan(4)
    chart, heights = charted(blockers, lasts_s)
    assert improved(chart, lasts_s, heights) == improved(chart, lasts_s, heights)
    assert improved(chart, lasts_s, heights) != heights


def test_very_long_plans_keep_the_order_of_their_chains() -> None:
    """To try many orders would take longer than it saves."""
    lasts_s = [1.0 + at % 7 for at in range(5_000)]
    chart = Chart([[] for _task in lasts_s], [0] * len(lasts_s), SLOTS)
    assert improved(chart, lasts_s, lasts_s) == lasts_s


def test_one_slot_leaves_nothing_to_choose() -> None:
    chart = Chart([[], []], [0, 0], 1)
    assert improved(chart, [1.0, 2.0], [1.0, 2.0]) == [1.0, 2.0]


def test_a_plan_is_tried_where_all_is_known_of_it() -> None:
    """Without slots, or with one task of which nothing is known, the chains decide."""
    blockers, lasts_s = random_plan(4)
    tasks = [
        Task(id=f"T-{at}", title="x", line=at + 1, blocked_by=tuple(f"T-{b}" for b in found))
        for at, found in enumerate(blockers)
    ]
    lasted = {f"T-{at}": last_s for at, last_s in enumerate(lasts_s)}
    by_chains = [Graph(tasks, lasted).height(task.id) for task in tasks]
    found = Graph(tasks, lasted, slots=SLOTS)
    assert [found.height(task.id) for task in tasks] != by_chains
    del lasted["T-0"]
    partly = Graph(tasks, lasted, slots=SLOTS)
    assert [partly.height(task.id) for task in tasks] == [
        Graph(tasks, lasted).height(task.id) for task in tasks
    ]
