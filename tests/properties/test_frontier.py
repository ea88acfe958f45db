"""A frontier kept move by move is the one that would be made anew."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from segue.core.frontier import Frontier
from segue.core.graph import Graph
from segue.core.plan import FINISHED, MARKS, Priority, Task, TaskState

states_of_tasks = st.sampled_from(MARKS)


@st.composite
def plans(draw: st.DrawFn) -> list[Task]:
    count = draw(st.integers(1, 10))
    has_waves = draw(st.booleans())
    waves = sorted(draw(st.lists(st.integers(1, 4), min_size=count, max_size=count)))
    tasks = []
    for at in range(count):
        blockers = draw(st.sets(st.integers(0, at - 1), max_size=2)) if at else set()
        tasks.append(
            Task(
                f"T-{at}",
                "",
                wave=waves[at] if has_waves else None,
                blocked_by=tuple(f"T-{b}" for b in sorted(blockers)),
                priority=draw(st.sampled_from(Priority)),
                state=draw(states_of_tasks),
            )
        )
    return draw(st.permutations(tasks))


def is_ready(task: Task, tasks: list[Task], states: dict[str, TaskState]) -> bool:
    """The rule itself."""
    return (
        states[task.id] is TaskState.PENDING
        and all(states[b] is TaskState.COMPLETED for b in task.blocked_by)
        and all(states[t.id] in FINISHED for t in tasks if (t.wave or 0) < (task.wave or 0))
    )


@given(plans(), st.data())
def test_moves_lead_where_a_new_start_would(tasks: list[Task], data: st.DataObject) -> None:
    """After any moves, what is ready, its order and its waiting time are those made anew."""
    graph = Graph(tasks)
    states = {task.id: task.state for task in tasks}
    kept = Frontier(graph, states, at=0.0)
    ids = st.sampled_from([task.id for task in tasks])
    moves = data.draw(st.lists(st.tuples(ids, states_of_tasks, st.integers(1, 900)), max_size=25))
    now = 0.0
    for id, state, wait_s in moves:
        now += wait_s
        was_ready = {c.id: c.ready_since for c in kept.ready}
        states[id] = state
        kept.move(id, state, now)
        expected = {task.id for task in tasks if is_ready(task, tasks, states)}
        anew = Frontier(graph, states, at=now, previous=kept)
        assert list(kept.ready) == list(anew.ready)
        assert {c.id for c in kept.ready} == expected
        assert [c.rank for c in kept.ready] == sorted(c.rank for c in kept.ready)
        assert all(c.ready_since == was_ready.get(c.id, now) for c in kept.ready)
        assert +kept.counts == +anew.counts
