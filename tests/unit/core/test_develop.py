"""A feature's phases and checkpoints: who may work side by side, and how it is told."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.core.develop import (
    Checkpoint,
    Feature,
    Phase,
    Progress,
    Status,
    Strategy,
    are_in_the_way,
    report,
    strategy_for,
)


def checkpoint(id: str, *files: str, depends: tuple[str, ...] = ()) -> Checkpoint:
    return Checkpoint(id, id, "true", depends, files)


def test_one_checkpoint_is_done_directly() -> None:
    """There is nothing to be side by side with."""
    assert strategy_for([checkpoint("a", "a.py")]) is Strategy.DIRECT


def test_none_at_all_is_direct() -> None:
    """An empty list has no pairs that could be kept apart."""
    assert strategy_for([]) is Strategy.DIRECT


@pytest.mark.parametrize("files", [("a.py", "a.py", "a.py"), ("src/**", "src/a.py", "src/*.py")])
def test_all_in_the_same_files_is_direct(files: tuple[str, ...]) -> None:
    """Every pair may meet in a file, by name or by glob."""
    found = [checkpoint(str(n), file) for n, file in enumerate(files)]
    assert strategy_for(found) is Strategy.DIRECT


@pytest.mark.parametrize("order", sorted(set(permutations(("a.py", "a.py", "b.py")))))
def test_one_pair_apart_is_enough_for_side_by_side(order: tuple[str, ...]) -> None:
    """Wherever in the list that pair is."""
    found = [checkpoint(str(n), file) for n, file in enumerate(order)]
    assert strategy_for(found) is Strategy.SUBAGENT


def test_a_checkpoint_without_files_may_change_any() -> None:
    """So it is in the way of all others, and they of it."""
    free, bound = checkpoint("free"), checkpoint("bound", "a.py")
    assert are_in_the_way(free, bound)
    assert are_in_the_way(bound, free)
    assert strategy_for([free, bound]) is Strategy.DIRECT
    assert strategy_for([free, checkpoint("free-too")]) is Strategy.DIRECT


def test_agent_teams_are_never_chosen_unasked() -> None:
    """Only a person's `--strategy` does."""
    found = [checkpoint("a", "a.py"), checkpoint("b", "b.py"), checkpoint("c", "c.py")]
    assert strategy_for(found) is not Strategy.AGENT_TEAMS


FILES = st.lists(st.sampled_from(["a.py", "b.py", "c/*.py", "c/d.py", "**", "c/**"]), max_size=3)


@given(FILES, FILES)
def test_being_in_the_way_is_mutual(one: list[str], other: list[str]) -> None:
    """Whoever is asked first."""
    first, second = checkpoint("one", *one), checkpoint("other", *other)
    assert are_in_the_way(first, second) == are_in_the_way(second, first)


@given(
    st.lists(FILES, min_size=2, max_size=4).flatmap(
        lambda f: st.tuples(st.just(f), st.permutations(f))
    )
)
def test_the_order_of_checkpoints_does_not_choose_the_strategy(
    orders: tuple[list[list[str]], list[list[str]]],
) -> None:
    """The same checkpoints, however they are listed, are worked on in the same way."""
    one, other = ([checkpoint(str(n), *names) for n, names in enumerate(o)] for o in orders)
    assert strategy_for(one) is strategy_for(other)


def test_the_report_is_that_of_the_spec() -> None:
    """`cp-1 passed, cp-2 in_progress (iter 1/3), cp-3 pending`, to the letter, in their order."""
    feature = Feature(
        "chat",
        Phase.IMPLEMENT,
        checkpoints={
            "cp-1": Progress(Status.PASSED, 2),
            "cp-2": Progress(Status.IN_PROGRESS, 1),
            "cp-3": Progress(),
        },
    )
    assert report(feature) == "cp-1 passed, cp-2 in_progress (iter 1/3), cp-3 pending"


def test_an_escalated_one_is_reported_without_its_iteration() -> None:
    """It has used up all of them."""
    feature = Feature("chat", checkpoints={"cp-1": Progress(Status.ESCALATED, 3)})
    assert report(feature) == "cp-1 escalated"


def test_a_changed_checkpoint_keeps_its_place() -> None:
    """And the feature that it was changed in stays as it was."""
    before = Feature("chat", checkpoints={"b": Progress(), "a": Progress()})
    after = before.with_checkpoint("b", Progress(Status.PASSED, 1))
    assert list(after.checkpoints) == ["b", "a"]
    assert after.checkpoints["b"] == Progress(Status.PASSED, 1)
    assert before.checkpoints["b"] == Progress()
