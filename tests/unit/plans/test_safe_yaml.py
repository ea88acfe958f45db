"""YAML that somebody wrote to do harm is refused before it does."""

from __future__ import annotations

import pytest

from segue.plans import safe_yaml
from segue.plans.checkpoints import CheckpointsError, read
from segue.plans.develop_state import BrokenError, parse
from segue.plans.safe_yaml import CHARS_MAX, DEPTH_MAX, UnreadableError

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def test_aliases_are_not_followed() -> None:
    """Some hundred bytes that stand for gigabytes; the place of the first alias is told."""
    assert len(BOMB) < 600
    with pytest.raises(UnreadableError) as told:
        safe_yaml.load(BOMB)
    assert (told.value.line, told.value.column) == (2, 8)
    assert "*a" in str(told.value)


@pytest.mark.parametrize("text", ["a: &a [*a]\n", "base: &p {x: 1}\na: {<<: *p}\n"])
def test_no_alias_of_any_kind(text: str) -> None:
    """Neither one of itself nor a merge."""
    with pytest.raises(UnreadableError, match="alias"):
        safe_yaml.load(text)


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 100_000, "- " * 10_000 + "x"])
def test_depth_is_bounded(text: str) -> None:
    """It ends at the first level that is too deep, however many follow."""
    with pytest.raises(UnreadableError, match=str(DEPTH_MAX)):
        safe_yaml.load(text)


def test_length_is_bounded() -> None:
    """More than anybody writes is not even looked at."""
    with pytest.raises(UnreadableError, match=str(CHARS_MAX)):
        safe_yaml.load("x" * (CHARS_MAX + 1))


def test_a_state_and_a_design_are_read_this_way() -> None:
    """A state file that is such a bomb is a broken one; a block of checkpoints has no use of it."""
    with pytest.raises(BrokenError, match="alias"):
        parse(f"phase: DESIGN\nfeature: x\n{BOMB}".encode())
    with pytest.raises(CheckpointsError):
        read("```yaml\ncheckpoints:\n  - &a {id: x}\n  - *a\n```\n")
