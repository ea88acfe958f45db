"""Marks follow the tables by a moment: when they are written, and what a death makes of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kit.bench import Bench
from segue import i18n
from segue.core.plan import TaskState
from segue.dialects.events import Asked, StepDone
from segue.engine.executors import Ended, Heard
from segue.work.tasklist.reset import reset_plan

SHELL = 'agent = "shell"\njobs = 2\n'
LAG_S = 0.25


def entry(n: int, more: str = "", retries: int = 1) -> str:
    return f"- [ ] T-{n}: task {n}\n  - retries: {retries}\n{more}  - run: true\n"


STEPS = "  - steps:\n    - [ ] first\n    - [ ] second\n"
PLAN = "# Plan\n\n" + "".join(
    [
        entry(1, STEPS),
        entry(2, retries=0),
        entry(3, STEPS),
        entry(4),
        entry(5, STEPS),
        entry(6, "  - blocked by: T-2\n"),
        entry(7, "  - blocked by: T-1\n"),
        entry(8),
    ]
)


@pytest.fixture
def lagging(bench: Bench) -> Bench:
    """A plan whose first marks were just written: two tasks run."""
    bench.settings(SHELL)
    bench.begin(PLAN, marks_every_s=LAG_S)
    assert (bench.mark("T-1"), bench.mark("T-2"), bench.mark("T-3")) == ("~", "~", " ")
    return bench


def end(bench: Bench, task: str, code: int = 0) -> None:
    job = next(id for id, attempt in bench.run.jobs.items() if attempt.task.id == task)
    bench.happens(Ended(job, code))


def step(bench: Bench, task: str, n: int) -> None:
    job = next(id for id, attempt in bench.run.jobs.items() if attempt.task.id == task)
    bench.happens(Heard(job, StepDone(n)))


def person(bench: Bench, old: str, new: str) -> None:
    """A person saves the plan with another text."""
    path = bench.root / "PLAN.md"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def text(bench: Bench) -> str:
    return (bench.root / "PLAN.md").read_text("utf-8")


# When they are written


def test_marks_are_written_now_and_then_while_jobs_run(lagging: Bench) -> None:
    """The first at once, then all together when their time has come."""
    end(lagging, "T-1")
    end(lagging, "T-3")
    assert lagging.state("T-1") is TaskState.COMPLETED
    assert (lagging.mark("T-1"), lagging.mark("T-3"), lagging.mark("T-4")) == ("~", " ", " ")
    assert lagging.driver.wait_s == LAG_S
    lagging.pass_s(LAG_S)
    assert (lagging.mark("T-1"), lagging.mark("T-3"), lagging.mark("T-4")) == ("x", "x", "~")
    lagging.pass_s(1)
    assert lagging.driver.wait_s is None, "nothing is left to be written"


def test_the_loop_wakes_for_marks_that_wait(lagging: Bench) -> None:
    """Also when nothing else happens."""
    step(lagging, "T-1", 1)
    lagging.pass_s(0.1)
    assert not lagging.run.ledger.has_later
    assert lagging.driver.wait_s == pytest.approx(LAG_S - 0.1)


def test_marks_are_written_when_nothing_runs_any_more(bench: Bench) -> None:
    """The last one does not wait: the command is about to end."""
    bench.settings(SHELL)
    bench.begin(entry(1), marks_every_s=LAG_S)
    bench.ends(0)
    assert bench.mark("T-1") == "x"


def test_marks_are_written_at_a_stop(lagging: Bench) -> None:
    """Whoever presses Ctrl-C looks at the plan next."""
    end(lagging, "T-1")
    lagging.stop()
    assert lagging.mark("T-1") == "x"


def test_marks_are_written_before_a_person_is_asked(lagging: Bench) -> None:
    """The question of one task shows a plan that has the ends of the others."""
    end(lagging, "T-1")
    job = next(iter(lagging.run.jobs))
    lagging.says(Asked("Which?"), job=job)
    assert lagging.mark("T-1") == "~", "its agent has yet to end"
    lagging.ends(0, job=job)
    assert lagging.mark("T-1") == "x"


def test_marks_are_written_when_a_person_saved_the_plan(lagging: Bench) -> None:
    """They look at it this moment."""
    end(lagging, "T-1")
    person(lagging, "# Plan", "# My plan")
    lagging.turn()
    assert "# My plan" in text(lagging)
    assert lagging.mark("T-1") == "x"


def test_marks_are_written_when_all_stands_still(lagging: Bench) -> None:
    """Ctrl-Z, and a look at the plan."""
    end(lagging, "T-1")
    lagging.driver.pause()
    assert lagging.mark("T-1") == "x"


def test_the_agent_of_a_next_try_finds_the_error_in_the_plan(lagging: Bench) -> None:
    """The comment is written before it begins."""
    end(lagging, "T-1", 1)
    assert "<!-- previous error: exit code 1 -->\n  <!-- retries: 1/1 -->" in text(lagging)


# Two hands


def test_a_person_decides_over_a_mark_that_is_not_written_yet(lagging: Bench) -> None:
    """A task that failed a moment ago, and that they skip: their mark stands, and no comment of
    Segue's comes after it."""
    end(lagging, "T-2", 1)
    assert lagging.state("T-2") is TaskState.FAILED
    person(lagging, "- [~] T-2", "- [-] T-2")
    lagging.turn()
    lagging.pass_s(1)
    assert lagging.state("T-2") is TaskState.SKIPPED
    assert lagging.mark("T-2") == "-"
    assert "previous error" not in text(lagging)
    assert lagging.run.ledger.tasks["T-2"].unwritten is None


def test_an_old_save_does_not_undo_a_mark_that_is_not_written_yet(lagging: Bench) -> None:
    """The editor had the plan open when the task was about to begin."""
    end(lagging, "T-1")
    person(lagging, "- [~] T-1", "- [ ] T-1")
    lagging.turn()
    assert lagging.state("T-1") is TaskState.COMPLETED
    assert lagging.mark("T-1") == "x"


# Death


def died(bench: Bench, edit: Callable[[], object] = lambda: None) -> None:
    edit()
    bench.start(marks_every_s=LAG_S)
    bench.recover()


@pytest.mark.parametrize("is_seen", [False, True], ids=["after the death", "before the death"])
def test_lagging_marks_are_made_good_with_a_persons_edit(lagging: Bench, is_seen: bool) -> None:
    """Completed with its steps, failed with its comments, skipped: all that the file did not show
    yet, and what a person wrote meanwhile."""
    step(lagging, "T-1", 1)
    end(lagging, "T-2", 1)
    end(lagging, "T-1")
    end(lagging, "T-3")
    lagging.clock.pass_s(0.1)
    assert text(lagging).count("[~]") == 2

    def edit() -> None:
        person(lagging, "# Plan", "# My plan")

    if is_seen:
        edit()
        lagging.run.file.read()  # taken in, and killed before anything was written
        died(lagging)
    else:
        died(lagging, edit)
    shown = text(lagging)
    assert shown.startswith("# My plan\n")
    assert [lagging.mark(f"T-{n}") for n in (1, 2, 3, 6)] == ["x", "!", "x", "-"]
    one, two = (shown[shown.index(f"] T-{n}") : shown.index(f"] T-{n + 1}")] for n in (1, 2))
    assert one.count("    - [x]") == 2
    assert "<!-- previous error: exit code 1 -->" in two
    assert "<!-- retries: 0/0 -->" in two


def test_a_persons_mark_wins_after_a_death_too(lagging: Bench) -> None:
    """It failed, the file never showed it, and a person wants it done anew: no word of the try."""
    end(lagging, "T-2", 1)
    died(lagging, lambda: person(lagging, "- [~] T-2", "- [x] T-2"))
    assert lagging.state("T-2") is TaskState.COMPLETED
    assert "previous error" not in text(lagging)
    lagging.start(marks_every_s=LAG_S)
    lagging.recover()
    assert "previous error" not in text(lagging)


def test_what_was_written_is_not_written_again(lagging: Bench) -> None:
    """A person who removes a comment does not find it again after the next start."""
    end(lagging, "T-2", 1)
    lagging.pass_s(1)
    lagging.pass_s(1)  # that it was written is in the tables
    assert "<!-- retries: 0/0 -->" in text(lagging)
    died(lagging, lambda: person(lagging, "  <!-- previous error: exit code 1 -->\n", ""))
    assert "previous error" not in text(lagging)


def test_a_plan_that_is_reset_does_not_remember_lagging_marks(lagging: Bench) -> None:
    """The file shows empty marks as it did before: they are a person's word now."""
    end(lagging, "T-1")
    end(lagging, "T-3")
    end(lagging, "T-2", 1)
    lagging.close()
    reset_plan(lagging.root / "PLAN.md")
    assert text(lagging) == PLAN
    lagging.start(marks_every_s=LAG_S)
    lagging.recover()
    assert lagging.state("T-3") is not TaskState.COMPLETED
    assert "[x]" not in text(lagging)
    assert "retries: 0/0" not in text(lagging)


# The rule, for any work

ACTS = st.one_of(
    st.tuples(st.just("end"), st.integers(0, 1), st.integers(0, 1)),
    st.tuples(st.just("step"), st.integers(0, 1), st.integers(1, 2)),
    st.tuples(st.just("title"), st.integers(1, 8), st.integers(0, 9)),
    st.tuples(st.just("prose"), st.integers(0, 0), st.integers(0, 9)),
    st.tuples(st.just("task"), st.integers(10, 14), st.integers(0, 0)),
)


def act(bench: Bench, what: str, which: int, value: int) -> None:
    """Something happens to a job, or a person saves another text."""
    jobs = sorted(bench.run.jobs, key=lambda id: bench.run.jobs[id].task.id)
    shown = text(bench)
    match what:
        case "end" if which < len(jobs):
            bench.engine.inbox.append(Ended(jobs[which], value))
        case "step" if which < len(jobs):
            bench.engine.inbox.append(Heard(jobs[which], StepDone(value)))
        case "title":
            person(bench, f"] T-{which}: ", f"] T-{which}: {value}")
        case "prose":
            person(bench, "# ", f"# {value}")
        case "task" if f"T-{which}:" not in shown:
            (bench.root / "PLAN.md").write_text(shown + entry(which), "utf-8")
        case _:
            pass


def outcome(
    folder: Path, lag_s: float, lives: list[list[tuple[str, int, int]]], seen: list[bool]
) -> tuple[str, object]:
    """What the plan and the tables say after some lives of Segue, each ended by a kill."""
    bench = Bench(folder)
    bench.settings(SHELL)
    (bench.root / "PLAN.md").write_text(PLAN, "utf-8")
    for acts, is_seen in zip(lives, seen, strict=True):
        bench.start(marks_every_s=lag_s)
        bench.recover()
        for what, which, value in acts:
            act(bench, what, which, value)
            if is_seen or what in ("end", "step"):
                bench.happens()
    bench.start(marks_every_s=lag_s)
    bench.recover()
    rows = {
        key: (row.state, row.retries_used, row.error) for key, row in bench.run.ledger.tasks.items()
    }
    bench.stop()
    found = text(bench)
    bench.close()
    return found, rows


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=40)
@given(st.lists(st.lists(ACTS, max_size=9), min_size=1, max_size=3), st.data())
def test_it_makes_no_difference_how_far_marks_lag_behind(
    lives: list[list[tuple[str, int, int]]], data: st.DataObject
) -> None:
    """Whatever happens, whatever a person writes beside the marks and whenever Segue is killed:
    the plan and the tables come out as if every mark had been written at once."""
    i18n.use("en")
    seen = data.draw(st.lists(st.booleans(), min_size=len(lives), max_size=len(lives)))
    with TemporaryDirectory() as at_once, TemporaryDirectory() as late:
        expected = outcome(Path(at_once), 0.0, lives, seen)
        assert outcome(Path(late), 1e6, lives, seen) == expected
