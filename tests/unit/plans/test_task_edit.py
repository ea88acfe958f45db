"""What Segue wants a task's entry to show: as one edit, as text, on any text of the plan."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from segue.core.plan import MARKS, TaskState
from segue.plans.task_edit import NOTHING, TaskEdit
from segue.plans.tasklist import Document

PLAN = b"""- [ ] T-1: one
  - retries: 3
  - steps:
    - [ ] a
    - [ ] b
    - [ ] c
  <!-- previous error: long ago -->
- [ ] T-2: two
"""
WORDS = st.sampled_from(["exit code 1", "timed out", "실패", "a --> b"])
EDITS = st.builds(
    TaskEdit,
    mark=st.none() | st.sampled_from(MARKS),
    all_steps=st.none() | st.booleans(),
    steps=st.dictionaries(st.integers(1, 4), st.booleans(), max_size=3),
    error=st.none() | WORDS,
    retries=st.none() | st.tuples(st.none() | st.integers(0, 5), st.just(3)),
    language=st.sampled_from(["en", "ko"]),
)


def said(document: Document) -> object:
    """What a plan says of its tasks, wherever its comments stand."""
    return [
        (task.id, task.state, task.steps, task.previous_error, task.retries_used)
        for task in Document.parse(document.render()).tasks
    ]


@given(st.lists(EDITS, max_size=6))
def test_edits_of_a_task_are_one_edit(edits: list[TaskEdit]) -> None:
    """Made one after the other or all together: the plan says the same of its tasks."""
    one_by_one, at_once, whole = Document.parse(PLAN), Document.parse(PLAN), NOTHING
    for edit in edits:
        edit.apply(one_by_one, "T-1")
        whole = whole.then(edit)
    whole.apply(at_once, "T-1")
    assert [entry[1:] for entry in said(at_once)] == [entry[1:] for entry in said(one_by_one)]  # type: ignore[attr-defined]


@given(EDITS)
def test_an_edit_made_again_changes_nothing(edit: TaskEdit) -> None:
    """Nobody knows after a death whether it was made."""
    document = Document.parse(PLAN)
    edit.apply(document, "T-1")
    again = Document.parse(document.render())
    edit.apply(again, "T-1")
    assert again.render() == document.render()


@given(EDITS, st.sampled_from(MARKS))
def test_an_edit_is_kept_as_text(edit: TaskEdit, mark: TaskState) -> None:
    """All of it but the mark, which the tables have anyway."""
    kept = TaskEdit.from_text(edit.to_text())
    assert TaskEdit(mark).then(kept).mark is mark
    assert TaskEdit(edit.mark).then(kept) == TaskEdit(edit.mark).then(edit)


def test_a_task_that_is_gone_needs_no_edit() -> None:
    """A person removed it meanwhile."""
    document = Document.parse(PLAN)
    TaskEdit(TaskState.FAILED, error="x").apply(document, "T-9")
    assert document.render() == PLAN
