"""The review settles the checkpoints; what is wrong with them goes back to the agent."""

from __future__ import annotations

import pytest

from kit.box import Box
from kit.feature import Feature, cp

ROW = "- {id: cp-1, description: a, validate: test -e cp-1.txt, files: [cp-1.txt]}"
WRONG = {
    "missing": ("pass", "checkpoints"),
    "another info string": (
        "target.write_text('# D\\n```yaml\\n' + GOOD + '\\n```\\n')", "checkpoints",
    ),
    "broken YAML": ("block('- id: cp-1\\n  description: [a')", "real-time-chat.md:"),
    "empty": ("block('')", "checkpoint"),
    "an empty list": ("block('[]')", "checkpoint"),
    "no list": ("block('id: cp-1')", "list"),
    "no list of tables": ("block('- just words')", "entry 1"),
    "without validate": ("block('- {id: cp-77, description: a, files: [x]}')", "validate"),
    "an empty validate": ("block('- {id: cp-77, description: a, validate: \" \"}')", "validate"),
    "without an id": ("block('- {description: a, validate: exit 3}')", "id"),
    "the same id twice": ("block('- {id: cp-77, description: a, validate: x}\\n' * 2)", "cp-77"),
    "an unknown one": ("block('- {id: a, description: a, validate: x, depends: [cp-77]}')", "cp-77"),
    "a circle": (
        "block('- {id: cp-77, description: a, validate: x, depends: [cp-78]}\\n'"
        " '- {id: cp-78, description: b, validate: x, depends: [cp-77]}')", "cp-77",
    ),
    "of itself": ("block('- {id: cp-77, description: a, validate: x, depends: [cp-77]}')", "cp-77"),
}  # fmt: skip


@pytest.fixture
def feature(box: Box) -> Feature:
    return Feature(box)


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_block_goes_back_with_the_reason(feature: Feature, kind: str) -> None:
    """The next try is told what is wrong, word by word; then it goes on."""
    play, word = WRONG[kind]
    feature.play("REVIEW.1", play.replace("GOOD", repr(ROW)))
    done = feature.develop()
    assert done.code == 0, done.said
    first, second = feature.starts("REVIEW")
    added = "\n".join(set(second.prompt.splitlines()) - set(first.prompt.splitlines()))
    assert word in added, second.prompt
    assert feature.checkpoints == {"cp-1": ("passed", 1)}


def test_the_reasons_are_the_newest(feature: Feature) -> None:
    """Each try is told what is wrong now."""
    feature.play("REVIEW.1", "block('- {id: cp-77, description: a}')")
    feature.play(
        "REVIEW.2", "block('- {id: cp-88, description: a, validate: x, depends: [cp-99]}')"
    )
    assert feature.develop().code == 0
    _first, second, third = feature.starts("REVIEW")
    assert "cp-77" in second.prompt and "cp-99" not in second.prompt
    assert "cp-99" in third.prompt and "cp-77" not in third.prompt


def test_at_most_three_times(feature: Feature) -> None:
    """It went back three times and is still wrong: it has failed, nothing is implemented."""
    feature.play("REVIEW", "block('- {id: cp-1, description: a}')")
    done = feature.develop()
    assert done.code in (1, 3), done.said
    assert feature.who == ["DESIGN", *["REVIEW"] * len(feature.starts("REVIEW"))]
    assert len(feature.starts("REVIEW")) in (3, 4), "the first, and what went back"
    assert "validate" in done.said
    state = feature.state
    assert state["phase"] == "REVIEW"
    assert not state.get("checkpoints")
    assert feature.box.left_behind() == {}


def test_a_review_that_has_failed_can_be_tried_again(feature: Feature) -> None:
    """`--resume` begins the review anew, with its three tries; the design is not written again."""
    feature.play("REVIEW", "block('- {id: cp-1, description: a}')")
    assert feature.develop().code in (1, 3)
    tries = len(feature.starts("REVIEW"))
    again = feature.go_on()
    assert again.code in (1, 3), again.said
    assert len(feature.starts("REVIEW")) == 2 * tries
    feature.unplay("REVIEW")
    assert feature.go_on().code == 0
    assert len(feature.starts("DESIGN")) == 1


def test_a_review_that_ends_badly_is_no_review(feature: Feature) -> None:
    """A good block and a non-zero exit code: tried again."""
    feature.play("REVIEW.1", "default(); sys.exit(9)")
    assert feature.develop().code == 0
    assert feature.who == ["DESIGN", "REVIEW", "REVIEW", "cp-1", "MERGE"]


def test_a_block_among_others(feature: Feature) -> None:
    """Other code blocks, tildes and text around it do not matter."""
    feature.play(
        "REVIEW",
        "target.write_text('# D\\n```yaml\\n- {id: no}\\n```\\n\\n~~~~yaml checkpoints\\n'"
        f" + {ROW!r} + '\\n~~~~\\n\\n```sh\\nls\\n```\\nThe end.\\n')",
    )
    assert feature.develop().code == 0
    assert feature.checkpoints == {"cp-1": ("passed", 1)}


def test_a_block_shown_inside_another_is_no_block(feature: Feature) -> None:
    """An example within a longer fence is text; the real one counts."""
    feature.play(
        "REVIEW",
        "target.write_text('````markdown\\n```yaml checkpoints\\n- {id: example}\\n```\\n````\\n'"
        f" '```yaml checkpoints\\n' + {ROW!r} + '\\n```\\n')",
    )
    assert feature.develop().code == 0
    assert feature.checkpoints == {"cp-1": ("passed", 1)}


def test_fields_may_be_left_out(feature: Feature) -> None:
    """`depends` and `files` are lists, one name, or not there."""
    feature.play(
        "REVIEW",
        "block('- {id: cp-1, description: a, validate: test -e cp-1.txt}\\n'"
        " '- {id: cp-2, description: b, validate: test -e cp-2.txt, depends: [cp-1], files: []}')",
    )
    feature.settle(cp("cp-1"), cp("cp-2"))
    assert feature.develop().code == 0
    assert feature.who == ["DESIGN", "REVIEW", "cp-1", "cp-2", "MERGE"]


def test_many_lines_in_a_validation(feature: Feature) -> None:
    """A validation may be a small script."""
    feature.play(
        "REVIEW",
        "block('- id: cp-1\\n  description: a\\n  validate: |\\n    set -e\\n    test -e cp-1.txt\\n"
        f"    echo yes > {feature.out}/ran\\n')",
    )
    assert feature.develop().code == 0
    assert (feature.out / "ran").read_text() == "yes\n"


def test_the_design_stays_where_it_was_after_the_review(feature: Feature) -> None:
    """The document holds the block and is not changed by Segue."""
    assert feature.develop().code == 0
    text = feature.design.read_text()
    assert text.startswith("# Design\n")
    assert text.count("```yaml checkpoints") == 1
    assert "in_progress" not in text and "passed" not in text, "states stand in the state file"
