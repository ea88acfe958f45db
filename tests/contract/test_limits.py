"""A limit parks the run and its account; figures win over vague words; later work clears it."""

from __future__ import annotations

from contract.scenes import HOUR_S, VAGUE, fail, hold, limit, limited_in_passing, turn, work
from contract.subjects import Subject
from contract.subjects.records import DONE, FAILED, PARKED, RUNNING, is_alive


def test_a_limit_parks_and_the_work_resumes_in_its_conversation(subject: Subject) -> None:
    """Parked with kind, account and time; at that time, not before, sent the resume text once."""
    subject.plays(turn(limit(3)), turn(work(1)))
    subject.begin()
    park = subject.park_of(0)
    assert park.kind == "session_limit"
    assert park.account
    assert park.wakes_at is not None
    second = subject.started(0, 2)
    subject.wait(0, DONE)
    assert second.at >= park.wakes_at - 0.05, "not before its time"
    assert second.is_resume
    assert second.prompt.strip() == "continue"
    assert second.conversation == subject.starts(0)[0].conversation
    assert len(subject.starts(0)) == 2, "once"
    states = subject.history(0)
    assert states.index(PARKED) < states.index(DONE)
    assert FAILED not in states, "a limit is no failure"


def test_nothing_else_of_the_account_starts(subject: Subject) -> None:
    """One limit holds the account: a task that gets its turn later waits for the reset."""
    subject.plays(turn(limit(5)))
    subject.plays(task=1)
    subject.begin(2, is_side_by_side=False)
    park = subject.park_of(0)
    subject.wait(0, DONE)
    subject.wait(1, DONE)
    assert park.wakes_at is not None
    assert subject.starts(1)[0].at >= park.wakes_at - 0.05


def test_runs_under_way_are_left_alone(subject: Subject) -> None:
    """Another run of the account that works when it is parked works on."""
    subject.plays(turn(hold("both"), limit(HOUR_S)), task=0)
    subject.plays(turn(hold("both"), work(1), hold("end")), task=1)
    subject.begin(2)
    for task in range(2):
        subject.wait(task, RUNNING)
    subject.release("both")
    subject.park_of(0)
    assert subject.state(1) == RUNNING
    if not subject.is_pane:
        assert is_alive(subject.started(1).pid)
    subject.release("end")
    subject.wait(1, DONE)
    assert len(subject.starts(1)) == 1


def test_figures_win_over_vaguer_words(structured: Subject) -> None:
    """A reset time stands, whatever vaguer words of another family come after it."""
    structured.plays(turn(limit(HOUR_S, VAGUE)))
    structured.begin()
    park = structured.park_of(0)
    assert park.kind == "session_limit"
    assert park.wait_s > HOUR_S / 2


def test_later_work_clears_a_limit(structured: Subject) -> None:
    """Limited, then work of the agent, then an ordinary error: that is a failure, no park."""
    structured.plays(turn(limited_in_passing(HOUR_S), work(1), fail()))
    structured.begin()
    ends = (FAILED, DONE, PARKED)
    structured.until(
        lambda: structured.state(0) in ends or len(structured.starts(0)) > 1, "what follows"
    )
    assert PARKED not in structured.history(0), structured.transcript()


def test_work_after_a_limit_ends_well(structured: Subject) -> None:
    """Limited, then work to a good end: done, and nothing waits."""
    structured.plays(turn(limited_in_passing(HOUR_S), work(1)))
    structured.begin()
    structured.wait(0, DONE, unless=[PARKED])
    assert structured.parks() == []
