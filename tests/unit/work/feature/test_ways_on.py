"""The hints of a feature name the flag that gets further, not the command that asks again."""

from __future__ import annotations

from kit.feature_bench import APART, FeatureBench
from segue.cli import develop_words
from segue.engine.executors import Ended
from segue.work.overview import look

ONE = APART.splitlines(keepends=True)[0]
CHOICES = "segue develop --resume --on-escalated retry|edit|skip"


def last_lines(desk: FeatureBench) -> list[str]:
    """What the summary says at its end."""
    code = desk.finish()
    (facts,) = desk.told("finished")
    text = develop_words.summary(desk.steps, desk.run, {**facts, "exit": code}, 1.0)
    return text.rpartition("\n\n")[2].splitlines()


def test_a_design_that_waits_is_approved_by_a_flag(desk: FeatureBench) -> None:
    """In the summary and in `segue status`."""
    desk.develop(has_gates=True)
    desk.designs()
    assert last_lines(desk) == [
        "Go on: segue develop --approve",
        "Answer on a terminal: segue develop --resume",
    ]
    assert look(desk.root)[0].go_on == "segue develop --approve"


def test_an_escalated_checkpoint_is_decided_by_a_flag(desk: FeatureBench) -> None:
    """Without it the next run would only ask again."""
    desk.to_implement(ONE)
    desk.fails("cp-1", 3)
    assert last_lines(desk)[0] == f"Go on: {CHOICES}"
    assert look(desk.root)[0].go_on == CHOICES


def test_what_was_said_on_the_command_line_is_repeated(desk: FeatureBench) -> None:
    """Else another agent would go on, and merge."""
    desk.to_implement(ONE, agent="dev", merge_command="gh pr create --fill")
    desk.fails("cp-1", 3)
    options = "--agent dev --merge-command 'gh pr create --fill'"
    assert last_lines(desk) == [
        f"Go on: {CHOICES} {options}",
        f"Answer on a terminal: segue develop --resume {options}",
    ]


def test_validations_that_could_not_run_are_named(desk: FeatureBench) -> None:
    """And the next command runs them again."""
    desk.to_implement(ONE)
    desk.passes("cp-1")
    desk.happens(Ended(desk.attempt_of("check").run.id, None, signal=9))
    code = desk.finish()
    (facts,) = desk.told("finished")
    text = develop_words.summary(desk.steps, desk.run, {**facts, "exit": code}, 1.0)
    assert "✘ check: killed by signal 9" in text
    assert text.endswith("Go on: segue develop --resume")
