"""A limit parks the book; it goes on where it was, once, and no try is used up."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest

from kit.book import Book, check_shape
from kit.box import Box
from kit.waiting import until


@pytest.fixture
def book(box: Box) -> Book:
    """A book of three chapters that nobody has begun."""
    made = Book(box)
    made.toml()
    return made


def test_a_limit_of_the_writer_parks_and_the_work_goes_on(book: Book) -> None:
    """Woken once, in its conversation, not before its instant; it is no failure."""
    book.writer('if start == 2: keep("limit", until=int(time.time() + 2)); limit(2)')
    with book.watched() as seen:
        done = book.write_all()
    assert done.code == 0, done.said
    assert book.written == [1, 2, 2, 3]
    assert book.judged == [1, 2, 3]
    _one, first, again, _three = book.writes
    assert again["env"]["SEGUE_CONVERSATION"] == first["env"]["SEGUE_CONVERSATION"]
    assert again["env"]["SEGUE_RESUME"] == "1"
    assert again["at"] >= book.kept("limit")[0]["until"]
    parked = [state for state in seen.states if state["pause_reason"]]
    assert parked, "the state tells the pause"
    for state in parked:
        assert (state["can_resume"], state["current_chapter"]) == (True, 2)
        assert (state["retry_count"], state["failed_chapters"]) == (0, [])
        assert state["circuit_breaker"]["failure_count"] == 0
    assert not seen.states[-1]["pause_reason"]


def test_no_wait_ends_with_4(book: Book) -> None:
    """Parked, shown by status and resume; too early nobody is started."""
    book.writer("if chapter == 2: limit(3600)")
    done = book.write_all("--no-wait")
    assert done.code == 4, done.said
    state = book.state
    check_shape(state)
    assert (state["can_resume"], state["current_chapter"]) == (True, 2)
    assert state["pause_reason"]
    (plan,) = book.segue("status", "--json").json["plans"]
    assert (plan["kind"], plan["state"]) == ("book", "parked")
    (park,) = plan["parks"]
    assert park["kind"] == "session_limit"
    assert 3500 < datetime.fromisoformat(park["wakes_at"]).timestamp() - time.time() < 3700
    (found,) = book.segue("resume", "--json").json["found"]
    assert (found["kind"], found["resumable"]) == ("book", True)
    assert book.write_all("--no-wait").code == 4
    assert book.written == [1, 2], "nobody was started too early"


def test_no_wait_goes_on_after_the_instant(book: Book) -> None:
    """The next run, later, goes on at once, in the same conversation."""
    book.writer("if start == 1: limit(1)")
    assert book.write_all("--no-wait").code == 4
    began = time.time()
    until(lambda: time.time() > began + 1.5, "the instant")
    done = book.write_all("--no-wait")
    assert done.code == 0, done.said
    assert book.written == [1, 1, 2, 3]
    first, second = book.writes[:2]
    assert second["env"]["SEGUE_CONVERSATION"] == first["env"]["SEGUE_CONVERSATION"]


@pytest.mark.parametrize("death", ["kill", "power_cut"])
@pytest.mark.parametrize("command", [("write-all",), ("resume", "--continue")])
def test_a_parked_book_survives_kill_9(book: Book, death: str, command: tuple[str, ...]) -> None:
    """Killed while it waits: the next run waits for the instant and wakes it once."""
    book.writer('if start == 2: keep("limit", until=int(time.time() + 3)); limit(3)')
    going = book.start()
    book.until_parked()
    if death == "kill":
        going.kill()
    else:
        book.box.power_cut()
    check_shape(book.state)
    done = book.segue(*command)
    assert done.code == 0, done.said
    assert book.written == [1, 2, 2, 3]
    assert book.writes[2]["at"] >= book.kept("limit")[0]["until"]
    assert (
        book.writes[2]["env"]["SEGUE_CONVERSATION"] == book.writes[1]["env"]["SEGUE_CONVERSATION"]
    )
    assert book.box.left_behind() == {}


@pytest.mark.parametrize("death", ["kill", "power_cut"])
def test_death_after_the_wake_does_not_hold_the_account(book: Book, death: str) -> None:
    """Woken, then killed; what the writer did meanwhile counts, and the next chapters are written."""
    book.writer('if start == 1: limit(1)\nif start == 2: hold("go")')
    going = book.start()
    until(lambda: book.written == [1, 1], "the wake")
    if death == "kill":
        going.kill()
        book.box.release("go")
        until(lambda: not book.box.agents(), "its end")
    else:
        book.box.power_cut()
    done = book.write_all()
    assert done.code == 0, done.said
    assert book.written == ([1, 1, 2, 3] if death == "kill" else [1, 1, 1, 2, 3])


def test_a_limit_of_the_judging_agent_parks(book: Book) -> None:
    """The chapter is not written again for it; the judge is asked again after the instant."""
    book.toml(2, judge='judge = "critic"\n')
    book.judge('if start == 1: keep("limit", until=int(time.time() + 2)); limit(2)')
    done = book.write_all()
    assert done.code == 0, done.said
    assert book.written == [1, 2]
    assert book.judged == [1, 1, 2]
    assert book.state["quality_scores"] == {"1": 90, "2": 90}
    assert book.state["circuit_breaker"]["failure_count"] == 0


def test_another_book_on_the_account_waits_too(box: Box) -> None:
    """A limit parks the account: a second book starts nobody on it before the instant."""
    one, two = Book(box, "one"), Book(box, "two")
    one.toml(1)
    two.toml(1)
    one.writer('if start == 1: keep("limit", until=int(time.time() + 4)); limit(4)')
    assert one.write_all("--no-wait").code == 4
    done = two.write_all()
    assert done.code == 0, done.said
    assert one.writes[1]["at"] >= one.kept("limit")[0]["until"], "started too early"
    assert two.chapter(1).exists() and not one.state["completed_at"]


def test_a_limit_of_the_judge_with_no_wait(book: Book) -> None:
    """Exit 4; later the judge goes on, and the text it judges is the one that was written."""
    book.toml(1, judge='judge = "critic"\n')
    book.judge("if start == 1: limit(1)")
    assert book.write_all("--no-wait").code == 4
    text = book.chapter(1).read_bytes()
    assert book.state["completed_chapters"] == []
    began = time.time()
    until(lambda: time.time() > began + 1.5, "the instant")
    done = book.write_all("--no-wait")
    assert done.code == 0, done.said
    assert book.written == [1]
    assert book.chapter(1).read_bytes() == text


def test_killed_while_the_judge_is_parked(book: Book) -> None:
    """The chapter that waits for its judgement is not written again."""
    book.toml(2, judge='judge = "critic"\n')
    book.judge("if start == 1: limit(2)")
    going = book.start()
    book.until_parked()
    going.kill()
    done = book.segue("resume", "--continue")
    assert done.code == 0, done.said
    assert book.written == [1, 2]
    assert book.judged == [1, 1, 2]


def test_limits_use_up_no_iteration(book: Book) -> None:
    """Two limits in a chapter: the bound on iterations counts writes, not wakes."""
    book.toml(2, "max_iterations = 2\n")
    book.writer("if start in (1, 2): limit(1)")
    done = book.write_all()
    assert done.code == 0, done.said
    assert book.written == [1, 1, 1, 2]
    assert book.state["completed_chapters"] == [1, 2]


def test_a_limit_in_a_revision_keeps_the_reasons(book: Book) -> None:
    """After the wake the revision is judged as the second try, not as a new chapter."""
    book.toml(1)
    book.scores({1: [(50, "flat"), 90]})
    book.writer("if start == 2: limit(1)")
    done = book.write_all()
    assert done.code == 0, done.said
    assert book.written == [1, 1, 1]
    assert book.judged == [1, 1]
    assert "flat" in book.prompts(1)[1]


def test_an_account_without_money_is_put_to_a_person(book: Book) -> None:
    """Billing does not wait: exit 3; the next run tries again."""
    book.toml(1)
    book.writer("if start == 1: print('Credit balance is too low'); sys.exit(1)")
    done = book.write_all()
    assert done.code == 3, done.said
    assert book.state["can_resume"] is True
    assert book.state["failed_chapters"] == []
    done = book.segue("resume", "--continue")
    assert done.code == 0, done.said


def test_chapters_about_limits_are_no_limits(book: Book) -> None:
    """A writer that ends well is done, whatever its book is about."""
    book.toml(1)
    book.writer("print('Claude AI usage limit reached|4102444800')")
    done = book.write_all("--no-wait")
    assert done.code == 0, done.said


def test_json_tells_of_the_park(book: Book) -> None:
    """With --json: parked with kind and wakes_at, resumed later."""
    book.toml(1)
    book.writer("if start == 1: limit(1)")
    done = book.write_all("--json")
    assert done.code == 0
    (parked,) = done.of("task_parked")
    assert parked["kind"] == "session_limit"
    assert datetime.fromisoformat(parked["wakes_at"]).tzinfo is not None
    assert len(done.of("task_resumed")) == 1
    assert json.dumps(done.finished["parked"]) == "[]"
    assert datetime.fromisoformat(parked["at"]) <= datetime.now(UTC)
