"""A better order for tasks that are ready, where it is known how long they last: found by trying.

Whoever always takes the task with the longest chain behind it ends close to the shortest time there
is, and mostly some percent above it: which of two equal chains goes first can leave a slot empty at
the end. So orders close to that one are tried on paper, against several guesses of how long tasks
last this time, and the one that ends first on average is taken. The chance is the same every time:
a plan that is begun again is begun in the same order.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

STEPS_MAX = 120_000  # tasks that are begun on paper: some fifty milliseconds
ROUNDS_MIN = 20  # with fewer there is no hope
GUESSES = 6
SPREAD = 0.02  # of how long a task lasts from one time to the next
DISTANCE = 0.1  # of an order that is tried from the one before
CLOSE = 1.004  # to the shortest time there can be: good enough


@dataclass(frozen=True, slots=True)
class Chart:
    """Tasks by number: which ones wait for each, and how many each waits for."""

    dependants: Sequence[Sequence[int]]
    blockers: Sequence[int]
    slots: int

    def length_s(self, lasts_s: Sequence[float], heights: Sequence[float]) -> float:
        """How long all of it takes if the highest of those that are ready always goes first."""
        left = list(self.blockers)
        ready = [(-heights[at], at) for at, count in enumerate(left) if not count]
        heapify(ready)
        running: list[tuple[float, int]] = []
        now_s = 0.0
        while ready or running:
            while ready and len(running) < self.slots:
                at = heappop(ready)[1]
                heappush(running, (now_s + lasts_s[at], at))
            now_s, ended = heappop(running)
            for at in self.dependants[ended]:
                left[at] -= 1
                if not left[at]:
                    heappush(ready, (-heights[at], at))
        return now_s


def improved(chart: Chart, lasts_s: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Heights whose order ends sooner than that of these, if such ones are found."""
    rounds = STEPS_MAX // (GUESSES * max(1, len(lasts_s)))
    if rounds < ROUNDS_MIN or chart.slots < 2:
        return list(heights)
    chance = random.Random(0)  # noqa: S311 - no secret
    guesses = [
        [last_s * (1 + chance.uniform(-SPREAD, SPREAD)) for last_s in lasts_s]
        for _guess in range(GUESSES)
    ]

    def all_s(tried: Sequence[float]) -> float:
        return sum(chart.length_s(guess, tried) for guess in guesses)

    bound_s = max(max(heights, default=0.0), sum(lasts_s) / chart.slots) * GUESSES * CLOSE
    best, best_s = list(heights), all_s(heights)
    for number in range(rounds):
        if best_s <= bound_s:
            break
        near = best if number % 2 else heights
        tried = [height * (1 + chance.gauss(0, DISTANCE)) for height in near]
        if (tried_s := all_s(tried)) < best_s:
            best, best_s = tried, tried_s
    return best
