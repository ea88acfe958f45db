"""Changing marks and Segue's comments in a task list."""

from __future__ import annotations

import pytest

from segue.core.plan import TaskState
from segue.plans.tasklist import Document

PLAN = b"""# Plan
- [ ] **T-1**: one
  - verify: make

  Words.

- [X] T-2: two
  - [ ] a
  - [x] b
"""


def test_a_mark_is_one_byte() -> None:
    """Setting a mark changes that byte and no other."""
    document = Document.parse(PLAN)
    document.set_mark("T-1", TaskState.FAILED)
    assert document.render() == PLAN.replace(b"- [ ] **T-1", b"- [!] **T-1")
    assert document.task("T-1").state is TaskState.FAILED


@pytest.mark.parametrize(
    ("state", "mark"),
    [
        (TaskState.PENDING, b"[ ]"),
        (TaskState.IN_PROGRESS, b"[~]"),
        (TaskState.COMPLETED, b"[x]"),
        (TaskState.FAILED, b"[!]"),
        (TaskState.SKIPPED, b"[-]"),
    ],
)
def test_each_state_has_its_mark(state: TaskState, mark: bytes) -> None:
    """The five states are written with the five marks."""
    document = Document.parse(b"\xef\xbb\xbf* [~] T-1: one\n")
    document.set_mark("T-1", state)
    assert document.render() == b"\xef\xbb\xbf* " + mark + b" T-1: one\n"


def test_a_capital_x_stays() -> None:
    """Completing what is completed as [X] leaves the [X]."""
    document = Document.parse(PLAN)
    document.set_mark("T-2", TaskState.COMPLETED)
    assert document.render() == PLAN


def test_a_task_line_that_is_not_utf8_can_be_marked() -> None:
    """Bytes that are no text stay as they are around a changed mark."""
    document = Document.parse(b"- [ ] T-1: caf\xe9\n")
    document.set_mark("T-1", TaskState.COMPLETED)
    assert document.render() == b"- [x] T-1: caf\xe9\n"


def test_steps_are_counted_from_one() -> None:
    """A step is ticked by its number, in the file, the task and its body."""
    document = Document.parse(PLAN)
    assert document.set_step("T-2", 1, True)
    assert document.render() == PLAN.replace(b"[ ] a", b"[x] a")
    task = document.task("T-2")
    assert [step.state for step in task.steps] == [TaskState.COMPLETED] * 2
    assert task.body == "- [x] a\n- [x] b"


@pytest.mark.parametrize("n", [-1, 0, 3])
def test_an_unknown_step_is_told_and_nothing_changes(n: int) -> None:
    """A step that is not there is answered with False."""
    document = Document.parse(PLAN)
    assert not document.set_step("T-2", n, True)
    assert document.render() == PLAN


def test_all_steps_are_reset() -> None:
    """All steps of a task are cleared at once; other tasks keep theirs."""
    document = Document.parse(PLAN)
    document.set_all_steps("T-2", False)
    assert document.render() == PLAN.replace(b"[x] b", b"[ ] b")


def test_an_unknown_task_is_loud() -> None:
    """Asking for an id that is not in the plan is an error of the caller."""
    document = Document.parse(PLAN)
    with pytest.raises(KeyError):
        document.task("T-9")
    with pytest.raises(KeyError):
        document.set_mark("T-9", TaskState.COMPLETED)


def test_comments_stand_at_the_end_of_the_block() -> None:
    """Both comments come behind the last words of the task, at the depth of its text."""
    document = Document.parse(PLAN)
    document.set_error("T-1", "npm test failed", "en")
    document.set_retries("T-1", 1, 2, "en")
    assert document.render() == PLAN.replace(
        b"  Words.\n",
        b"  Words.\n  <!-- previous error: npm test failed -->\n  <!-- retries: 1/2 -->\n",
    )
    assert document.task("T-1").previous_error == "npm test failed"
    assert document.task("T-1").retries_used == 1


def test_lines_below_a_comment_move_down() -> None:
    """The tasks and steps behind a new comment know their new lines."""
    document = Document.parse(PLAN)
    document.set_error("T-1", "x", "en")
    assert [task.line for task in document.tasks] == [2, 8]
    assert [step.line for step in document.task("T-2").steps] == [9, 10]
    document.set_error("T-1", None, "en")
    assert document.task("T-2").line == 7


def test_korean_comments_are_written_to_the_letter() -> None:
    """In Korean the comments use the words of the Korean form, with the remark past the limit."""
    document = Document.parse("- [!] T-1: API 구현\n".encode())
    document.set_error("T-1", "npm test 실패", "ko")
    document.set_retries("T-1", 3, 2, "ko")
    assert document.render().decode() == (
        "- [!] T-1: API 구현\n  <!-- 이전 에러: npm test 실패 -->\n"
        "  <!-- 재시도: 3/2 (한도 초과) -->\n"
    )
    assert document.task("T-1").is_past_limit


def test_over_the_limit_is_said_in_english_too() -> None:
    """Past the limit the comment says so; at the limit it does not."""
    document = Document.parse(b"- [!] T-1: one\n")
    document.set_retries("T-1", 2, 2, "en")
    assert b"<!-- retries: 2/2 -->" in document.render()
    document.set_retries("T-1", 3, 2, "en")
    assert b"<!-- retries: 3/2 (over the limit) -->" in document.render()


def test_a_comment_is_replaced_where_it_stands() -> None:
    """An old comment, in either language, gives its line to the new one."""
    document = Document.parse("- [!] T-1: one\n      <!-- 이전 에러: 옛 -->\r\n  words\n".encode())
    document.set_error("T-1", "new", "en")
    assert document.render() == (b"- [!] T-1: one\n      <!-- previous error: new -->\r\n  words\n")


def test_of_several_comments_one_remains() -> None:
    """Several errors under a task become one, or none."""
    data = b"- [!] T-1: one\n  <!-- previous error: a -->\n  <!-- previous error: b -->\n  w\n"
    document = Document.parse(data)
    assert document.task("T-1").previous_error == "b"
    document.set_error("T-1", "c", "en")
    assert document.render() == b"- [!] T-1: one\n  <!-- previous error: c -->\n  w\n"
    document.set_error("T-1", None, "en")
    assert document.render() == b"- [!] T-1: one\n  w\n"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_the_line_end_of_the_task_is_used(end: bytes) -> None:
    """A new comment ends like the line of its task."""
    document = Document.parse(b"- [ ] T-1: one" + end + b"- [ ] T-2: two" + end)
    document.set_error("T-1", "x", "en")
    assert document.render() == (
        b"- [ ] T-1: one" + end + b"  <!-- previous error: x -->" + end + b"- [ ] T-2: two" + end
    )


def test_a_last_line_without_an_end_stays_without() -> None:
    """At the end of a file without a newline the comment becomes the line without one."""
    document = Document.parse(b"- [ ] T-1: one\r\n  words")
    document.set_error("T-1", "x", "en")
    assert document.render() == b"- [ ] T-1: one\r\n  words\r\n  <!-- previous error: x -->"
    again = Document.parse(document.render())
    again.set_error("T-1", None, "en")
    assert again.render() == b"- [ ] T-1: one\r\n  words"


def test_line_ends_never_melt_together() -> None:
    """Between a lone carriage return and a newline a comment is emptied, not removed."""
    data = b"- [ ] T-1: one\r  <!-- previous error: x -->\n\ntext\n"
    document = Document.parse(data)
    document.set_error("T-1", None, "en")
    assert document.task("T-1").previous_error is None
    assert Document.parse(document.render()).tasks == document.tasks
    assert len(document.render().splitlines()) == 4


@pytest.mark.parametrize("opening", [b"```sh", b"~~~", b"<!-- open"])
def test_a_block_that_is_not_closed_cannot_swallow_the_comment(opening: bytes) -> None:
    """Where the task ends inside a fence or comment, Segue's comment goes below its first line."""
    data = b"- [ ] T-1: one\n  " + opening + b"\n  more\n- [ ] T-2: two\n"
    document = Document.parse(data)
    document.set_error("T-1", "x", "en")
    assert document.render().startswith(b"- [ ] T-1: one\n  <!-- previous error: x -->\n  ")
    assert Document.parse(document.render()).tasks == document.tasks


def test_comments_of_the_user_and_in_fences_are_not_segues() -> None:
    """A comment in a fence, or one that says something else, is neither read nor changed."""
    data = (
        b"- [ ] T-1: one\n  <!-- previously: x -->\n  ```\n  <!-- previous error: y -->\n  ```\n"
        b"<!-- previous error: z -->\n"
    )
    document = Document.parse(data)
    assert document.task("T-1").previous_error is None
    document.set_error("T-1", None, "en")
    assert document.render() == data


def test_many_marks_in_a_long_plan_are_cheap() -> None:
    """A mark is set without reading the plan again: only the tuple of tasks is made anew."""
    document = Document.parse(b"".join(b"- [ ] T-%d: x\n" % n for n in range(1000)))
    first = document.tasks
    document.set_mark("T-500", TaskState.COMPLETED)
    second = document.tasks
    assert sum(a is not b for a, b in zip(first, second, strict=True)) == 1
    assert document.tasks is second


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ("- [ ] T-1: one\n\n", "words\n    - [ ] T-2: code, as the words closed the list\n"),
        ("- [ ] T-1: one\n  - sub\n    ```\n    x\n", "    - [ ] still in the fence\n"),
        ("- [ ] T-1: one\n  - blocked by:\n", "    - T-2\n- [ ] T-2: two\n"),
        ("- [ ] T-1: one\n  words\n", "lazy words\n  - [ ] a step\n"),
    ],
)
def test_a_comment_is_as_if_it_were_not_there(above: str, below: str) -> None:
    """Taking Segue's comment out of any place changes nothing else in the plan."""
    plain = Document.parse((above + below).encode())
    document = Document.parse((above + "  <!-- previous error: x -->\n" + below).encode())
    assert document.task("T-1").previous_error == "x"
    document.set_error("T-1", None, "en")
    assert document.render() == plain.render()
    assert document.tasks == plain.tasks


def test_a_new_comment_keeps_the_blank_line_behind_it() -> None:
    """A lone carriage return is not written where a newline follows: the two would be one end."""
    document = Document.parse(b"- [ ] T-1: one\r  words\n\nmore\n    - [ ] code\n")
    document.set_error("T-1", "x", "en")
    assert document.render() == (
        b"- [ ] T-1: one\r  words\n  <!-- previous error: x -->\n\nmore\n    - [ ] code\n"
    )
    assert Document.parse(document.render()).tasks == document.tasks


def test_a_new_comment_comes_behind_the_other() -> None:
    """With one of the two comments there already, the second stands below it."""
    document = Document.parse(b"- [ ] T-1: one\n  words\n\n  <!-- retries: 1/2 -->\n")
    document.set_error("T-1", "x", "en")
    assert document.render().endswith(b"1/2 -->\n  <!-- previous error: x -->\n")
