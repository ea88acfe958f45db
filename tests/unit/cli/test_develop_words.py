"""The last thing a run of a feature says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kit.feature_bench import APART, FeatureBench
from segue import i18n
from segue.cli import develop_words
from segue.dialects.events import Asked, LimitHit

NO_USAGE = {"input_tokens": 0, "output_tokens": 0, "cost_usd": None}


@pytest.fixture
def feature(alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FeatureBench]:
    """A feature under way, with an engine that does nothing by itself."""
    folder = tmp_path / "bench"
    folder.mkdir()
    made = FeatureBench(folder, monkeypatch)
    yield made
    made.close()


def summary(feature: FeatureBench, code: int, usage: dict[str, Any] | None = None) -> str:
    facts = {"exit": code, "usage": usage or NO_USAGE}
    return develop_words.summary(feature.steps, feature.run, facts, 300.0)


def test_each_checkpoint_has_its_sign_its_title_and_its_iteration(feature: FeatureBench) -> None:
    feature.to_implement(APART)
    feature.passes("cp-1")
    lines = summary(feature, 130).splitlines()
    assert lines[1] == "⏹ Stopped. Progress saved.  'real-time chat'  IMPLEMENT  5m"
    assert lines[2:4] == ["  ✔ cp-1 The store (1/3)", "  ● cp-2 The page (1/3)"]
    assert lines[-1] == "To continue: segue develop --resume"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (0, "✔ The feature is done."),
        (1, "✘ Some tasks failed."),
        (3, "❓ Waits for you."),
        (4, "⏳ Parked."),
    ],
)
def test_each_exit_code_has_its_headline_and_its_next_step(
    feature: FeatureBench, code: int, told: str
) -> None:
    """What is done has no next step."""
    feature.develop()
    text = summary(feature, code)
    assert text.splitlines()[1].startswith(told)
    assert ("segue develop" in text) == (code != 0)


def test_a_limit_is_shown_with_the_time_of_its_end(feature: FeatureBench) -> None:
    feature.develop()
    feature.starts()
    feature.says(LimitHit("session_limit", wait_s=3600.0))
    feature.ends(1)
    assert "  ⏳ design resumes at " in summary(feature, 4)


def test_a_question_is_shown_and_where_it_can_be_answered(feature: FeatureBench) -> None:
    """Further lines of it are indented as the first."""
    feature.develop()
    feature.starts()
    feature.says(Asked("Which protocol?\nWebSocket or SSE", ("WebSocket", "SSE")))
    feature.ends(143, is_ours=True)
    text = summary(feature, 3)
    assert "  ❓ Which protocol?\n     WebSocket or SSE" in text
    assert text.endswith("Answer from a terminal: segue develop --resume")


@pytest.mark.parametrize(
    ("error", "told"), [("exit code 3\nmore", "  ✘ design: exit code 3"), (None, "  ✘ design")]
)
def test_a_phase_that_failed_is_named_with_the_first_line_of_why(
    feature: FeatureBench, error: str | None, told: str
) -> None:
    """Or without, where nothing was said."""
    feature.develop()
    row = feature.run.ledger.tasks["design"]
    row.state, row.error = "failed", error  # type: ignore[assignment]
    assert told in summary(feature, 1).splitlines()


def test_what_was_used_is_told_where_it_is_known(feature: FeatureBench) -> None:
    feature.develop()
    used = {"input_tokens": 0, "output_tokens": 80, "cost_usd": 0.5}
    assert "  ¤ 0 tokens read, 80 written, $0.50" in summary(feature, 0, used)
    assert "¤" not in summary(feature, 0)


def test_the_summary_is_korean_for_a_korean_reader(feature: FeatureBench) -> None:
    feature.develop()
    i18n.use("ko")
    text = summary(feature, 1)
    assert "segue develop --resume" in text
    assert "Some tasks failed" not in text
    assert "Go on" not in text
