"""The table of `segue watch` on terminals of every width."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from segue.cli.watch_table import table_of
from segue.core.machines import PaneState


def shown(width: int, *workers: Any) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(table_of(list(workers), 0, width))
    return out.getvalue()


def stopped(pane: str) -> Any:
    return SimpleNamespace(
        place=pane,
        agent="claude",
        account="work",
        state=PaneState.BLOCKED,
        kind="billing",
        evidence="Credit balance is too low: buy more, then go on",
        wakes_at=None,
        holder=None,
        is_held=False,
        is_attended=False,
    )


@pytest.mark.parametrize(
    ("width", "heads"),
    [
        (120, ["pane", "agent", "account", "state", "what is next"]),
        (80, ["pane", "agent", "state", "what is next"]),
        (40, ["pane", "state", "what is next"]),
    ],
)
def test_a_narrow_terminal_loses_no_pane_and_no_word(width: int, heads: list[str]) -> None:
    """The account goes first, then the agent; the rest is wrapped."""
    text = shown(width, stopped("%2"), stopped("wezterm:17"))
    head = text.partition("%2")[0].split()
    assert set(" ".join(heads).split()) == set(head)
    assert "…" not in text
    for word in ("%2", "wezterm:17", "waits for you", "Credit"):
        assert word in text
