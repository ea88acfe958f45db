"""How a feature stands, for those who only look: why it stopped, what is next, what is redone."""

from __future__ import annotations

from typing import Any

import pytest

from kit.feature_bench import FeatureBench
from segue.dialects.events import LimitHit
from segue.engine.executors import Ended, Heard, Started
from segue.engine.locks import lock_path
from segue.engine.standing import Standing
from segue.store.lock import Lock
from segue.work.feature.standing import facts
from segue.work.overview import look
from segue.work.project import Project

CHAIN = """\
- {id: cp-1, description: The store, validate: check store, files: [store.py]}
- {id: cp-2, description: The page, validate: check page, files: [page.py], depends: [cp-1]}
"""


def stands(bench: FeatureBench) -> tuple[Standing, dict[str, Any]]:
    """As `segue status` and `segue resume` see it."""
    bench.run.ledger.commit()
    (one,) = [found for found in look(bench.root) if found.kind == "develop"]
    return one, facts(one)


def test_an_interrupted_design_is_made_again(bench: FeatureBench) -> None:
    """From its beginning, and that is said."""
    bench.develop()
    one, told = stands(bench)
    assert (one.state, told["resumable"]) == ("interrupted", True)
    assert told["next"] == "phase DESIGN from the beginning"
    assert told["redone"] == "phase DESIGN"


def test_a_design_that_waits_for_a_person_is_not_made_again(bench: FeatureBench) -> None:
    """It is asked about again, and nothing is redone."""
    bench.develop(has_gates=True)
    bench.designs()
    one, told = stands(bench)
    assert one.state == "waiting"
    assert told["why"] == (
        "waiting for an answer: the design is ready: docs/design/real-time-chat.md"
    )
    assert (told["next"], told["redone"]) == ("repeat the open question", "nothing")


def test_checkpoints_are_counted_and_reported(bench: FeatureBench) -> None:
    """The one that was cut off is redone, at its iteration."""
    bench.to_implement(CHAIN)
    bench.passes("cp-1")
    bench.fails("cp-2")
    one, told = stands(bench)
    assert one.counts == {
        "pending": 0,
        "in_progress": 1,
        "completed": 1,
        "failed": 0,
        "skipped": 0,
    }
    assert one.in_progress == ["cp-2"]
    assert "cp-1 passed, cp-2 in_progress (iter 2/3)" in told["next"]
    assert told["redone"] == "the interrupted iteration of cp-2"


def test_a_parked_checkpoint_is_not_redone(bench: FeatureBench) -> None:
    """It goes on where it is."""
    bench.to_implement(CHAIN)
    run = bench.attempt_of("cp-1").run
    bench.happens(Started(run.id), Heard(run.id, LimitHit("session_limit", wait_s=600)))
    bench.happens(Ended(run.id, 1))
    one, told = stands(bench)
    assert one.state == "parked"
    assert told["why"] == "stopped by a limit: cp-1"
    assert told["redone"] == "nothing"


def test_an_escalated_checkpoint_waits_for_a_person(bench: FeatureBench) -> None:
    """And stands among the failed."""
    bench.to_implement(CHAIN)
    bench.fails("cp-1", 3)
    one, told = stands(bench)
    assert (one.state, [failed["task"] for failed in one.failed]) == ("waiting", ["cp-1"])
    assert told["next"].startswith("repeat the open question; continue with the checkpoints: ")


def test_a_checkpoint_that_its_owner_skipped_waits_for_nobody(bench: FeatureBench) -> None:
    """Its file says escalated all the same: the next start asks again."""
    bench.to_implement(CHAIN)
    bench.fails("cp-1", 3)
    assert bench.run.file.decide(bench.run, "cp-1", "skip", lambda: None)
    assert [failed["task"] for failed in stands(bench)[0].failed] == ["cp-1"]
    project = Project(bench.root)
    held = Lock(lock_path(project, bench.place.state_file))
    assert held.take(since="now", command="segue develop") is None
    try:
        assert stands(bench)[0].failed == []
    finally:
        held.release()


def test_a_finished_feature_has_nothing_left(bench: FeatureBench) -> None:
    """It cannot be resumed, and nothing is redone."""
    bench.to_implement(CHAIN)
    bench.passes("cp-1", "cp-2")
    bench.ends_well("check")
    bench.passes("merge")
    one, told = stands(bench)
    assert (one.state, told["resumable"]) == ("finished", False)
    assert (told["next"], told["redone"]) == ("nothing", "nothing")


@pytest.mark.parametrize("text", ["", "phase: [", "\0"])
def test_a_broken_state_is_told_with_its_place(bench: FeatureBench, text: str) -> None:
    """And cannot be gone on with before it is repaired."""
    bench.to_implement(CHAIN)
    bench.place.state_file.write_text(text)
    one, told = stands(bench)
    assert one.problem is not None and "state.yaml" in one.problem
    assert told["resumable"] is False
    assert "--repair" in told["next"]
