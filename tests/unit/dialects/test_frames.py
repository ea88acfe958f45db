"""Whose screen it is: what programs draw counts, words about them do not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from segue.dialects.frames import agent_shown, is_at_shell
from segue.dialects.screen import Screen

GOLDEN = Path(__file__).parents[2] / "golden" / "emulator"
REAL = ["claude-answer", "claude-idle", "claude-limit-5h", "claude-limit-weekly-menu",
        "claude-narrow", "claude-tool", "codex-busy", "codex-idle", "codex-limit", "gemini-answer",
        "opencode-idle"]  # fmt: skip
RULE = "─" * 60
BOX = ["● Done.", "", RULE, "❯ ", RULE]
STATUS = "  ⏵⏵ auto mode on (shift+tab to cycle)"


def screen(*rows: str, title: str = "") -> Screen:
    return Screen(rows, rows, (), None, 40, 110, title=title)


def real(case: str) -> tuple[list[str], str]:
    facts = json.loads((GOLDEN / case / "facts.json").read_text())
    return (GOLDEN / case / "screen.txt").read_text("utf-8").split("\n"), facts["title"]


@pytest.mark.parametrize("case", REAL)
def test_a_real_screen_is_its_agents(case: str) -> None:
    """With its title, and without one that says anything."""
    rows, title = real(case)
    brand = case.partition("-")[0]
    assert agent_shown(screen(*rows, title=title)) == brand
    assert agent_shown(screen(*rows, title="work")) == brand


@pytest.mark.parametrize("case", REAL)
@pytest.mark.parametrize("end", ["u@host:~/work$", "~/work ❯", "❯", "(END)", ":", '"a.txt" 40L'])
def test_a_screen_that_was_only_printed_is_nobodys(case: str, end: str) -> None:
    """Below it stands a shell's prompt, or a pager's line."""
    rows, _title = real(case)
    while not rows[-1].strip():
        rows.pop()
    assert agent_shown(screen(*rows, end, title="work")) is None


def test_words_about_an_agent_are_no_agent() -> None:
    """Neither prose nor a log nor a title that mentions one."""
    prose = ["Claude Code v2.1 draws a box and `⏵⏵ auto mode on (shift+tab to cycle)` below.", ""]
    log = ["12:00 claude: You've hit your weekly limit · resets 6pm (UTC)", "> npm run build"]
    for rows in (prose, log, [*prose, STATUS], ["? for shortcuts"], []):
        assert agent_shown(screen(*rows, title="notes about Claude Code")) is None
    assert agent_shown(screen(*log, title="✳ Claude Code")) is None, (
        "it has ended, the title stayed"
    )


def test_an_input_box_needs_one_more_sign() -> None:
    """The status line or the title; a box alone may be anybody's."""
    assert agent_shown(screen(*BOX)) is None
    assert agent_shown(screen(*BOX, STATUS)) == "claude"
    assert agent_shown(screen(*BOX, title="✳ Fix the parser")) == "claude"
    assert agent_shown(screen(*BOX, "  main · 12 files", STATUS)) == "claude"


def test_another_tmux_may_stand_around_it() -> None:
    """On the machine where the agent runs, with a status bar of its own in the last row."""
    bar = '[work] 0:claude*              "host" 15:04 16-Nov-26'
    assert agent_shown(screen(*BOX, STATUS, bar)) == "claude"
    assert agent_shown(screen(*BOX, STATUS, "user@host:~$", bar)) is None


def test_a_prompt_of_a_shell_is_told_from_an_input_line() -> None:
    """The agent has ended."""
    assert is_at_shell(screen(*BOX, STATUS, "user@host:~/work$ "))
    assert not is_at_shell(screen(*BOX, STATUS))
    assert not is_at_shell(screen())
