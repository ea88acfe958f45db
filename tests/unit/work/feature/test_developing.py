"""`segue develop` as a whole: who may work on it, and how a broken state is written again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kit.feature_bench import APART, FeatureBench
from segue.core.develop import Phase
from segue.errors import UserError
from segue.work.feature.developing import found, repair
from segue.work.project import Project

BROKEN = b"phase: [IMPLEMENT\n"


def breaks(bench: FeatureBench) -> None:
    bench.run.ledger.commit()
    bench.place.state_file.write_bytes(BROKEN)


def test_the_shell_agent_cannot_develop(bench: FeatureBench) -> None:
    """It has no command for a feature; nothing is written."""
    bench.settings("")
    with pytest.raises(UserError, match="shell"):
        bench.develop()
    assert not bench.place.state_file.exists()


def test_a_broken_state_is_never_taken_for_new(bench: FeatureBench) -> None:
    """It is told with line and column, and kept."""
    bench.to_implement()
    breaks(bench)
    with pytest.raises(UserError) as caught:
        bench.develop(None)
    problem = caught.value.problem
    assert (problem.code, problem.line) == ("broken_state", 2)
    assert "column 1" in problem.message
    assert "--repair" in (problem.hint or "")
    assert bench.place.state_file.read_bytes() == BROKEN


@pytest.mark.parametrize("when", ["design", "review", "implement", "merge"])
def test_the_journal_knows_what_the_file_said(bench: FeatureBench, when: str) -> None:
    """Phase, strategy and every checkpoint, at any time; the broken one is kept."""
    bench.develop()
    if when != "design":
        bench.designs()
    if when not in ("design", "review"):
        bench.reviews(APART)
        bench.fails("cp-2")
        bench.passes("cp-1")
    if when == "merge":
        bench.passes("cp-2")
    before = bench.state
    breaks(bench)
    feature = repair(bench.place, bench.clock.now())
    assert bench.state == feature
    assert feature == replace(before, started_at=feature.started_at, updated_at=feature.updated_at)
    (kept,) = (Project(bench.root).memory / "backups").iterdir()
    assert kept.read_bytes() == BROKEN


def test_a_repair_is_of_this_feature(bench: FeatureBench) -> None:
    """And not of an earlier one in the same project, whose checkpoints had other names."""
    bench.to_implement(APART.replace("cp-", "old-"), feature="the first")
    bench.to_implement(APART, feature="the second")
    bench.passes("cp-1", "cp-2")
    breaks(bench)
    feature = repair(bench.place, bench.clock.now())
    assert (feature.feature, list(feature.checkpoints)) == ("the second", ["cp-1", "cp-2"])
    assert feature.phase is Phase.MERGE


def test_a_sound_state_is_left_alone(bench: FeatureBench) -> None:
    """A repair of what is not broken changes no byte."""
    bench.to_implement()
    before = bench.place.state_file.read_bytes()
    assert repair(bench.place, bench.clock.now()) == bench.state
    assert bench.place.state_file.read_bytes() == before


def test_without_a_journal_nothing_is_made_up(bench: FeatureBench) -> None:
    """The broken file stays where it is."""
    bench.place.save(BROKEN)
    with pytest.raises(UserError) as caught:
        repair(bench.place, bench.clock.now())
    assert caught.value.problem.code == "no_journal"
    assert bench.place.state_file.read_bytes() == BROKEN


def test_a_state_that_may_not_be_read_is_told(bench: FeatureBench) -> None:
    """A folder in its place is neither a state nor none."""
    bench.place.state_file.mkdir(parents=True)
    with pytest.raises(UserError) as caught:
        found(bench.place)
    assert caught.value.problem.code == "broken_state"
