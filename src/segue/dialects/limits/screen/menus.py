"""A menu that waits for a key: its question and its entries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from segue.dialects.limits.lazy_regex import Expression
from segue.dialects.limits.screen import chrome
from segue.dialects.limits.screen.layout import is_edge, is_top, unboxed
from segue.dialects.limits.wording import words

ROWS_BELOW_MAX = 8
QUICK_ROWS = 14
TITLE_ROWS_MAX = 10
_MAY_BE = (
    "1. ",
    "2. ",
    "1) ",
    "1: ",
    "enter to",
    "return to",
    "/n",
    "arrow",
    "esc to c",
    "esc to go",
)
_CONFIRM = Expression(
    r"\b(?:enter|return) to (?:confirm|select|continue|submit)\b|\besc(?:ape)? to (?:cancel|exit"
    r"|go back)"
    r"|↑/?↓|\buse (?:the )?arrow",
    re.IGNORECASE,
)
# The same in a row that says nothing else.
_KEYS = Expression(
    r"\W*(?:press |use |hit |type )?(?:the )?(?:enter|return|esc|tab|space|arrow|↑|↓|[a-z]+ keys)\b"
    r"|\W*↑/?↓",
    re.IGNORECASE,
)
_CURSOR = Expression(r"\s*[❯›▶]\s+\S")
_YES_NO = Expression(r"(?:\(y/n\)|\[y/n\]|\(yes/no\))\s*:?\s*$", re.IGNORECASE)
_WAITS = Expression(
    r"\bwait\b.{0,40}\b(?:limit|resets?|continue)|\blimits?\b.{0,30}\bresets?\b"
    r"|\bstop and wait\b(?! for (?:the )?(?!usage|rate|limit|quota|reset|window|session|week)\w)",
    re.IGNORECASE,
)
_COSTS = Expression(
    r"\b(?:upgrade|buy|purchase|add (?:funds|credits)|extra usage|pay|subscribe|switch)\b",
    re.IGNORECASE,
)
_MAY_I = Expression(
    r"(?:Do you want|Would you like) to (?:proceed|make|create|run|allow|apply)\b", re.IGNORECASE
)
_BOXES = ("☐", "☒", "☑", "✔")
_OWN_WORDS = ("Type something", "Chat about this", "Other (")
_ENTRY_INDENT = 5


class Menu(NamedTuple):
    """`waits`: one of its entries is to wait for a limit's reset."""

    above: list[str]
    title: tuple[str, ...]
    entries: tuple[str, ...] = ()
    cursor: int | None = None  # which entry it is on

    @property
    def is_question(self) -> bool:
        """The agent itself asks: such a menu has a heading with a box, and takes other words."""
        if self.title and self.title[0][:1] in _BOXES:
            return True
        if self.title and _MAY_I.match(self.title[-1]):
            return True
        if self.title and self.title[0][:1] in chrome.SPEECH and self.title[-1].endswith("?"):
            return True
        return any(entry.startswith(_OWN_WORDS) for entry in self.entries)

    @property
    def waits(self) -> bool:
        return any(map(self.is_wait, self.entries))

    @staticmethod
    def is_wait(entry: str) -> bool:
        """An entry that waits, and costs nothing."""
        return _WAITS.search(entry) is not None and _COSTS.search(entry) is None


def menu_of(rows: list[str]) -> Menu | None:
    """The menu at the end of a screen, if one waits there."""
    last = "\n".join(rows[-QUICK_ROWS:])
    if "↓" not in last and not words.has_any(words.plain_lower(last), _MAY_BE):
        return None
    entries: list[tuple[int, str, bool]] = []
    below = 0
    is_confirmed = False
    for at in range(len(rows) - 1, max(-1, len(rows) - 40), -1):
        row = unboxed(rows[at])
        if not row.strip() or is_edge(rows[at]):
            continue
        option = chrome.OPTION.match(row)
        if option:
            entries.append((at, option["text"].strip(), bool(option["cursor"])))
        elif entries:
            if len(row) - len(row.lstrip()) < _ENTRY_INDENT:
                break  # else it is an entry's second row
        else:
            is_confirmed = is_confirmed or _CONFIRM.search(row) is not None
            below += 1
            if below > ROWS_BELOW_MAX or (below > 2 and not is_confirmed):
                break
    if not entries:
        return _unnumbered(rows) if is_confirmed else _yes_no(rows)
    if not (is_confirmed or any(has_cursor for _at, _text, has_cursor in entries)):
        return None
    entries.reverse()
    cursor = next((n for n, (_at, _text, has_cursor) in enumerate(entries) if has_cursor), None)
    return _menu(rows, entries[0][0], [text for _at, text, _cursor in entries], cursor)


def _menu(rows: list[str], first: int, entries: Sequence[str], cursor: int | None) -> Menu:
    """The rows directly above the entries are the question."""
    start = first
    while start > 0 and (not unboxed(rows[start - 1]).strip() or is_top(rows[start - 1])):
        start -= 1
    title: list[str] = []
    while start > 0 and len(title) < TITLE_ROWS_MAX:
        row = rows[start - 1]
        if not unboxed(row).strip() or is_edge(row):
            break
        title.append(unboxed(row).strip())
        start -= 1
    return Menu(rows[:start], tuple(reversed(title)), tuple(entries), cursor)


def _unnumbered(rows: list[str]) -> Menu | None:
    """Entries without numbers: the row with the cursor and its neighbours, above the hint."""
    last = next(at for at in range(len(rows) - 1, -1, -1) if _CONFIRM.search(rows[at]))
    if not _KEYS.match(rows[last]):
        return None  # a message that may be cancelled, no menu
    end = last
    while end > 0 and not unboxed(rows[end - 1]).strip():
        end -= 1
    cursor = next(
        (at for at in range(end - 1, max(-1, end - 6), -1) if _CURSOR.match(unboxed(rows[at]))),
        None,
    )
    if cursor is None:
        return None
    column = len(rows[cursor]) - len(unboxed(rows[cursor]).lstrip(" ❯›▶"))
    start = cursor
    while start > 0 and len(rows[start - 1]) - len(rows[start - 1].lstrip()) == column:
        start -= 1
    entries = [unboxed(row).strip(" ❯›▶") for row in rows[start:end]]
    return _menu(rows, start, entries, cursor - start)


def _yes_no(rows: list[str]) -> Menu | None:
    if rows and _YES_NO.search(rows[-1]):
        return Menu(rows[:-1], (rows[-1].strip(),))
    return None
