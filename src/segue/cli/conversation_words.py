"""A conversation on a terminal: who spoke, tools folded to their first lines, diffs in colour."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from segue.cli.console import Styled
from segue.dialects.conversation.item import DIFF
from segue.i18n import _, ngettext
from segue.work.conversation import Entry

Line = tuple[str | Styled, ...]
RESULT_LINES = 5
TEXT_LINES = 400
COLOURS = {"+": "green", "-": "red", "@": "cyan"}
SIGNS = {"[x]": "✔", "[~]": "▶", "[ ]": "○"}


class Words:
    """Lines for each entry. A tool call is shown once it begins; its result follows below it."""

    def __init__(self, *, full: bool = False) -> None:
        self._full = full
        self._run = ""
        self._calls: set[tuple[str, int]] = set()
        self.has_printed = False

    def lines(self, entry: Entry) -> Iterator[Line]:
        self.has_printed = True
        if entry.role != "person" and entry.run != self._run:
            self._run = entry.run
            yield from _head(entry)
        item = entry.item
        match item.kind:
            case "tool" | "diff":
                yield from self._tool(entry)
            case "todos":
                for line in item.text.splitlines():
                    yield (f"  {SIGNS.get(line[:3], line[:3])}{line[3:]}",)
            case "error":
                yield from _block("✘ ", "red", item.text)
            case "message":
                yield from _block("👤 ", "cyan", item.text)
            case _:
                yield from ((line,) for line in item.text.splitlines()[:TEXT_LINES])
                yield ("",)

    def _tool(self, entry: Entry) -> Iterator[Line]:
        item, key = entry.item, (entry.run, entry.item.n)
        if key not in self._calls:
            self._calls.add(key)
            what = item.input if item.kind == DIFF else item.text
            yield Styled(f"⚙ {item.tool}", "magenta", bold=True), f" {what or ''}"
            if item.kind == DIFF:
                yield from self._folded(item.text, _coloured)
        if item.result is not None:
            yield from self._folded(item.result, _failed if item.is_error else str)

    def _folded(self, text: str, shown: Callable[[str], str | Styled]) -> Iterator[Line]:
        lines = text.splitlines()
        kept = lines if self._full else lines[:RESULT_LINES]
        for line in kept:
            yield "  │ ", shown(line)
        if more := len(lines) - len(kept):
            text = ngettext("… {n} more line (--full)", "… {n} more lines (--full)", more)
            yield ("  │ " + text.format(n=more),)


def _failed(line: str) -> Styled:
    return Styled(line, "red")


def _coloured(line: str) -> str | Styled:
    colour = COLOURS.get(line[:1])
    return Styled(line, colour) if colour else line


def _block(sign: str, colour: str, text: str) -> Iterator[Line]:
    for number, line in enumerate(text.splitlines()[:TEXT_LINES]):
        yield (Styled(sign if number == 0 else "  ", colour, bold=True), Styled(line, colour))


def _head(entry: Entry) -> Iterator[Line]:
    at = f" · {entry.item.at.astimezone():%H:%M:%S}" if entry.item.at else ""
    name = _("check") if entry.role == "check" else entry.agent
    what = _("attempt {n}").format(n=entry.attempt)
    yield (Styled(f"── {name} · {what}{at} ", "blue", bold=True), "─" * 20)
