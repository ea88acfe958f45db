"""Answers of a person, given through their agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.bench import Bench
from kit.questions import asked
from segue.mcp import gates
from segue.mcp.tools import Refused
from segue.store.actors import Actor
from segue.work.add_act import Done, Person
from segue.work.project import Project


def person(bench: Bench) -> Person:
    return Person(Project(bench.root), Actor("a client", "mcp"), bench.clock)


def test_an_answer_waits_for_the_next_run_where_nobody_runs_the_plan(bench: Bench) -> None:
    gate = asked(bench)
    assert gates.answer(person(bench), gate, "sqlite") == (
        "Answered: 'SQLite'. PLAN.md is not running: the answer takes effect when it runs again"
        " (run_plan, segue run or segue resume)."
    )


def test_a_model_chooses_an_option_or_says_that_these_are_own_words(bench: Bench) -> None:
    """Unlike a person at a terminal, it is never guessed at."""
    gate = asked(bench)
    with pytest.raises(Refused, match="PostgreSQL"):
        gates.answer(person(bench), gate, "neither of them")
    told = gates.answer(person(bench), gate, "neither of them", own_words=True)
    assert told.startswith("Answered: 'neither of them'.")


def test_yes_is_said_in_the_gates_own_word(bench: Bench) -> None:
    gate = asked(bench, "deny", "allow")
    assert gates.approve(person(bench), gate).startswith("Answered: 'allow'.")


def test_what_has_no_yes_is_refused_with_the_hint(bench: Bench) -> None:
    gate = asked(bench, "cancel", "abort")
    with pytest.raises(Refused) as caught:
        gates.approve(person(bench), gate)
    assert str(caught.value).startswith("none of the options means yes: cancel, abort (")


def test_a_second_answer_is_refused(bench: Bench) -> None:
    gate = asked(bench)
    gates.answer(person(bench), gate, "SQLite")
    with pytest.raises(Refused, match="already answered: by a client"):
        gates.approve(person(bench), gate)


def test_an_unknown_gate_is_answered_with_those_that_are_open(bench: Bench) -> None:
    """Also where nothing was ever run."""
    with pytest.raises(Refused) as nothing:
        gates.answer(person(bench), "q_9", "yes")
    assert str(nothing.value) == "No such gate: q_9. No gate is open. status shows the gates."
    gate = asked(bench)
    with pytest.raises(Refused) as some:
        gates.answer(person(bench), "q_9", "yes")
    assert str(some.value) == f"No such gate: q_9. Open: {gate}. status shows the gates."


@pytest.mark.parametrize(
    ("is_waiting", "by_run", "told"),
    [
        (False, True, "Approved. The owner of PLAN.md has processed it."),
        (True, True, "Approved. The owner of PLAN.md processes it as soon as it can."),
    ],
)
def test_a_running_plan_is_said_to_use_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, is_waiting: bool, by_run: bool, told: str
) -> None:
    path: Path = bench.root / "PLAN.md"
    done = Done("gate", "q_1", "tasklist", path, is_waiting, by_run, None)
    monkeypatch.setattr("segue.mcp.gates.add_act.settle", lambda *given, **more: done)
    assert gates.approve(person(bench), "q_1") == told
