"""Agents print text about limits all day. None of it may stop them.

50 MB of real sources and documents of rate limiters, model clients and retry libraries are shown
as an agent's output: under a tool call, as its own words, as a diff, as search results, and as the
end of a plain program's output. The text is fetched with pip once, and kept.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from segue.dialects.limits import detect

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import limit_corpus

NOW = datetime(2026, 3, 16, 13, 19, tzinfo=UTC)
MB_MIN = 50.0
ROWS = (12, 40, 60, 90)  # of what is shown: a few lines, a screen, a tall one
RULE, BAR = "─" * 100, "─" * 98
CLAUDE = f"\n\n{RULE}\n❯ \n{RULE}\n  ? for shortcuts"
CODEX = "\n\n\n› Summarize recent commits\n\n  gpt-5.2-codex high · 71% context left"
GEMINI = f"\n\n╭{BAR}╮\n│ >   Type your message or @path/to/file{' ' * 59}│\n╰{BAR}╯\n~/x (main*)"

Shown = Callable[[list[str]], str]


def hung(rows: list[str], first: str, rest: str) -> str:
    return "\n".join((rest if at else first) + row for at, row in enumerate(rows))


def spoken(mark: str) -> Shown:
    """As the agent's own words: each paragraph filled anew."""

    def show(rows: list[str]) -> str:
        paragraphs = [" ".join(part.split()) for part in "\n".join(rows).split("\n\n")]
        filled = [
            textwrap.fill(part, 98, initial_indent="  " if at else mark, subsequent_indent="  ")
            for at, part in enumerate(filter(None, paragraphs))
        ]
        return "\n\n".join(filled)

    return show


FORMS: tuple[tuple[str, str | None, Shown], ...] = (
    ("bash", "claude", lambda r: f"⏺ Bash(cat it)\n{hung(r, '  ⎿  ', '     ')}{CLAUDE}"),
    (
        "read",
        "claude",
        lambda r: (
            "⏺ Read(it)\n"
            + hung([f"{at:>4}→{row}" for at, row in enumerate(r, 40)], "  ⎿  ", "     ")
            + CLAUDE
        ),
    ),
    (
        "edited",
        "claude",
        lambda r: (
            f"⏺ Update(it)\n  ⎿  Updated it with {len(r)} additions\n"
            + "\n".join(f"     {at} + {row}" for at, row in enumerate(r, 40))
            + CLAUDE
        ),
    ),
    ("ran", "codex", lambda r: f"• Ran cat it\n{hung(r, '  └ ', '    ')}{CODEX}"),
    (
        "shell",
        "gemini",
        lambda r: (
            f"╭{BAR}╮\n│ ✓  Shell cat it{' ' * 82}│\n"
            + "\n".join(f"│ {row[:96]:96} │" for row in r)
            + f"\n╰{BAR}╯{GEMINI}"
        ),
    ),
    ("said", "claude", lambda r: spoken("⏺ ")(r) + CLAUDE),
    ("said", "codex", lambda r: spoken("• ")(r) + CODEX),
    ("said", "gemini", lambda r: spoken("✦ ")(r) + GEMINI),
    (
        "patch",
        "opencode",
        lambda r: (
            "It is changed.\n\n--- a/it\n+++ b/it\n@@ -1 +1,9 @@\n+" + "\n+".join(r) + "\n\n> "
        ),
    ),
    ("found", None, lambda r: "\n".join(f"src/it.py:{at}:{row}" for at, row in enumerate(r, 40))),
    ("printed", None, "\n".join),
    ("printed", "opencode", lambda r: "It is done.\n\n" + "\n".join(r) + "\n\n> "),
)


def pieces(text: str, chance: Random) -> Iterator[list[str]]:
    rows = text.split("\n")
    at = 0
    while at < len(rows):
        size = chance.choice(ROWS)
        piece = rows[at : at + size]
        at += size
        while piece and not piece[-1].strip():
            piece.pop()
        if piece:
            yield piece


def judged(part: int) -> tuple[int, list[str]]:
    """The bytes shown of every other text, and what was taken for a pause."""
    chance = Random(part)
    shown, pauses = 0, []
    for number, (name, text) in enumerate(limit_corpus.texts(limit_corpus.folder())):
        if number % 2 != part:
            continue
        for piece in pieces(text, chance):
            form, tool, show = chance.choice(FORMS)
            screen = show(piece)
            shown += len(screen.encode())
            found = detect(screen, tool=tool, now=NOW, tz=UTC)
            if found.paused:
                pauses.append(f"{name}, {form}: {found.kind} by {found.rule}: {found.evidence}")
        if shown > MB_MIN * 1e6 / 2:
            break
    return shown, pauses


@pytest.mark.parametrize("part", [0, 1])
def test_text_about_limits_never_stops_an_agent(part: int) -> None:
    """Over 50 MB of it in two parts, however it is shown, nothing is taken for a limit of the
    agent."""
    limit_corpus.fetch(limit_corpus.folder())
    shown, pauses = judged(part)
    assert pauses == []
    assert shown >= MB_MIN * 1e6 / 2


def test_a_message_of_the_agent_itself_would_be_found_in_it() -> None:
    """The same forms with a banner below them do stop: the test above can fail."""
    piece = ["def limited(n: int) -> None:", '    """Rate limit exceeded when n is over."""']
    banner = "  ⎿  You've hit your weekly limit · resets 6pm"
    for _form, tool, show in FORMS:
        if tool == "claude":
            above, below = show(piece).rsplit(CLAUDE, 1)
            screen = f"{above}\n\n> go on\n{banner}{CLAUDE}{below}"
            assert detect(screen, tool=tool, now=NOW, tz=UTC).kind == "weekly_limit"
