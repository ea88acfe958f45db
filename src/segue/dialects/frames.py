"""Whose screen it is, by what an agent's program draws around the conversation.

Words about an agent prove nothing: they are in every transcript and every note. What counts is
at the end of the screen, where a person could type: the input line or a menu, together with the
program's own status line, its title or its head. A screen that was only printed ends otherwise:
with a shell's prompt or a pager's line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from segue.dialects.limits.lazy_regex import Expression
from segue.dialects.limits.screen import activity, chrome, layout
from segue.dialects.limits.screen.menus import menu_of
from segue.dialects.limits.screen.rows import normalise
from segue.dialects.screen import Screen

STATUS_ROWS_MAX = 8

# The last row of all, away from the frame: opencode's, or that of another tmux around the agent, on
# the machine where it runs.
_FOOT = Expression(r"\[[\w./ -]{1,40}\] \d+:\S|\s*[~/]\S*\s+\d+\.\d+\.\d+$")
_MENU_KEYS = Expression(r"\W*(?:enter|return|esc)(?:ape)? to \w+\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Frame:
    """What one program draws: the marks of its input line, its status line, its title, its head."""

    brand: str
    marks: frozenset[str]
    is_boxed: bool  # the input line stands between rules or in a box, always
    status: Expression
    title: Expression
    head: Expression


_NOTHING = Expression(r"(?!)")

FRAMES = (
    Frame(
        "claude",
        frozenset("❯>"),
        True,
        Expression(
            r"\s{0,4}(?:⏵⏵ \w|⏸ \w+ mode on\b|\? for shortcuts\b|esc to interrupt\b)"
            r"|.*\(shift\+tab to cycle\)"
        ),
        Expression(r"[✳✻✶✢✽◐◓◑◒⠂⠐] \S"),
        Expression(r"\s*[▐▝▛▜█▘▀]{2}\S*\s+Claude Code v\d|▔{20}"),
    ),
    Frame(
        "codex",
        frozenset("›"),
        False,
        Expression(
            r".*(?:\? for shortcuts\b|\b\d{1,3}% context left\b|\bf2 to view$)"
            r"|\s{2}(?:gpt|codex|o\d)[\w.-]*(?: \w+)? · [~/]|\s*⏎ send\b"
        ),
        _NOTHING,  # it is the name of its folder
        Expression(r"[\s│]*>_ OpenAI Codex \(v\d"),
    ),
    Frame(
        "gemini",
        frozenset(">"),
        False,
        Expression(
            r".*\bno sandbox\b.*(?:\bgemini-|\bAuto\b|/model\b|% context left)"
            r"|\s*workspace \(/directory\).*/model\b"
        ),
        Expression(r"[◇✦✋⏲]\s+(?:Ready|Working|Action)\b|Gemini - \S"),
        Expression(r".*\bGemini CLI v\d"),
    ),
    Frame(
        "opencode",
        frozenset("┃"),
        False,
        Expression(
            r".*(?:\bctrl\+p commands\b|\btab agents\b)|\s{2}(?:build|plan) · \S.* · [~/]",
            re.IGNORECASE,
        ),
        Expression(r"OpenCode$|OC \| \S"),
        _NOTHING,
    ),
)


def agent_shown(screen: Screen) -> str | None:
    """The agent that plainly drew this screen and waits behind it; None where none did."""
    rows = _rows(screen)
    if not rows or _is_shell(rows):
        return None
    if menu_of(rows) is not None:
        return _asking(rows, screen.title)
    return _typed_into(rows, screen.title)


def is_at_shell(screen: Screen) -> bool:
    """Whether it ends with the prompt of a shell: no agent waits behind it any more."""
    return _is_shell(_rows(screen))


def last_said(text: str) -> str | None:
    """What a person said last, if nothing at all stands between it and the input line."""
    for block in layout.blocks(layout.laid_out(normalise(text)).body):
        if block.place == layout.PROMPT and block.mark:
            return block.text.lstrip()[1:].strip()
        if not all(layout.is_edge(row) or activity.is_hint(row) for row in block.rows):
            return None
    return None


def last_prompt(text: str) -> str | None:
    """What a person said last, whatever came of it; commands of the program do not count."""
    for block in layout.blocks(layout.laid_out(normalise(text)).body):
        if block.place == layout.PROMPT and block.mark:
            said = block.text.lstrip()[1:].replace("┃", " ").strip()
            if said and not chrome.SLASH.match(said):
                return said
    return None


def _rows(screen: Screen) -> list[str]:
    rows = normalise(screen.text)
    if rows and _FOOT.match(rows[-1]):
        rows.pop()
    while rows and not rows[-1].strip():
        rows.pop()
    return rows


def _is_shell(rows: Sequence[str]) -> bool:
    return bool(rows) and chrome.SHELL_PROMPT.match(rows[-1]) is not None


def _asking(rows: Sequence[str], title: str) -> str | None:
    """The agent whose menu stands at the end, above the keys that answer it."""
    if not _MENU_KEYS.match(layout.unboxed(rows[-1])):
        return None
    for frame in FRAMES:
        if frame.title.match(title) or any(map(frame.head.match, rows)):
            return frame.brand
    return None


def _typed_into(rows: list[str], title: str) -> str | None:
    """The agent whose input line this is, and whose status line stands below it."""
    parts = layout.laid_out(rows)
    status = [row for row in parts.status if row.strip()]
    if parts.draft is None or len(status) > STATUS_ROWS_MAX:
        return None
    mark, is_boxed = _input_of(rows[: len(rows) - len(parts.status)])
    for frame in FRAMES:
        if mark not in frame.marks or (frame.is_boxed and not is_boxed):
            continue
        is_own = any(map(frame.status.match, status))
        if is_own or frame.title.match(title):
            return frame.brand if _ends(frame, status) else None
    return None


def _ends(frame: Frame, status: Sequence[str]) -> bool:
    """Whether the last row is the program's own, and no prompt waits below."""
    if not status or frame.status.match(status[-1]):
        return True
    return activity.is_hint(status[-1]) and status[-1][-1] not in chrome.PROMPT


def _input_of(rows: Sequence[str]) -> tuple[str, bool]:
    """The mark of the input line that these rows end with, and whether it is framed."""
    if not layout.is_edge(rows[-1]):
        return rows[-1].lstrip()[:1], False
    inside: list[str] = []
    for row in reversed(rows[:-1]):
        if layout.is_edge(row):
            break
        inside.append(layout.unboxed(row).strip())
    written = [row for row in reversed(inside) if row]
    return (written[0][:1] if written else ""), True
