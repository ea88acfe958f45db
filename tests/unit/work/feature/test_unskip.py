"""An escalated checkpoint can be done after all."""

from __future__ import annotations

from pathlib import Path

from segue.core.develop import Phase, Progress, Status
from segue.plans import develop_state
from segue.work.unskip import unskip

STATE = """\
feature: Login
phase: MERGE
strategy: direct
started_at: 2026-01-01T00:00:00Z
updated_at: 2026-01-01T00:00:00Z
checkpoints:
  cp-1: {status: passed, iteration: 1}
  cp-2: {status: escalated, iteration: 3}
"""


def test_a_checkpoint_is_pending_again(tmp_path: Path) -> None:
    """The feature goes back to the phase in which checkpoints are made; what passed stays."""
    file = tmp_path / ".develop-workflow" / "state.yaml"
    file.parent.mkdir()
    file.write_text(STATE)
    unskip("cp-2", tmp_path, is_plan=False)
    feature = develop_state.parse(file.read_bytes())
    assert feature.phase is Phase.IMPLEMENT
    assert feature.checkpoints == {"cp-1": Progress(Status.PASSED, 1), "cp-2": Progress()}
