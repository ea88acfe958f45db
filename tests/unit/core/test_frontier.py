"""Which tasks are ready, move by move."""

from __future__ import annotations

from segue.core.frontier import Frontier
from segue.core.graph import Graph
from segue.core.plan import Priority, Task, TaskState

PENDING, RUNNING = TaskState.PENDING, TaskState.IN_PROGRESS
COMPLETED, FAILED, SKIPPED = TaskState.COMPLETED, TaskState.FAILED, TaskState.SKIPPED


def task(id: str, *blocked_by: str, wave: int | None = None, **more: object) -> Task:
    return Task(id, id, wave=wave, blocked_by=blocked_by, **more)  # type: ignore[arg-type]


def frontier(*tasks: Task, at: float = 0.0, previous: Frontier | None = None) -> Frontier:
    states = {t.id: t.state for t in tasks}
    return Frontier(Graph(tasks), states, at=at, previous=previous)


def ids(frontier: Frontier) -> list[str]:
    return [candidate.id for candidate in frontier.ready]


def test_a_task_is_ready_when_its_last_blocker_completes() -> None:
    """Not before, and not by a blocker that failed."""
    front = frontier(task("A"), task("B"), task("C", "A", "B"))
    assert ids(front) == ["A", "B"]
    front.move("A", COMPLETED, 1)
    front.move("B", FAILED, 2)
    assert ids(front) == []
    front.move("B", COMPLETED, 3)
    assert ids(front) == ["C"]
    assert front.ready[0].ready_since == 3


def test_a_task_that_starts_leaves_and_comes_back_when_it_is_reset() -> None:
    """Ready are pending tasks alone."""
    front = frontier(task("A"), task("B"))
    front.move("A", RUNNING, 1)
    assert ids(front) == ["B"]
    front.move("A", PENDING, 2)
    assert ids(front) == ["A", "B"]


def test_who_waits_longer_goes_first() -> None:
    """A minute of waiting counts more than the place in the file; ten raise the priority."""
    low = Priority.LOW
    front = frontier(task("A"), task("B"), task("C", priority=low))
    for id in ("A", "B"):
        front.move(id, RUNNING, 1)
    front.move("B", PENDING, 200)
    front.move("A", PENDING, 300)
    assert ids(front) == ["B", "A", "C"]
    front.move("A", RUNNING, 300)
    front.move("A", PENDING, 700)
    assert ids(front) == ["B", "C", "A"]


def test_among_equals_the_longest_chain_of_dependants_goes_first() -> None:
    """What the end of the plan waits for starts first; then the order in the file."""
    front = frontier(task("A"), task("B"), task("C", "B"), task("D"))
    assert ids(front) == ["B", "A", "D"]


def test_a_wave_waits_until_the_one_before_is_finished() -> None:
    """Completed, failed and skipped are all finished; running is not."""
    front = frontier(*(task(id, wave=w) for id, w in [("A", 1), ("B", 1), ("C", 1), ("D", 2)]))
    front.move("A", COMPLETED, 1)
    front.move("B", FAILED, 1)
    front.move("C", RUNNING, 1)
    assert ids(front) == []
    front.move("C", SKIPPED, 2)
    assert ids(front) == ["D"]


def test_a_wave_closes_again_when_an_earlier_one_reopens() -> None:
    """A retried task of an earlier wave holds the later ones back."""
    front = frontier(task("A", wave=1, state=FAILED), task("B", wave=2), task("C", wave=3))
    assert ids(front) == ["B"]
    front.move("B", COMPLETED, 1)
    assert ids(front) == ["C"]
    front.move("A", PENDING, 2)
    assert ids(front) == ["A"]
    front.move("A", COMPLETED, 3)
    assert ids(front) == ["C"]


def test_priority_comes_first_then_the_order_of_the_file() -> None:
    """Of tasks that became ready together, the more urgent is first."""
    front = frontier(
        task("A"),
        task("B", priority=Priority.LOW),
        task("C", priority=Priority.CRITICAL),
        task("D"),
    )
    assert ids(front) == ["C", "A", "D", "B"]


def test_waiting_ten_minutes_raises_a_task_by_a_level() -> None:
    """A low task that has waited long enough comes before a normal one that is new."""
    low = task("L", priority=Priority.LOW)
    front = frontier(low, task("A"), task("N", "A"))
    front.move("A", COMPLETED, 599)
    assert ids(front) == ["N", "L"]
    front.move("A", PENDING, 600)
    front.move("A", COMPLETED, 601)
    assert ids(front) == ["L", "N"]


def test_an_edited_plan_keeps_places_in_the_queue() -> None:
    """Who was ready before the edit goes on waiting from then."""
    before = frontier(task("A"), task("B"), at=5)
    after = frontier(task("N"), task("B"), at=100, previous=before)
    assert [(c.id, c.ready_since) for c in after.ready] == [("B", 5), ("N", 100)]


def test_states_are_counted() -> None:
    """How many tasks are in which state is known without looking at them all."""
    front = frontier(task("A"), task("B"))
    front.move("A", COMPLETED, 1)
    assert (front.counts[COMPLETED], front.counts[PENDING]) == (1, 1)
    assert front.states["A"] is COMPLETED


def test_the_account_is_told_from_the_task() -> None:
    """Without a rule of its own, an agent is its account."""
    tasks = [task("A", agent="codex"), task("B")]
    states = {t.id: t.state for t in tasks}
    assert [c.account for c in Frontier(Graph(tasks), states, at=0).ready] == ["codex", ""]
    named = Frontier(Graph(tasks), states, at=0, account_of=lambda t: f"team-{t.id}")
    assert [c.account for c in named.ready] == ["team-A", "team-B"]
