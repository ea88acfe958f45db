"""What real programs showed, and messages in many wordings, and what must be seen in them.

A case is a folder `tests/golden/screens/<agent>-<situation>/` with the `screen` as it was captured
(2026-11-15, about 18:33 UTC) and `found.json`. To record that file, run

    SEGUE_UPDATE_GOLDEN=1 pytest tests/golden/test_screens.py

and read what changed before it is kept. `messages.jsonl` has messages of many products, and text
that only looks like one. Each is shown in the ways that agents show things. `unseen-*.jsonl` have
whole screens that were written before the detector was tried on them.
"""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width
from zoneinfo import ZoneInfo

import pytest

from segue.dialects.limits import Detection, detect

FOLDER = Path(__file__).parent / "screens"
CASES = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())
SEEN_AT = datetime(2026, 11, 15, 18, 33, tzinfo=UTC)
ZONE = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 16, 13, 19, tzinfo=ZONE)


def told(found: Detection) -> dict[str, Any]:
    return {
        "state": found.state,
        "kind": found.kind,
        "resets_at": found.resets_at.isoformat() if found.resets_at else None,
        "evidence": found.evidence,
        "rule": found.rule,
        "draft": found.draft,
    }


@pytest.mark.parametrize("name", CASES)
def test_what_a_program_showed_is_seen(name: str) -> None:
    """The state, the kind and the instant of a captured screen are those of its case."""
    case = FOLDER / name
    screen = (case / "screen").read_text(encoding="utf-8")
    found = told(detect(screen, tool=name.partition("-")[0], now=SEEN_AT, tz=UTC))
    file = case / "found.json"
    if os.environ.get("SEGUE_UPDATE_GOLDEN"):
        file.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    assert file.exists(), f"{name} has no found.json: record it, and read it"
    assert found == json.loads(file.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Message:
    text: str
    tool: str | None
    state: str
    kinds: list[str]
    has_reset: bool

    @property
    def bare(self) -> str:
        """Without the mark it came with."""
        return self.text.lstrip(" ⎿■✕⚠✗×⏳🛑🚫⚡│●⏺").strip()


def messages(*states: str) -> list[Message]:
    lines = (FOLDER / "messages.jsonl").read_text(encoding="utf-8").splitlines()
    return [message for line in lines if (message := Message(**json.loads(line))).state in states]


def seen(text: str, tool: str | None) -> Detection:
    return detect(text, tool=tool, now=NOW, tz=ZONE)


STOPS = ("paused", "paused_self_resuming")
ALL = (*STOPS, "paused_menu", "self_retrying", "none")


@pytest.mark.parametrize("message", messages(*ALL), ids=lambda m: m.text[:60])
def test_a_message_alone_is_read(message: Message) -> None:
    """A message by itself: its state, a kind that fits, and a time where it names one."""
    found = seen(message.text, message.tool)
    stopped = (*STOPS, "paused_menu", "self_retrying")
    assert (found.state if found.state in stopped else "none") == message.state
    if message.state != "none":
        assert found.kind in message.kinds
    if found.paused:
        assert (found.resets_at is not None) == message.has_reset


CORPUS = [
    json.loads(line) for line in (FOLDER / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("name", sorted({case["set"] for case in CORPUS}))
def test_shapes_that_were_unseen_when_they_were_written(name: str) -> None:
    """Messages of many tools and languages on whole screens, and text that is none.

    Each set was written before the detector was tried on it (README.md there says from what).
    """
    wrong = []
    for case in (case for case in CORPUS if case["set"] == name):
        now, zone = datetime.fromisoformat(case["now"]), ZoneInfo(case["tz"])
        found = detect(case["text"], tool=case["tool"], now=now, tz=zone)
        if not is_right(found, case):
            wrong.append((case["id"], found.state, found.kind, found.resets_at))
    assert wrong == []


def is_right(found: Detection, case: dict[str, Any]) -> bool:
    if case["state"] == "not_paused":
        return not found.is_stop
    if found.state != case["state"] or found.kind not in case["accept"]:
        return False
    if case["state"] == "self_retrying":
        return True
    if case["resets_at"] is None:
        return found.resets_at is None
    right = datetime.fromisoformat(case["resets_at"])
    if found.resets_at is None:
        return False
    return abs((found.resets_at - right).total_seconds()) <= float(case["tolerance_s"])


def test_the_unseen_shapes_are_many() -> None:
    """More than 1,000 screens, and as many that must not stop as that must."""
    paused = [case for case in CORPUS if case["state"].startswith("paused")]
    assert len(CORPUS) > 1000
    assert 450 < len(paused) < len(CORPUS) - 450


# Ways to show it

RULE, BAR = "─" * 100, "─" * 98
CLAUDE_WORK = (
    "⏺ Bash(go test ./...)\n  ⎿  ok   example.org/mill  0.2s\n\n⏺ Both sites are updated.\n\n"
)
CLAUDE_END = f"\n\n✻ Brewed for 3s\n\n{RULE}\n❯ \n{RULE}\n  ? for shortcuts"
CODEX_WORK = "• Ran make lint\n  └ All checks passed!\n\n• The fixture is adjusted.\n\n"
CODEX_END = "\n\n\n› Explain this codebase\n\n  gpt-5.1-codex high · 94% context left · ~/x"
GEMINI_WORK = f"✦ It is adjusted.\n\n╭{BAR}╮\n│ ✓  Shell make lint{' ' * 79}│\n╰{BAR}╯\n\n"
GEMINI_END = f"\n\n╭{BAR}╮\n│ >   Type your message{' ' * 76}│\n╰{BAR}╯\n~/x (main*)   no sandbox"
PLAIN_WORK = "It is adjusted.\n\n$ make lint\n\nAll checks passed!\n\n"
PLAIN_END = "\n\n┃\n┃  \n┃\n  build · claude-sonnet-4-6 · ~/x"


def wrapped(text: str, width: int, first: str, rest: str) -> str:
    rows: list[str] = []
    for line in text.split("\n"):
        head = rest if rows else first
        rows += textwrap.wrap(
            line, width, initial_indent=head, subsequent_indent=rest, break_long_words=False,
            break_on_hyphens=False,
        ) or [""]  # fmt: skip
    return "\n".join(rows)


def coloured(text: str) -> str:
    return "\n".join(f"\x1b[38;2;255;107;128m{row}\x1b[39m" for row in text.split("\n"))


def placed(text: str) -> str:
    """Each word put into its column, with no blanks between them."""
    rows = []
    for row in text.split("\n"):
        column, parts = 1, []
        for word in row.split(" "):
            parts.append(f"\x1b[{column}G{word}" if word else "")
            column += sum(2 if east_asian_width(char) in "WF" else 1 for char in word) + 1
        rows.append("".join(parts))
    return "\n".join(rows)


Shown = Callable[[str], str]
OWN: dict[str, tuple[str, Shown]] = {
    "claude, under the prompt": (
        "claude",
        lambda t: f"{CLAUDE_WORK}> go on\n{wrapped(t, 90, '  ⎿  ', '     ')}{CLAUDE_END}",
    ),
    "claude, narrow": (
        "claude",
        lambda t: f"{CLAUDE_WORK}{wrapped(t, 50, '', '')}{CLAUDE_END}",
    ),
    "claude, coloured": (
        "claude",
        lambda t: CLAUDE_WORK + coloured(wrapped(t, 80, "  ⎿  ", "     ")) + CLAUDE_END,
    ),
    "claude, placed": (
        "claude",
        lambda t: CLAUDE_WORK + placed(wrapped(t, 90, "  ⎿  ", "     ")) + CLAUDE_END,
    ),
    "codex": ("codex", lambda t: f"{CODEX_WORK}{wrapped(t, 90, '■ ', '  ')}{CODEX_END}"),
    "gemini": ("gemini", lambda t: f"{GEMINI_WORK}{wrapped(t, 90, '✕ ', '  ')}{GEMINI_END}"),
}


@pytest.mark.parametrize("way", OWN)
def test_a_message_of_the_program_is_found_however_it_is_shown(way: str) -> None:
    """Wrapped, coloured, placed word by word, below work: it stops the agent."""
    tool, show = OWN[way]
    missed = [m.text for m in messages(*STOPS) if not seen(show(m.bare), tool).paused]
    assert missed == []


@pytest.mark.parametrize("way", OWN)
def test_a_message_says_until_when_however_it_is_shown(way: str) -> None:
    """The instant is that of the message alone."""
    tool, show = OWN[way]
    for message in messages(*STOPS):
        if message.has_reset:
            assert seen(show(message.bare), tool).resets_at == seen(message.bare, tool).resets_at


def quoted(text: str) -> str:
    return f'⏺ The log has the line "{" ".join(text.split())[:120]}" twice, I look into it.'


NOT_OWN: dict[str, tuple[str | None, Shown]] = {
    "new work below": (
        "claude",
        lambda t: (
            f"> go\n{wrapped(t, 90, '  ⎿  ', '     ')}\n\n> again\n\n{CLAUDE_WORK}{CLAUDE_END}"
        ),
    ),
    "busy again": (
        "claude",
        lambda t: (
            f"{wrapped(t, 90, '⏺ ', '  ')}\n\n> again\n\n✻ Mulling… (12s · esc to interrupt)"
            + CLAUDE_END.replace("✻ Brewed for 3s", "")
        ),
    ),
    "asked again": (
        "codex",
        lambda t: f"{wrapped(t, 90, '■ ', '  ')}\n\n› continue\n{CODEX_END}",
    ),
    "output of a tool": (
        "claude",
        lambda t: f"⏺ Bash(cat log)\n{wrapped(t, 90, '  ⎿  ', '     ')}{CLAUDE_END}",
    ),
    "output of a tool, codex": (
        "codex",
        lambda t: f"{CODEX_WORK}• Ran cat log\n{wrapped(t, 90, '  └ ', '    ')}{CODEX_END}",
    ),
    "output of a tool, gemini": (
        "gemini",
        lambda t: (
            f"╭{BAR}╮\n│ ✓  Shell cat log{' ' * 81}│\n"
            + "\n".join(f"│ {row[:96]:96} │" for row in wrapped(t, 90, "", "").split("\n"))
            + f"\n╰{BAR}╯{GEMINI_END}"
        ),
    ),
    "output of a command": (
        "opencode",
        lambda t: PLAIN_WORK + "$ cat log\n\n" + t.replace("\n\n", "\n") + PLAIN_END,
    ),
    "quoted": ("claude", lambda t: CLAUDE_WORK + quoted(t) + CLAUDE_END),
    "found by grep": (
        None,
        lambda t: "\n".join(f"src/a.py:{n}: {row}" for n, row in enumerate(t.split("\n"), 3)),
    ),
    "added in a diff": (
        "opencode",
        lambda t: (
            PLAIN_WORK
            + "--- a/x.py\n+++ b/x.py\n"
            + "\n".join(f"+{row}" for row in t.split("\n") if row)
            + PLAIN_END
        ),
    ),
    "in a change log": (None, lambda t: "## 2.1\n- " + " ".join(t.split())),
}


@pytest.mark.parametrize("way", NOT_OWN)
def test_the_same_words_elsewhere_are_no_limit(way: str) -> None:
    """Above new work, in a tool's output, quoted, in a diff: the agent is not stopped."""
    tool, show = NOT_OWN[way]
    texts = [m for m in messages(*STOPS, "self_retrying") if m.bare]
    assert [m.text for m in texts if seen(show(m.bare), tool).paused] == []
