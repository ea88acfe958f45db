"""The owner of a plan takes in what people want of its tasks."""

from __future__ import annotations

import pytest

from kit.bench import CLAUDE, Bench
from segue.core.machines import ActState
from segue.core.plan import TaskState
from segue.dialects.events import Finished
from segue.engine.acts import Verb
from segue.engine.executors import ActsAdded
from segue.store.changes import Note

TWO = "- [ ] T-1: Build\n  - retries: 0\n- [ ] T-2: Ship\n  - blocked by: T-1\n"


def begun(bench: Bench) -> Bench:
    bench.settings(CLAUDE)
    bench.begin(TWO)
    bench.starts()
    return bench


def wants(bench: Bench, verb: Verb, task: str = "T-1", **data: str) -> str:
    act = bench.adds(verb, task, **data)
    bench.happens(ActsAdded())
    return act


def test_a_failed_task_is_tried_again(bench: Bench) -> None:
    """At once, and what was skipped because of it waits for it again."""
    begun(bench).ends(1)
    assert (bench.mark("T-1"), bench.mark("T-2")) == ("!", "-")
    act = wants(bench, Verb.RETRY)
    assert bench.outcome(act).state is ActState.TAKEN
    assert len(bench.engine.begun) == 2
    assert bench.state("T-2") is TaskState.PENDING


def test_what_has_not_failed_is_not_tried_again(bench: Bench) -> None:
    """Refused in words; its agent works on."""
    act = wants(begun(bench), Verb.RETRY)
    found = bench.outcome(act)
    assert (found.state, found.reason) == (ActState.REFUSED, "T-1 has not failed")
    assert bench.engine.to_end == []


def test_a_failed_task_is_passed_over(bench: Bench) -> None:
    """Its mark says so, and nothing is asked about it."""
    begun(bench).ends(1)
    wants(bench, Verb.SKIP)
    assert (bench.mark("T-1"), bench.mark("T-2")) == ("-", "-")
    assert bench.run.failed_here == []


def test_a_task_at_work_is_passed_over(bench: Bench) -> None:
    """Its agent ends, and its end does not count."""
    begun(bench)
    wants(bench, Verb.SKIP)
    assert bench.engine.to_end == [bench.job]
    bench.ends(0, is_ours=True)
    assert (bench.mark("T-1"), bench.mark("T-2")) == ("-", "-")


def test_what_is_over_is_not_passed_over(bench: Bench) -> None:
    """A completed task stays completed."""
    begun(bench).says(Finished(False))
    bench.ends(0)
    act = wants(bench, Verb.SKIP)
    assert bench.outcome(act).state is ActState.REFUSED
    assert bench.mark("T-1") == "x"


def test_the_work_is_stopped_from_elsewhere(bench: Bench) -> None:
    """As by Ctrl-C: its agents end, its place is kept."""
    begun(bench)
    act = wants(bench, Verb.STOP, task="")
    assert bench.outcome(act).state is ActState.TAKEN
    assert bench.engine.to_end == [bench.job]


def test_what_a_plan_cannot_do_is_refused(bench: Bench) -> None:
    """Not silently passed over."""
    act = wants(begun(bench), Verb.PAUSE)
    assert "not possible" in (bench.outcome(act).reason or "")


def test_what_follows_from_an_act_names_who_wanted_it(bench: Bench) -> None:
    """The skipped task, and the one that depends on it; what the agent did is the agent's."""
    begun(bench).ends(1)
    wants(bench, Verb.SKIP)
    sql = "SELECT entity_id, actor, via FROM journal WHERE to_state = ? AND entity = 'task'"
    rows = bench.run.ledger.store.all(f"{sql} ORDER BY seq", "failed")
    assert [(row["actor"], row["via"]) for row in rows] == [(f"agent {bench.job}", "process")]
    sql += " AND cause = 'skip' AND seq > (SELECT min(seq) FROM journal WHERE entity = 'act')"
    rows = bench.run.ledger.store.all(sql, "skipped")
    assert [(row["entity_id"].rpartition("/")[2], row["via"]) for row in rows] == [
        ("T-1", "terminal")
    ]
    rows = bench.run.ledger.store.all("SELECT actor, via FROM journal WHERE entity = 'act'")
    assert {row["actor"] for row in rows} == {rows[0]["actor"]} != {"segue"}


@pytest.mark.parametrize(
    ("verb", "said"),
    [("juggle", "`juggle` is not possible for this kind of work"), ("park", "`until`")],
)
def test_an_act_that_no_segue_here_would_add_is_refused(bench: Bench, verb: str, said: str) -> None:
    """A newer Segue's, or one without what it needs: it neither stops the run nor stays."""
    act = begun(bench).adds(Verb.RETRY, "T-1")
    assert bench.run.ledger.store.move(Note("act", act, {"verb": verb}), at=bench.clock.now())
    bench.happens(ActsAdded())
    found = bench.outcome(act)
    assert found.state is ActState.REFUSED
    assert said in (found.reason or "")
    assert bench.engine.to_end == []


def test_a_message_is_told_with_the_next_turn(bench: Bench) -> None:
    """Once: the turn after that one does not hear it again."""
    bench.settings(CLAUDE)
    bench.begin("- [ ] T-1: Build\n  - retries: 2\n")
    bench.starts()
    act = wants(bench, Verb.MESSAGE, text="mind the tides")
    assert bench.outcome(act).state is ActState.WAITING
    bench.ends(1)
    bench.starts()
    assert bench.prompt().count("mind the tides") == 1
    bench.run.ledger.commit()
    assert bench.outcome(act).state is ActState.TAKEN
    bench.ends(1)
    assert "mind the tides" not in bench.prompt()


def test_a_message_to_what_is_over_is_refused(bench: Bench) -> None:
    begun(bench).says(Finished(False))
    bench.ends(0)
    act = wants(bench, Verb.MESSAGE, text="too late")
    assert bench.outcome(act).state is ActState.REFUSED
