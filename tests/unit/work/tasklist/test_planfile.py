"""Two hands in one file: neither loses anything."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from segue.core.plan import TaskState
from segue.errors import Problem, UserError
from segue.plans.task_edit import TaskEdit
from segue.plans.tasklist import Document
from segue.store import files
from segue.work.tasklist.planfile import PlanFile

PLAN = b"# Plan\r\n\r\n- [ ] **T-1**: one\r\n- [ ] **T-2**: two  \r\nends without a line end"


def open_plan(path: Path, data: bytes = PLAN) -> PlanFile:
    path.write_bytes(data)
    file = PlanFile(path, "PLAN.md", lambda document: [])
    file.read_first()
    return file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "PLAN.md"


def nobody() -> None:
    raise AssertionError("nobody edited the plan")


def before_swap(monkeypatch: pytest.MonkeyPatch, *writes: Callable[[], object]) -> None:
    real = files._exchange
    waiting = list(writes)

    def exchange(one: Path, other: Path) -> bool:
        if waiting:
            waiting.pop(0)()
        return real(one, other)

    monkeypatch.setattr(files, "_exchange", exchange)


def test_a_mark_changes_its_byte_and_no_other(path: Path) -> None:
    """Line ends, trailing spaces and the missing last line end stay; the file's mode, too."""
    file = open_plan(path)
    path.chmod(0o640)
    file.mark("T-2", TaskState.IN_PROGRESS)
    assert path.read_bytes() == PLAN, "nothing is written before the write"
    assert file.write(nobody)
    assert path.read_bytes() == PLAN.replace(b"[ ] **T-2", b"[~] **T-2")
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in path.parent.iterdir()] == ["PLAN.md"]


def test_what_segue_wrote_is_no_news(path: Path) -> None:
    """After its own write, and without any write, nothing has changed; a person's edit is news."""
    file = open_plan(path)
    assert not file.read()
    file.mark("T-1", TaskState.COMPLETED)
    file.write(nobody)
    assert not file.read()
    path.write_bytes(path.read_bytes() + b"\r\n- [ ] **T-3**: three\r\n")
    assert file.read()
    assert [task.id for task in file.tasks()] == ["T-1", "T-2", "T-3"]
    assert not file.read()


def test_a_write_without_changes_touches_nothing(path: Path) -> None:
    """No change noted, no write made."""
    file = open_plan(path)
    before = path.stat()
    assert file.write(nobody)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_an_edit_since_our_look_survives_with_our_marks_on_top(path: Path) -> None:
    """A person added a task and changed a title: both are there, and so is our mark."""
    file = open_plan(path)
    file.mark("T-1", TaskState.COMPLETED)
    path.write_bytes(b"- [ ] **T-0**: new\n- [ ] **T-1**: one, but better\n")
    told: list[list[str]] = []
    assert file.write(lambda: told.append([task.id for task in file.tasks()]))
    assert told == [["T-0", "T-1"]]
    assert path.read_bytes() == b"- [ ] **T-0**: new\n- [x] **T-1**: one, but better\n"
    assert not file.read()


def test_an_edit_between_our_look_and_our_write_survives(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two saves in the very last moment, one after the other: all three hands are in the file."""
    file = open_plan(path)
    first = PLAN.replace(b"one", b"ONE")
    second = first.replace(b"two", b"TWO")
    before_swap(monkeypatch, lambda: path.write_bytes(first))
    file.mark("T-1", TaskState.FAILED)
    came_in = []

    def taken_in() -> None:
        came_in.append(file.document.render())
        if len(came_in) == 1:
            path.write_bytes(second)

    assert file.write(taken_in)
    assert came_in == [first, second]
    assert path.read_bytes() == second.replace(b"[ ] **T-1", b"[!] **T-1")


def test_an_edit_right_behind_our_write_is_seen(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A save that follows at once is not taken for our own."""
    file = open_plan(path)
    real = files.exchange_if

    def exchange_if(
        path: Path, data: bytes, expected: bytes, *, spare: Path | None
    ) -> bytes | None:
        theirs = real(path, data, expected, spare=spare)
        path.write_bytes(data + b"\n- [ ] **T-3**: three\n")
        return theirs

    monkeypatch.setattr(files, "exchange_if", exchange_if)
    file.mark("T-1", TaskState.COMPLETED)
    assert file.write(nobody)
    assert file.read()
    assert [task.id for task in file.tasks()] == ["T-1", "T-2", "T-3"]


def test_changes_that_a_person_made_needless_are_dropped(path: Path) -> None:
    """A task that is no longer in the plan gets no mark, and that is no error."""
    file = open_plan(path)
    file.mark("T-1", TaskState.COMPLETED)
    file.edit("T-1", TaskEdit(error="x"))
    file.mark("T-2", TaskState.COMPLETED)
    path.write_bytes(b"- [ ] **T-2**: two\n")
    assert file.write(lambda: None)
    assert path.read_bytes() == b"- [x] **T-2**: two\n"


def test_a_plan_that_a_person_broke_is_not_written_until_it_is_mended(path: Path) -> None:
    """Our marks wait; the broken text stands; once it is mended they are made."""
    file = open_plan(path)
    broken = b"- [ ] **T-1**: one\n  - blocked by: T-9\n"
    path.write_bytes(broken)
    file.mark("T-1", TaskState.COMPLETED)
    assert file.write(lambda: None) is False
    assert file.is_broken
    assert (file.problems[0].line, file.problems[0].file) == (2, "PLAN.md")
    assert path.read_bytes() == broken
    path.write_bytes(b"- [ ] **T-1**: one\n")
    assert file.read()
    assert not file.is_broken
    assert file.write(nobody)
    assert path.read_bytes() == b"- [x] **T-1**: one\n"


def test_what_else_a_plan_needs_is_checked(path: Path) -> None:
    """The caller's own check makes a plan broken, too, at every reading."""
    path.write_bytes(PLAN)

    def needs_three(document: Document) -> list[Problem]:
        return [] if len(document.tasks) == 3 else [Problem("few", "too few")]

    file = PlanFile(path, "PLAN.md", needs_three)
    file.read_first()
    assert [problem.code for problem in file.problems] == ["few"]
    path.write_bytes(PLAN + b"\n- [ ] **T-3**: three\n")
    assert file.read()
    assert file.problems == []


def test_an_empty_plan_is_a_plan_without_tasks(path: Path) -> None:
    """An empty file is read, and told."""
    assert open_plan(path, b"").is_broken


def test_a_plan_that_is_away_is_told_at_the_first_look(path: Path) -> None:
    """A file that cannot be read at all is an error in words."""
    with pytest.raises(UserError) as caught:
        PlanFile(path, "shown.md", lambda document: []).read_first()
    assert (caught.value.problem.code, caught.value.problem.file) == (
        "plan_unreadable",
        "shown.md",
    )


def test_a_plan_that_is_away_for_a_moment_is_waited_for(path: Path) -> None:
    """Some editors move the old file away before they write the new one: meanwhile the plan is
    broken, told once; our marks wait, and are made on the new text."""
    file = open_plan(path)
    file.mark("T-1", TaskState.COMPLETED)
    path.rename(path.with_name("PLAN.md~"))
    assert file.read()
    assert file.is_broken
    assert (file.problems[0].code, file.problems[0].file) == ("plan_not_found", "PLAN.md")
    assert not file.read(), "it is told once"
    assert file.write(nobody) is False
    assert not path.exists(), "Segue does not bring it back"
    path.write_bytes(b"- [ ] **T-1**: new\n")
    assert file.read()
    assert not file.is_broken
    assert file.write(nobody)
    assert path.read_bytes() == b"- [x] **T-1**: new\n"


def test_a_plan_that_comes_back_as_it_was_is_no_longer_broken(path: Path) -> None:
    """A checkout that takes the file away and puts the same bytes back mends it."""
    file = open_plan(path)
    path.unlink()
    file.mark("T-1", TaskState.COMPLETED)
    told: list[bool] = []
    assert file.write(lambda: told.append(file.is_broken)) is False
    assert told == [True]
    path.write_bytes(PLAN)
    assert file.read()
    assert not file.is_broken
    assert file.write(nobody)
    assert path.read_bytes() == PLAN.replace(b"[ ] **T-1", b"[x] **T-1")


def test_a_disk_that_refuses_is_told_and_the_changes_are_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk the plan stays as it is; the marks are made once there is space."""
    file = open_plan(path)
    file.mark("T-1", TaskState.COMPLETED)

    def full(*_args: object, **_more: object) -> bytes | None:
        raise OSError(errno.ENOSPC, "no space")

    with monkeypatch.context() as patch:
        patch.setattr(files, "exchange_if", full)
        with pytest.raises(UserError) as caught:
            file.write(nobody)
    assert caught.value.problem.code == "disk_full"
    assert path.read_bytes() == PLAN
    assert file.write(nobody)
    assert path.read_bytes() == PLAN.replace(b"[ ] **T-1", b"[x] **T-1")


def test_bytes_that_are_no_text_are_kept(path: Path) -> None:
    """What is not UTF-8 outside of task lines stays as it is."""
    data = b"\xff\xfe\x00 caf\xe9\n- [ ] **T-1**: one\n"
    file = open_plan(path, b"caf\xe9 " + data)
    file.mark("T-1", TaskState.COMPLETED)
    assert file.write(nobody)
    assert path.read_bytes() == b"caf\xe9 " + data.replace(b"[ ]", b"[x]")


def test_a_busy_person_and_segue_lose_nothing(path: Path) -> None:
    """While a person's thread saves new text again and again, every mark gets in and the last
    text is there."""
    file = open_plan(path)
    done = threading.Event()

    def person() -> None:
        for n in range(60):
            found = path.read_bytes()
            other = path.with_name("swap")
            other.write_bytes(b"%d\n" % n + found.partition(b"\n")[2])
            other.replace(path)
        done.set()

    thread = threading.Thread(target=person)
    thread.start()
    states = [TaskState.IN_PROGRESS, TaskState.COMPLETED]
    n = 0
    while not done.is_set() or n < 2:
        file.mark("T-1", states[n % 2])
        assert file.write(lambda: None)
        n += 1
    thread.join()
    file.read()
    file.mark("T-2", TaskState.COMPLETED)
    file.mark("T-1", TaskState.COMPLETED)
    assert file.write(lambda: None)
    lines = path.read_bytes().splitlines()
    assert lines[0] == b"59"
    assert [line[:14] for line in lines if line.startswith(b"- ")] == [
        b"- [x] **T-1**:",
        b"- [x] **T-2**:",
    ]
