"""Big plans: reading 100,000 tasks.

Parse, check, graph, waves and critical path of a plan of 100,000 tasks, each waiting for one or
two of the fifty before it, against the same with 10,000 tasks (ten times the work: a ratio near
ten is linear), and against markdown-it-py, which turns the same bytes into tokens and knows
nothing of tasks. Processor time, in turn, best of two rounds each; the small plan is read ten
times in a row and the mean taken, so that both sides measure as much of the machine's noise.
"""

from __future__ import annotations

import gc
import random
from pathlib import Path

from markdown_it import MarkdownIt
from measure import Figure, Unmeasured, cpu_s, in_turn, listed

from segue.core.graph import Graph
from segue.plans.check import check
from segue.plans.tasklist import Document

BIG, SMALL = 100_000, 10_000
ROUNDS = 2


def plan_bytes(tasks: int) -> bytes:
    chance = random.Random(tasks)
    lines = ["# A long plan\n\n"]
    for task in range(1, tasks + 1):
        lines.append(f"- [ ] **T-{task:06}**: Build part {task}\n")
        if task > 1:
            blockers = sorted({chance.randint(max(1, task - 50), task - 1) for _ in range(2)})
            lines.append(f"  - blocked by: {', '.join(f'T-{n:06}' for n in blockers)}\n")
        lines.append(f"  - run: make part-{task}\n")
    return "".join(lines).encode()


def read_plan(data: bytes) -> None:
    document = Document.parse(data, file="PLAN.md")
    if check(document):
        raise Unmeasured("the plan of the benchmark is not sound")
    graph = Graph(document.tasks)
    if not graph.waves() or not graph.critical_path():
        raise Unmeasured("the plan of the benchmark is empty")


def _clean_cpu_s(data: bytes) -> float:
    gc.collect()
    return cpu_s(lambda: read_plan(data))


def _tokens_cpu_s(data: bytes) -> float:
    gc.collect()
    return cpu_s(lambda: MarkdownIt().parse(data.decode()))


def measure(_folder: Path) -> list[Figure]:
    big, small = plan_bytes(BIG), plan_bytes(SMALL)
    big_s, small_s, tokens_s = in_turn(
        ROUNDS,
        lambda: _clean_cpu_s(big),
        lambda: sum(_clean_cpu_s(small) for _ in range(10)) / 10,
        lambda: _tokens_cpu_s(big),
    )
    seconds = "{:.2f}"
    segue = f"Segue, {BIG:,} tasks ({len(big) / 1e6:.1f} MB), s: {listed(big_s, seconds)}"
    few = f"Segue, {SMALL:,} tasks, s: {listed(small_s, seconds)}"
    tokens = f"markdown-it-py, {BIG:,} tasks, s: {listed(tokens_s, seconds)}"
    growth = min(big_s) / min(small_s)
    against = min(big_s) / min(tokens_s)
    return [
        Figure(
            "time of 100,000 ÷ 10,000 tasks", growth, 12.0, at_least=False, details=(segue, few)
        ),
        Figure("time ÷ markdown-it-py", against, 1.0, at_least=False, details=(segue, tokens)),
    ]
