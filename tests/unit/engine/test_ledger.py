"""What the tables know of a plan: how long its tasks lasted, who said what, where it was."""

from __future__ import annotations

import pytest

from kit.bench import Bench
from segue.dialects.events import Asked, Finished, LimitHit, Opened
from segue.engine.ledger import Ledger
from segue.engine.plan.beginning import go_on_with
from segue.store.sqlite import Store
from segue.work.project import Project

CHAIN = "- [ ] T-1: a\n- [ ] T-2: b\n- [ ] T-3: c (deps: T-2)\n"


def done_in(bench: Bench, job: str, seconds: float) -> None:
    """A job lasts so long and ends well."""
    bench.starts(job)
    bench.says(Opened(f"talk-{job}"), job=job)
    bench.clock.pass_s(seconds)
    bench.says(Finished(False), job=job)
    bench.ends(0, job=job)


def again(bench: Bench, plan: str = CHAIN) -> dict[str, float]:
    """What the next start knows."""
    bench.start(plan)
    return bench.run.ledger.lasted()


def test_nothing_is_known_of_a_new_plan(bench: Bench) -> None:
    """Before anything has been done there is nothing to learn from."""
    bench.start(CHAIN)
    assert bench.run.ledger.lasted() == {}


def test_a_task_is_known_to_last_as_long_as_it_last_did(bench: Bench) -> None:
    """From the start of the run that completed it to its end; the newest one counts."""
    bench.begin("- [ ] T-1: a\n")
    done_in(bench, bench.job, 90)
    assert again(bench, "- [ ] T-1: a\n") == {"T-1": 90.0}
    bench.recover()
    done_in(bench, bench.job, 30)
    assert again(bench) == {"T-1": 30.0}


def test_what_was_learnt_stays_the_same_while_a_plan_runs(bench: Bench) -> None:
    """The order of the queue does not change under way."""
    bench.begin("- [ ] T-1: a\n")
    done_in(bench, bench.job, 90)
    assert bench.run.ledger.lasted() == {}


def test_a_failed_try_and_one_with_a_pause_teach_nothing(bench: Bench) -> None:
    """How long a limit lasted says nothing about the work."""
    bench.begin("- [ ] T-1: a\n  - retries: 1\n- [ ] T-2: b\n")
    first, second = bench.engine.begun
    for job in (first, second):
        bench.starts(job)
    bench.clock.pass_s(500)
    bench.says(Finished(True, "red"), job=first)
    bench.ends(1, job=first)
    done_in(bench, bench.job, 20)
    bench.says(Opened("talk-2"), LimitHit("rate_limit", wait_s=1000), job=second)
    bench.ends(1, job=second)
    bench.pass_s(1100)
    done_in(bench, bench.job, 7)
    assert again(bench) == {"T-1": 20.0}, "the try that succeeded, and that one alone"


def test_a_plan_learns_from_its_own_runs_only(bench: Bench) -> None:
    """Another plan of the same project has tasks of the same names."""
    bench.begin("- [ ] T-1: a\n")
    done_in(bench, bench.job, 90)
    store = Store.open(Project(bench.root).database)
    try:
        other = Ledger(store, bench.clock, bench.root / "OTHER.md", "tasklist")
        assert other.lasted() == {}
        same = Ledger(store, bench.clock, bench.root / "PLAN.md", "tasklist")
        assert same.lasted() == {"T-1": 90.0}
    finally:
        store.close()


def test_the_longest_chain_in_seconds_starts_first(bench: Bench) -> None:
    """A task that is known to be long goes before a chain of two that is known to be short."""
    bench.settings(
        (bench.root / "segue.toml").read_text().replace("agent =", "jobs = 1\nagent =", 1)
    )
    bench.begin(CHAIN)
    order: list[str] = []
    while len(order) < 3:
        order.append(bench.engine.jobs[bench.job].env["SEGUE_TASK"])
        done_in(bench, bench.job, 500 if order[-1] == "T-1" else 10)
    assert order[0] == "T-2", "in tasks: two in a row against one"
    bench.start(CHAIN)
    bench.recover()
    assert bench.engine.jobs[bench.job].env["SEGUE_TASK"] == "T-1", "in seconds: 500 against 20"


# --- answers and runs -------------------------------------------------------------------------


def test_the_newest_run_of_a_task_is_found(bench: Bench) -> None:
    """Of several, also of the same instant."""
    bench.begin("- [ ] T-1: a\n")
    assert bench.run.ledger.last_run("T-9") is None
    bench.starts()
    bench.says(Opened("talk-1"), Finished(True, "red"))
    bench.ends(1)
    found = bench.run.ledger.last_run("T-1")
    assert found is not None
    assert (found.id, found.attempt) == (bench.job, 2)


def test_a_conversation_comes_back_from_the_tables(bench: Bench) -> None:
    """By the program's own name for it, and by Segue's."""
    bench.begin("- [ ] T-1: a\n")
    bench.starts()
    bench.says(Opened("talk-1"), LimitHit("rate_limit", wait_s=5))
    job = bench.job
    bench.ends(1)
    bench.start()
    row = bench.row(job)
    assert row.resume_id == "talk-1"
    bench.recover()
    bench.pass_s(60)
    again = bench.row(bench.job)
    assert (again.resumes, again.resume_id) == (job, "talk-1")
    assert (again.conversation, again.nonce) == (row.conversation, row.nonce)


@pytest.mark.parametrize("answer", ["SQLite", "", "여기\n두 줄"])
def test_what_a_person_said_is_kept_with_the_run_that_is_told_it(bench: Bench, answer: str) -> None:
    """Also nothing at all, if that is what they said."""
    bench.begin("- [ ] T-1: a\n")
    bench.starts()
    bench.says(Opened("talk-1"), Asked("Which?"))
    asking = bench.job
    bench.ends(143, is_ours=True)
    (gate,) = bench.run.ledger.gates.values()
    go_on_with(bench.run, gate, answer)
    bench.turn()
    assert bench.row(asking).answer is None
    assert bench.row(bench.job).answer == answer
    assert bench.run.ledger.answered_gates("T-1", "permission") == [], (
        "not every question is about leave"
    )
