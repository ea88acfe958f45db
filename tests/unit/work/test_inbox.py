"""`segue inbox`: what waits for a person, whatever the kind of work."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from kit.bench import CLAUDE, Bench
from segue.dialects.events import Asked
from segue.engine.acts import Verb
from segue.work import inbox

TWO = "- [ ] T-1: Build\n  - retries: 0\n- [ ] T-2: Test\n  - retries: 0\n"


def items(bench: Bench, after_s: float = 0) -> list[dict[str, Any]]:
    return inbox.items(bench.root, bench.clock.now() + timedelta(seconds=after_s))


def asked(bench: Bench) -> str:
    """The first task has asked, the second one has failed."""
    bench.settings(CLAUDE)
    bench.begin(TWO)
    first, second = bench.engine.begun
    bench.starts(first)
    bench.starts(second)
    bench.says(Asked("Which database?", ("PostgreSQL", "SQLite"), "SQLite"), job=first)
    bench.ends(143, job=first, is_ours=True)
    bench.ends(1, job=second)
    (gate,) = bench.run.ledger.gates
    return gate


def test_questions_and_failures_are_listed(bench: Bench) -> None:
    """With what is needed to settle them."""
    gate = asked(bench)
    question, failed = items(bench, 60)
    assert question["id"] == gate
    assert (question["kind"], question["task"], question["text"]) == (
        "question", "T-1", "Which database?",
    )  # fmt: skip
    assert (question["options"], question["default"]) == (["PostgreSQL", "SQLite"], "SQLite")
    assert question["age_s"] == 60.0
    assert question["work"] == {
        "id": bench.run.ledger.work, "kind": "tasklist", "path": str(bench.root / "PLAN.md"),
    }  # fmt: skip
    assert (question["acts"], question["url"]) == (["answer"], None)
    assert (failed["kind"], failed["id"], failed["acts"]) == ("failed", "T-2", ["retry", "skip"])
    assert failed["error"]


def test_what_is_answered_does_not_wait_any_more(bench: Bench) -> None:
    """Also before an owner has taken the answer in."""
    gate = asked(bench)
    bench.adds(Verb.ANSWER, gate=gate, answer="SQLite")
    bench.adds(Verb.RETRY, "T-2")
    assert items(bench) == []


def test_nothing_waits_where_nothing_was_begun(bench: Bench) -> None:
    """No memory is made by looking."""
    assert items(bench) == []
    assert not (bench.root / ".segue").exists()
