"""Which programs go on in a copy of a conversation, and how they are told to."""

from __future__ import annotations

import pytest

from segue.work.agents import brands
from segue.work.agents.brands import Call
from segue.work.settings.config import AgentSettings


def argv(kind: str, *, is_fork: bool) -> tuple[str, ...]:
    call = Call(AgentSettings(kind, kind), (kind,), "go on", "abc", is_fork=is_fork)
    return brands.brand(kind).start(call).argv


@pytest.mark.parametrize(
    ("kind", "resumed", "forked"),
    [
        ("claude", ("--resume", "abc"), ("--resume", "abc", "--fork-session")),
        ("codex", ("resume", "abc", "-"), ("fork", "abc", "-")),
    ],
)
def test_a_copy_is_asked_for_by_the_program_s_own_words(
    kind: str, resumed: tuple[str, ...], forked: tuple[str, ...]
) -> None:
    """Without it the conversation itself is gone on with."""
    assert argv(kind, is_fork=False)[-len(resumed) :] == resumed
    assert argv(kind, is_fork=True)[-len(forked) :] == forked
    assert brands.brand(kind).can_fork


def test_the_others_begin_anew() -> None:
    """They have no such word, or hang where it is used in another folder."""
    able = {name for name in brands.BRANDS if brands.brand(name).can_fork}
    assert able == {"claude", "codex"}
