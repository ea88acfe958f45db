"""Adding an act: which work a name means, what is done at once, what waits."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kit.bench import CLAUDE, Bench
from segue.core.machines import ActState
from segue.dialects.events import Asked, Finished, LimitHit
from segue.engine.acts import Verb
from segue.errors import UserError
from segue.store import works
from segue.store.actors import Actor
from segue.store.changes import Add
from segue.store.rows import PANES, SERVER
from segue.store.sqlite import Store
from segue.work import add_act
from segue.work.add_act import Person
from segue.work.project import Project

ONE = "- [ ] T-1: Build\n  - retries: 0\n"


def person(bench: Bench) -> Person:
    return Person(Project(bench.root), Actor("kim", "terminal"), bench.clock)


def begun(bench: Bench) -> Bench:
    bench.settings(CLAUDE)
    bench.begin(ONE)
    bench.starts()
    return bench


def asked(bench: Bench) -> str:
    begun(bench).says(Asked("Which database?", ("PostgreSQL", "SQLite")))
    bench.ends(143, is_ours=True)
    (gate,) = bench.run.ledger.gates
    return gate


def states(bench: Bench) -> list[str]:
    store = Store.open(Project(bench.root).database)
    found = [row["state"] for row in store.all("SELECT state FROM acts ORDER BY rowid")]
    store.close()
    return found


def test_an_answer_waits_where_nobody_runs_the_plan(bench: Bench) -> None:
    """And the second one says who was first."""
    gate = asked(bench)
    done = add_act.settle(person(bench), gate, Verb.ANSWER, "sqlite")
    assert (done.answer, done.is_waiting, done.by_run) == ("SQLite", True, False)
    with pytest.raises(UserError, match="already answered: by kim"):
        add_act.settle(person(bench), gate, Verb.APPROVE)
    assert states(bench) == [ActState.WAITING]


def test_a_park_is_moved_at_once_where_nobody_runs_the_plan(bench: Bench) -> None:
    """Under its lock, with the act for the journal; the next start finds it."""
    begun(bench).says(LimitHit("session_limit", wait_s=3600.0))
    bench.ends(1)
    until = bench.clock.now() + timedelta(hours=9)
    done = add_act.park_or_wake(
        person(bench), Verb.PARK, "T-1", until=until, known_accounts=frozenset()
    )
    assert (done.what, done.is_waiting) == ("task", False)
    assert states(bench) == [ActState.TAKEN]
    bench.start()
    (park,) = bench.run.ledger.parks.values()
    assert park.wakes_at == until


def test_what_is_not_parked_is_not_woken(bench: Bench) -> None:
    """Told in words, and no act is left."""
    asked(bench)
    with pytest.raises(UserError, match="T-1 is not parked"):
        add_act.park_or_wake(
            person(bench), Verb.WAKE, "T-1", until=None, known_accounts=frozenset()
        )
    assert states(bench) == []


def test_a_name_that_nobody_has_is_told(bench: Bench) -> None:
    """Whether anything was ever run here or not."""
    for _before_and_after in range(2):
        with pytest.raises(UserError, match="T-9"):
            add_act.about_task(person(bench), Verb.RETRY, "T-9")
        with pytest.raises(UserError, match="T-9"):
            add_act.park_or_wake(
                person(bench), Verb.WAKE, "T-9", until=None, known_accounts=frozenset()
            )
        begun(bench)


@pytest.mark.parametrize("verb", [Verb.RETRY, Verb.SKIP])
def test_what_is_done_is_neither_retried_nor_skipped(bench: Bench, verb: Verb) -> None:
    """Told at once, though nobody runs the plan."""
    begun(bench).says(Finished(False))
    bench.ends(0)
    with pytest.raises(UserError, match="T-1"):
        add_act.about_task(person(bench), verb, "T-1")
    assert states(bench) == []


def test_segues_own_questions_take_options_only(bench: Bench) -> None:
    """Own words would be taken for a decision that nobody made."""
    asked(bench)
    gate = bench.run.ledger.add_question(None, "go on?", "budget", ("yes", "no"), "no")
    bench.run.ledger.commit()
    with pytest.raises(UserError, match="not one of the options"):
        add_act.settle(person(bench), gate.id, Verb.ANSWER, "perhaps later", own_words=True)


@pytest.mark.parametrize(
    ("work", "verb", "said"),
    [
        (SERVER, Verb.SKIP, "cancelled, not skipped"),
        (PANES, Verb.SKIP, "starts and ends the programs in panes"),
        (PANES, Verb.RETRY, "starts and ends the programs in panes"),
    ],
)
def test_what_a_kind_of_work_does_not_take_is_said_at_once(
    bench: Bench, work: str, verb: Verb, said: str
) -> None:
    """Nobody runs it: the act would wait for ever."""
    project = Project(bench.root)
    project.prepare()
    store = Store.open(project.database)
    works.enrol(store, work, project.memory, bench.clock.now())
    row = {"work": work, "key": "x1", "title": "Build"}
    pane = [Add("pane", "p", "error", {"task": "x1", "pane": "x1"})] if work == PANES else []
    assert store.move(Add("task", "x1", "failed", row), *pane, at=bench.clock.now())
    store.close()
    with pytest.raises(UserError, match=said):
        add_act.about_task(person(bench), verb, "x1")
    assert states(bench) == []
