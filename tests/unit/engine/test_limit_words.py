"""The words of a limit: whose zone and which program they are about."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from kit.plain_agent import NOON, STRUCTURED, PlainAgent
from segue.dialects.events import LimitHit
from segue.engine import limit_words
from segue.engine.attempt import HeardLimit


def test_an_agent_speaks_of_its_own_zone() -> None:
    """3 pm is 3 pm where it was started."""
    speaker = limit_words.Speaker(STRUCTURED, ZoneInfo("Asia/Seoul"))
    limits = HeardLimit()
    limits.hear(LimitHit("session_limit", text="limit reached · resets 11pm"), NOON)
    found = limit_words.hit(limits, "", speaker)
    assert found is not None
    assert found.resets_at == datetime(2026, 3, 1, 14, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "command", "tool"),
    [
        ("mine", ("./claude", "-p"), "claude"),
        ("mine", ("./wrapper", "@google/gemini-cli"), "gemini"),
        ("aider", ("./wrapper",), "aider"),
        ("roots", ("./wrapper",), None),
        ("mine", ("./wrapper", "--of", "/"), None),
    ],
)
def test_the_program_of_a_command_is_known_by_its_words(
    name: str, command: tuple[str, ...], tool: str | None
) -> None:
    """A program, a package, or what its agent is called; no mere beginning of a name."""
    assert limit_words._tool(PlainAgent(name=name, command=command)) == tool
