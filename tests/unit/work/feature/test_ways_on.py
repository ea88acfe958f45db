"""The hints of a feature name the flag that gets further, not the command that asks again."""

from __future__ import annotations

from kit.feature_bench import APART, FeatureBench
from segue.cli import develop_words
from segue.engine.executors import Ended
from segue.work.overview import look

ONE = APART.splitlines(keepends=True)[0]
CHOICES = "segue develop --resume --on-escalated retry|edit|skip"


def last_lines(bench: FeatureBench) -> list[str]:
    """What the summary says at its end."""
    code = bench.finish()
    (facts,) = bench.told("finished")
    text = develop_words.summary(bench.steps, bench.run, {**facts, "exit": code}, 1.0)
    return text.rpartition("\n\n")[2].splitlines()


def test_a_design_that_waits_is_approved_by_a_flag(bench: FeatureBench) -> None:
    """In the summary and in `segue status`."""
    bench.develop(has_gates=True)
    bench.designs()
    assert last_lines(bench) == [
        "To continue: segue develop --approve",
        "Answer from a terminal: segue develop --resume",
    ]
    assert look(bench.root)[0].go_on == "segue develop --approve"


def test_an_escalated_checkpoint_is_decided_by_a_flag(bench: FeatureBench) -> None:
    """Without it the next run would only ask again."""
    bench.to_implement(ONE)
    bench.fails("cp-1", 3)
    assert last_lines(bench)[0] == f"To continue: {CHOICES}"
    assert look(bench.root)[0].go_on == CHOICES


def test_what_was_said_on_the_command_line_is_repeated(bench: FeatureBench) -> None:
    """Else another agent would go on, and merge."""
    bench.to_implement(ONE, agent="dev", merge_command="gh pr create --fill")
    bench.fails("cp-1", 3)
    options = "--agent dev --merge-command 'gh pr create --fill'"
    assert last_lines(bench) == [
        f"To continue: {CHOICES} {options}",
        f"Answer from a terminal: segue develop --resume {options}",
    ]


def test_validations_that_could_not_run_are_named(bench: FeatureBench) -> None:
    """And the next command runs them again."""
    bench.to_implement(ONE)
    bench.passes("cp-1")
    bench.happens(Ended(bench.attempt_of("check").run.id, None, signal=9))
    code = bench.finish()
    (facts,) = bench.told("finished")
    text = develop_words.summary(bench.steps, bench.run, {**facts, "exit": code}, 1.0)
    assert "✘ check: killed by signal 9" in text
    assert text.endswith("To continue: segue develop --resume")
