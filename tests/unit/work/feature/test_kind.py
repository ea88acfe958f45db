"""What makes a folder a feature, and what a person can do about it."""

from __future__ import annotations

from segue.work.feature.kind import FeatureKind


def test_its_state_file_makes_a_folder_a_feature() -> None:
    """What failed is retried or skipped; what is asked is answered."""
    kind = FeatureKind()
    assert kind.marks == (".develop-workflow/state.yaml",)
    assert kind.failed_acts == ("retry", "skip")
    assert kind.gate_acts("review") == ("answer", "approve")
