"""Rows of a screen → the conversation above, the input line, what stands below it.

From there it is read upwards, newest block first: a block is what one party said in one go. The
mark at its beginning, and what it hangs from, tell whose it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from segue.dialects.limits.screen import activity, chrome
from segue.dialects.limits.screen.paragraphs import had_room, size_of

INPUT_ROWS_MAX = 30
STATUS_ROWS_MAX = 12
BLOCK_ROWS_MAX = 120
BLOCKS_MAX = 60
ASIDE_ROWS = 12
INDENT_MAX = 3  # of a mark that says who speaks
PROSE_WORDS_MIN = 4

_RULES, _TOPS, _BOTTOMS, _SIDES = map(frozenset, ("─━═▔▁▂▀╌┄┈", "╭┌╔┏", "╰└╚┗", "│┃║|"))

_CORNERS, _RIGHT_SIDES = frozenset("╮┐╗┓╯┘╝┛"), frozenset("│┃║")
_EDGES = _RULES | _BOTTOMS
_OPENINGS = _RULES | _TOPS
_FRAMES = _RULES | _TOPS | _BOTTOMS

# Whose words a block holds.
SPEECH = "speech"  # the agent's
NOTICE = "notice"  # the program's own
PLAIN = "plain"  # nothing tells
PROMPT = "prompt"  # the person's
TOOL = "tool"  # a tool call, or what came of it
LOCAL = "local"  # what a command of the program itself answered
NOTHING = "nothing"  # a rule, a list of tasks


class Block:
    """Rows that belong together, and whose they are."""

    __slots__ = ("lower", "mark", "place", "rows", "text")

    def __init__(self, place: str, rows: tuple[str, ...], mark: str = "") -> None:
        self.place, self.rows, self.mark = place, rows, mark
        self.text = " ".join([row.strip() for row in rows])
        self.lower = self.text.lower()


class Layout(NamedTuple):
    """The parts of a screen. `draft` is what stands in the input line, None without one."""

    body: list[str]
    status: Sequence[str] = ()
    draft: str | None = None


def laid_out(rows: list[str]) -> Layout:
    """Find the input line near the end; what is below it is the program's status."""
    rows = _without_shell(rows)
    found = _framed_input(rows)
    if found is None or any(row.strip() in chrome.PROMPT for row in found.status):
        found = _bare_input(rows) or found  # between rules stood a whole turn
    if found is None:
        return Layout(rows)
    near = [row for row in found.body[-ASIDE_ROWS:] if not (row[:1].isspace() and _is_aside(row))]
    return Layout(found.body[:-ASIDE_ROWS] + near, found.status, found.draft)


def _without_shell(rows: list[str]) -> list[str]:
    """Without the empty prompt of a shell in the last row: the agent was run by a command."""
    last = rows[-1] if rows else ""
    is_shell = last[-1:] in chrome.SHELL_ENDS and chrome.SHELL_PROMPT.match(last) is not None
    return rows[:-1] if is_shell else rows


def _is_aside(row: str) -> bool:
    """A hint at the right edge, above the input line."""
    return row[:20].isspace() and activity.is_hint(row)


def _framed_input(rows: list[str]) -> Layout | None:
    """Between two rules, or in a box: `│ > │`."""
    lowest = max(0, len(rows) - STATUS_ROWS_MAX - 1)
    for end in range(len(rows) - 1, lowest - 1, -1):
        if rows[end].lstrip()[:1] not in _EDGES or not (is_rule(rows[end]) or is_bottom(rows[end])):
            continue
        for start in range(end - 1, max(-1, end - INPUT_ROWS_MAX), -1):
            opening = rows[start]
            if opening.lstrip()[:1] not in _OPENINGS or not (is_rule(opening) or is_top(opening)):
                continue
            inside = [inner for row in rows[start + 1 : end] if (inner := unboxed(row).strip())]
            if inside and chrome.PLACEHOLDER.match(inside[0]):
                return Layout(rows[:start], rows[end + 1 :], "")
            if inside and inside[0][0] in chrome.PROMPT and not chrome.OPTION.match(inside[0]):
                draft = " ".join([inside[0][1:].strip(), *inside[1:]])
                return Layout(rows[:start], rows[end + 1 :], _typed(draft))
            break
    return None


def _bare_input(rows: list[str]) -> Layout | None:
    """A last row that begins as a prompt does, with at most a few rows of status below."""
    below = 0
    for at in range(len(rows) - 1, max(-1, len(rows) - 14), -1):
        mark = rows[at].lstrip()[:1]
        if not mark:
            continue
        if mark not in chrome.PROMPT and not below and chrome.LED.match(rows[at]):
            return Layout(rows[:at], [], "")
        if mark in chrome.PROMPT and not chrome.OPTION.match(rows[at]):
            start = at
            while start > 0 and rows[start - 1][:1] == mark == "┃":
                start -= 1
            draft = " ".join(row.lstrip()[1:].strip() for row in rows[start : at + 1])
            return Layout(rows[: _above_files(rows, start)], rows[at + 1 :], _typed(draft))
        below += 1
        if below > 3 or mark in chrome.MARKS:
            return None
    return None


def _above_files(rows: list[str], start: int) -> int:
    """Where the body ends, if files are listed between a rule and the input line."""
    at = start
    while at > 0 and chrome.FILE.match(rows[at - 1]):
        at -= 1
    return at if 0 < at < start and is_rule(rows[at - 1]) else start


def _typed(draft: str) -> str:
    """What a person typed; nothing where the program shows its own suggestion."""
    draft = draft.strip()
    return "" if chrome.PLACEHOLDER.match(draft) else draft


def blocks(rows: list[str]) -> Iterator[Block]:
    """The blocks of a conversation, newest first."""
    end = len(rows)
    for _count in range(BLOCKS_MAX):
        while end > 0 and not rows[end - 1].strip():
            end -= 1
        if end == 0:
            return
        start = _start(rows, end)
        found = _split(rows[start:end], is_cut_off=start == 0)
        if _is_below_command(rows, start):
            found = (Block(TOOL if b.place == PLAIN else b.place, b.rows, b.mark) for b in found)
        yield from found
        end = start


def _is_below_command(rows: list[str], start: int) -> bool:
    """Whether a command stands above, in a row of its own: then this is what it printed."""
    above = start - 1
    while above >= 0 and not rows[above].strip():
        above -= 1
    if above < 0 or above == start - 1 or not chrome.SHELL.match(rows[above]):
        return False
    if chrome.is_agent_run(rows[above]):
        return False
    return above == 0 or not rows[above - 1].strip()


def _start(rows: list[str], end: int) -> int:
    """Where the block that ends here begins."""
    lowest = max(0, end - BLOCK_ROWS_MAX)
    if is_rule(rows[end - 1]):
        return end - 1
    if is_bottom(rows[end - 1]):
        tops = (at for at in range(end - 1, lowest - 1, -1) if is_top(rows[at]))
        return next(tops, end - 1)
    at = end - 1
    while at > lowest and rows[at - 1].strip() and not is_edge(rows[at - 1]):
        at -= 1
    if at - 1 > lowest and chrome.HTTP_HEADER.match(rows[at - 2]):  # the body of an answer
        above = _start(rows, at - 1)
        if chrome.HTTP_STATUS.match(rows[above]):
            return above
    if _hangs(rows[at]):  # deeply indented: continues what is above the blank row
        above = at
        while above > lowest and not rows[above - 1].strip():
            above -= 1
        if above > lowest and not is_edge(rows[above - 1]):
            return _start(rows, above)
    return at


def _hangs(row: str) -> bool:
    body = row.lstrip()
    is_deep = len(row) - len(body) >= 3
    return is_deep and body[:1] not in chrome.MARKS and not chrome.OPTION.match(row)


def _split(rows: Sequence[str], *, is_cut_off: bool) -> Iterator[Block]:
    """One run of rows may hold several parties: a prompt, and what hangs from it."""
    if len(rows) == 1 and is_edge(rows[0]):
        yield Block(NOTHING, tuple(rows))
        return
    if is_top(rows[0]):
        is_table = not chrome.CROSSINGS.isdisjoint(rows[0])
        rows = rows[1:-1] if is_bottom(rows[-1]) else rows[1:]
        if is_table:
            yield Block(TOOL, tuple(rows))  # a list
            return
        yield from _framed(rows, is_cut_off=False)
        return
    if _is_boxed(rows):
        yield from _framed(rows, is_cut_off=is_cut_off)
        return
    yield from reversed(_parts(rows))


def _is_boxed(rows: Sequence[str]) -> bool:
    """Between sides of a frame that was cut off above or below; a table has sides within, too."""
    mark = rows[0].lstrip()[:1]
    if mark and mark not in _SIDES:
        return False
    written = [row.strip() for row in rows if row.strip()]
    if not all(row[0] in _SIDES and row[-1] in _SIDES for row in written):
        return False
    return not any("|" in row[1:-1] for row in written if row[0] == "|")


def _framed(rows: Sequence[str], *, is_cut_off: bool) -> Iterator[Block]:
    """What the program drew a frame around: a tool's output, or something of its own."""
    inside = [inner for row in rows if (inner := unboxed(row)).strip()]
    if not inside or is_cut_off:
        yield Block(TOOL, tuple(inside))
        return
    shallow = min(map(_indent, inside))
    parts = _parts([row[shallow:] for row in inside])
    for part in reversed(parts):
        is_own = part.place == PLAIN and parts[0].place != TOOL
        place = NOTICE if is_own else TOOL if parts[0].place == TOOL else part.place
        yield Block(place, part.rows, part.mark)


def _parts(rows: Sequence[str]) -> list[Block]:
    parts: list[Block] = []
    begin = 0
    is_run = chrome.is_agent_run(rows[0]) if rows else False
    for at in range(1, len(rows) + 1):
        if at == len(rows) or is_run or _begins(rows, at, rows[begin]):
            parts.append(_part(rows[begin:at], parts))
            begin = at
            is_run = at < len(rows) and chrome.is_agent_run(rows[at])
    return parts


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip())


def _begins(rows: Sequence[str], at: int, head: str) -> bool:
    """Whether a row is the first of another party's. What hangs from a spinner belongs to it, what
    is typed in several rows is indented."""
    row = rows[at]
    body = row.lstrip()
    is_typed = head[:1] in chrome.TYPED and head[1:2] == " " and len(body) == len(row)
    if is_typed and rows[at - 1] == head and had_room(head, body, max(map(size_of, rows))):
        return True
    mark = body[:1]
    if mark in chrome.ELBOW:
        is_nested = head.lstrip()[:1] in chrome.ELBOW and _indent(row) > _indent(head)
        # else it is a tree's branch
        return body[1:2] in ("", " ") and not is_nested and not activity.is_busy(head)
    if len(row) - len(body) > 2 or body[1:2] not in ("", " "):
        return False
    if mark in chrome.PROMPT:
        return row[0] == mark and chrome.ASKED.match(row) is not None
    return mark in chrome.SPEECH or mark in chrome.ALARM or mark in chrome.SPINNER


def _part(rows: Sequence[str], above: Sequence[Block]) -> Block:
    body = rows[0].lstrip()
    mark, text = body[:1], body[1:].strip()
    kept = tuple(rows)
    if mark in chrome.ELBOW and body[1:2] in ("", " "):
        return Block(NOTHING if chrome.TASKS.match(text) else _hung(above), kept, mark)
    if mark in chrome.SPEECH and chrome.HOOKS.match(text):
        return Block(NOTHING, kept, mark)
    if mark in chrome.SPEECH and len(rows[0]) - len(body) <= INDENT_MAX:  # else it is a bullet
        return Block(TOOL if chrome.TOOL.match(text) else SPEECH, kept, mark)
    if chrome.is_agent_run(rows[0]):
        return Block(PROMPT, kept, "$")
    if chrome.is_tool_row(rows[0], mark):
        return Block(TOOL, kept)
    if mark in chrome.ALARM:
        return Block(NOTICE, kept, mark)
    if mark in chrome.PROMPT and text:
        return Block(PROMPT, kept, mark)
    return Block(NOTHING if chrome.TASKS.match(rows[0]) else PLAIN, kept)


def _hung(above: Sequence[Block]) -> str:
    """What hangs from a tool call is its output; a second time, the program itself speaks."""
    if not above:
        return NOTICE
    last = above[-1]
    if last.place == PROMPT:
        return LOCAL if chrome.SLASH.match(last.rows[0].lstrip()[1:]) else NOTICE
    if last.place == NOTHING:
        return NOTHING
    if last.place == NOTICE or (last.place == SPEECH and last.text.endswith(chrome.ENDS)):
        return NOTICE  # nothing hangs from a sentence that has ended
    if last.place == SPEECH and (" failed: " in last.text or _is_prose(last.text)):
        return NOTICE
    return NOTICE if last.mark in chrome.ELBOW else TOOL


def _is_prose(text: str) -> bool:
    """Somebody says something: a call would have brackets, and says less."""
    return "(" not in text and text.count(" ") >= PROSE_WORDS_MIN and "…" not in text


def is_edge(row: str) -> bool:
    """A rule, or the top or the bottom of a frame."""
    return row.lstrip()[:1] in _FRAMES and (is_rule(row) or is_top(row) or is_bottom(row))


def is_rule(row: str) -> bool:
    return (
        len(row) >= 10
        and row[-1] not in _CORNERS
        and row.lstrip()[:1] in _RULES
        and chrome.RULE.match(row) is not None
    )


def is_top(row: str) -> bool:
    is_likely = row.lstrip()[:1] in _TOPS or row[-1:] in _CORNERS
    return is_likely and chrome.BOX_TOP.match(row) is not None


def is_bottom(row: str) -> bool:
    is_likely = row.lstrip()[:1] in _BOTTOMS or row[-1:] in _CORNERS
    return is_likely and chrome.BOX_BOTTOM.match(row) is not None


def unboxed(row: str) -> str:
    """A row without the frame at its sides."""
    body = row.lstrip()
    if body[:1] not in _SIDES:
        return row[:-1].rstrip() if row[-1:] in _RIGHT_SIDES else row
    return body[1:-1].rstrip() if len(body) > 1 and body[-1] in _SIDES else body[1:]
