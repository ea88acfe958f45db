"""What a task runs, as one text; and the tasks that can be scheduled together."""

from __future__ import annotations

from segue.core.plan import Task
from segue.plans.pins import EMPTY, pin_of, pinned, shown, sound


def task(id: str = "T-1", *blocked_by: str, **fields: object) -> Task:
    return Task(id, "Title", blocked_by=blocked_by, **fields)  # type: ignore[arg-type]


def ids(*tasks: Task, done: tuple[str, ...] = ()) -> list[str]:
    return [task.id for task in sound(tasks, done.__contains__)]


def test_marks_and_prose_are_not_pinned() -> None:
    """Other words, another mark, another place: the same pin."""
    assert pin_of(task(line=3, body="words", previous_error="x")) == EMPTY


def test_a_pinned_task_gets_all_its_fields_back() -> None:
    """Those that were added are gone, those that were changed are as they were."""
    before = task("T-1", "T-0", verify="make test", retries=0, timeout_s=90.0)
    after = task("T-1", verify="true", agent="other", wave=2, body="new words")
    found = pinned(after, pin_of(before))
    assert pin_of(found) == pin_of(before)
    assert found.body == "new words"


def test_a_change_is_shown_as_old_and_new() -> None:
    """Only the fields that differ."""
    old, new = task(verify="false", agent="a"), task(verify="true", agent="a")
    assert shown(pin_of(old), pin_of(new)) == "- verify: false\n+ verify: true"
    assert shown(None, pin_of(task("T-1", "T-2", "T-3"))) == "+ blocked by: T-2, T-3"
    assert shown(pin_of(task(timeout_s=60.0)), None) == "- timeout: 60s"


def test_a_long_value_is_cut() -> None:
    """A question stays readable."""
    text = shown(None, pin_of(task(run="x" * 100_000)))
    assert len(text) < 5_000
    assert "96000" in text


def test_tasks_without_their_blockers_stay_out() -> None:
    """Unless what is missing was done; what depends on them stays out as well."""
    assert ids(task("A"), task("B", "gone"), task("C", "B")) == ["A"]
    (found,) = sound([task("B", "gone")], {"gone"}.__contains__)
    assert found.blocked_by == ()


def test_tasks_in_a_circle_stay_out() -> None:
    """One half of an edit was accepted: the others go on."""
    assert ids(task("A", "B"), task("B", "A"), task("C")) == ["C"]


def test_a_blocker_in_a_later_wave_keeps_a_task_out() -> None:
    """It could never begin."""
    assert ids(task("A", "B", wave=1), task("B", wave=2)) == ["B"]
