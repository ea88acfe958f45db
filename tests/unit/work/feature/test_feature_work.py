"""A feature under way, as its parts see it."""

from __future__ import annotations

from kit.feature_bench import FeatureBench
from segue.work.feature.feature_work import FeatureOptions, FeatureWork


def test_a_person_has_asked_for_nothing_special() -> None:
    """Without options a feature asks before it gives up, and merges by itself."""
    options = FeatureOptions("claude", "claude")
    assert (options.on_escalated, options.merge_command, options.has_gates) == ("ask", None, False)


def test_the_steps_of_a_feature_are_what_its_parts_need(bench: FeatureBench) -> None:
    """The same object, seen through the protocol."""
    bench.develop()
    work: FeatureWork = bench.steps
    assert work.design.name.endswith(".md")
    assert work.wanted == []
    assert not work.is_passed_over("cp-1")
