"""The rows of one work as values, whatever its kind."""

from __future__ import annotations

from kit.bench import CLAUDE, Bench
from segue.dialects.events import Asked, LimitHit, Opened, Used
from segue.engine.records import Records

TWO = "- [ ] T-1: Build\n- [ ] T-2: Paint\n"


def test_only_what_is_open_is_read(bench: Bench) -> None:
    """A run that has ended, a park and a gate of another work are not among it."""
    bench.settings("jobs = 2\n" + CLAUDE)
    bench.begin(TWO)
    first, second = bench.engine.begun
    ledger = bench.run.ledger
    assert [run.id for run in ledger.open_runs()] == [first, second]
    assert [run.id for run in ledger.open_runs("T-2")] == [second]
    other = Records(ledger.store, "other")
    assert (other.open_runs(), other.waiting_parks(), other.pending_gates()) == ([], [], [])


def test_parks_and_gates_are_called_by_the_keys_of_their_tasks(bench: Bench) -> None:
    """As the plan names them; runs are found by their id."""
    bench.settings(CLAUDE)
    bench.begin("- [ ] T-1: Build\n")
    bench.starts()
    bench.says(Opened("talk-1"), Used(10, 5, 0.5), LimitHit("session_limit", wait_s=60))
    bench.ends(1)
    ledger = bench.run.ledger
    (park,) = ledger.waiting_parks()
    last = ledger.last_run("T-1")
    assert last is not None and park.run == last.id
    assert (park.task, ledger.open_runs(), ledger.run(last.id)) == ("T-1", [], last)
    assert ledger.run("nobody") is None and ledger.last_run("T-9") is None


def test_what_a_conversation_used_before_a_run(bench: Bench) -> None:
    """Without the run itself."""
    bench.settings(CLAUDE)
    bench.begin("- [ ] T-1: Build\n")
    bench.starts()
    bench.says(Opened("talk-1"), Used(10, 5, 0.5), Asked("Which?"))
    bench.ends(0)
    ledger = bench.run.ledger
    (gate,) = ledger.pending_gates()
    last = ledger.last_run("T-1")
    assert last is not None and gate.task == "T-1"
    assert ledger.usage_before(last) == Used(0, 0, None)
    last.id = "the next"
    assert ledger.usage_before(last) == Used(10, 5, 0.5)
    assert ledger.answered_gates("T-1", gate.category) == []
