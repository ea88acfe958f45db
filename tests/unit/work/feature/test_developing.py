"""`segue develop` as a whole: who may work on it, and how a broken state is written again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kit.feature_bench import APART, FeatureBench
from segue.core.develop import Phase
from segue.errors import UserError
from segue.work.feature.developing import found, repair

BROKEN = b"phase: [IMPLEMENT\n"


def breaks(desk: FeatureBench) -> None:
    desk.run.ledger.commit()
    desk.place.state_file.write_bytes(BROKEN)


def test_the_shell_agent_cannot_develop(desk: FeatureBench) -> None:
    """It has no command for a feature; nothing is written."""
    desk.settings("")
    with pytest.raises(UserError, match="shell"):
        desk.develop()
    assert not desk.place.state_file.exists()


def test_a_broken_state_is_never_taken_for_new(desk: FeatureBench) -> None:
    """It is told with line and column, and kept."""
    desk.to_implement()
    breaks(desk)
    with pytest.raises(UserError) as caught:
        desk.develop(None)
    problem = caught.value.problem
    assert (problem.code, problem.line) == ("broken_state", 2)
    assert "column 1" in problem.message
    assert "--repair" in (problem.hint or "")
    assert desk.place.state_file.read_bytes() == BROKEN


@pytest.mark.parametrize("when", ["design", "review", "implement", "merge"])
def test_the_journal_knows_what_the_file_said(desk: FeatureBench, when: str) -> None:
    """Phase, strategy and every checkpoint, at any time; the broken one is kept."""
    desk.develop()
    if when != "design":
        desk.designs()
    if when not in ("design", "review"):
        desk.reviews(APART)
        desk.fails("cp-2")
        desk.passes("cp-1")
    if when == "merge":
        desk.passes("cp-2")
    before = desk.state
    breaks(desk)
    feature = repair(desk.place, desk.clock.now())
    assert desk.state == feature
    assert feature == replace(before, started_at=feature.started_at, updated_at=feature.updated_at)
    (kept,) = (desk.root / ".segue" / "backups").iterdir()
    assert kept.read_bytes() == BROKEN


def test_a_repair_is_of_this_feature(desk: FeatureBench) -> None:
    """And not of an earlier one in the same project, whose checkpoints had other names."""
    desk.to_implement(APART.replace("cp-", "old-"), feature="the first")
    desk.to_implement(APART, feature="the second")
    desk.passes("cp-1", "cp-2")
    breaks(desk)
    feature = repair(desk.place, desk.clock.now())
    assert (feature.feature, list(feature.checkpoints)) == ("the second", ["cp-1", "cp-2"])
    assert feature.phase is Phase.MERGE


def test_a_sound_state_is_left_alone(desk: FeatureBench) -> None:
    """A repair of what is not broken changes no byte."""
    desk.to_implement()
    before = desk.place.state_file.read_bytes()
    assert repair(desk.place, desk.clock.now()) == desk.state
    assert desk.place.state_file.read_bytes() == before


def test_without_a_journal_nothing_is_made_up(desk: FeatureBench) -> None:
    """The broken file stays where it is."""
    desk.place.save(BROKEN)
    with pytest.raises(UserError) as caught:
        repair(desk.place, desk.clock.now())
    assert caught.value.problem.code == "no_journal"
    assert desk.place.state_file.read_bytes() == BROKEN


def test_a_state_that_may_not_be_read_is_told(desk: FeatureBench) -> None:
    """A folder in its place is neither a state nor none."""
    desk.place.state_file.mkdir(parents=True)
    with pytest.raises(UserError) as caught:
        found(desk.place)
    assert caught.value.problem.code == "broken_state"
