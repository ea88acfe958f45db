"""From lines to the places of tasks: what is an item, whose it is, and what is only text.

Theory of operation. Lines are taken one by one. `_stack` holds the list items that are open,
the outermost first; `_task` is the one among them that is a task (a task holds steps, never
tasks); `_block` is the fence or HTML comment that is open, inside which nothing else counts.
The first byte of a line chooses its reading.

Segue's own comments are passed over as if they were not there: they close nothing, open
nothing, and count as no line between others. So writing or removing one can never change
what the rest of the file means.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from segue.i18n import _
from segue.plans import grammar, misspelt
from segue.plans.comments import read_comment
from segue.plans.fields import KEY_CHARS_MAX, LIST_FIELDS, split_field, split_key
from segue.plans.found import Block, Entry, Fault, Kind, Open, Script, StepAt
from segue.plans.grammar import BOM, COMMENT_CLOSE, COMMENT_OPEN, INDENT, column_of
from segue.plans.head import parse_head
from segue.plans.lines import Lines

_KEY_BYTES_MAX = 4 * KEY_CHARS_MAX


class Scanner:
    def __init__(self, lines: Lines, start: int) -> None:
        self.entries: list[Entry] = []
        self.faults: list[Fault] = []
        self.notes: list[tuple[int, str, str]] = []  # bullets `word: text` that are no fields
        self.has_waves = False
        self.unclosed_at: int | None = None  # a fence or comment that runs to the end of the file
        self.nameless_at: int | None = None  # a marked item that is no task for want of an id
        self._lines = lines
        self._stack: list[Open] = []
        self._task: Entry | None = None
        self._block: Block | None = None
        self._gap = False  # is the line above blank?
        self._above: bytes | None = None  # the paragraph above, outside of every list
        self._listing: tuple[str, int] | None = None  # a list field whose values are items below
        self._wave = 0
        self._headings = 0
        self._in_conflict = False
        for index in range(start, len(lines.raw)):
            self._line(index, lines.raw[index])
        if self._block is not None:
            self.unclosed_at = self._block.at

    def _line(self, index: int, line: bytes) -> None:
        if index == 0:
            line = line.removeprefix(BOM)
        text = line.lstrip(INDENT)
        if not text or text.isspace():
            self._blank(index)
            return
        column = len(line) - len(text)
        if column and b"\t" in line[:column]:
            column = column_of(line[:column])
        first = text[0]
        if first == 60 and self._task is not None and self._is_remark(index, text, column):
            return
        gap, self._gap = self._gap, False
        if self._block is not None and self._is_inside(index, text, column):
            return
        if self._listing is not None and column <= self._listing[1]:
            self._listing = None
        above, self._above = self._above, None
        if above is not None and column < grammar.CODE_COLUMNS_MIN:
            if first in b"=-" and grammar.UNDERLINE.match(text):
                self._headed(above)
                return
            if first not in self._READ:
                self._above = above  # its first line is what a heading begins with
                return
        read = self._READ.get(first)
        if read is None:
            self._text(index, text, column, gap)
        else:
            read(self, index, text, column, gap)

    def _blank(self, index: int) -> None:
        self._gap = True
        self._above = None
        block = self._block
        if block is not None and block.script is not None:
            block.script.indexes.append(index)
        if self._task is not None and self._task.own and (block is None or block.is_owned):
            self._task.own.append(index)

    # Blocks: fences and comments

    def _is_inside(self, index: int, text: bytes, column: int) -> bool:
        """Is this line part of the open block? One that is not deep enough ends it."""
        block = self._block
        if block is None or column < block.floor:
            self._block = None
            return False
        is_end = block.is_closed_by(text)
        if is_end:
            self._block = None
        elif block.script is not None:
            block.script.indexes.append(index)
        if block.is_owned:
            self._own(index, is_open=not is_end)
        return True

    def _fence(self, index: int, text: bytes, column: int, gap: bool) -> None:
        match = grammar.FENCE.match(text)
        if match is None:
            self._text(index, text, column, gap)
            return
        self._settle(column, gap)
        self._open_block(index, match[1] or match[3], column, match[2] or match[4] or b"")

    def _angle(self, index: int, text: bytes, column: int, gap: bool) -> None:
        if not text.startswith(COMMENT_OPEN):
            self._conflict(index, text, column)
            self._text(index, text, column, gap)
            return
        self._settle(column, gap)
        self._comment(index, text, column)

    def _comment(self, index: int, text: bytes, column: int) -> None:
        if COMMENT_CLOSE not in text:
            self._open_block(index, b"", column)
        elif self._task is not None and column > self._task.indent:
            self._own(index)

    def _open_block(self, index: int, fence: bytes, column: int, info: bytes = b"") -> None:
        task = self._task
        is_owned = task is not None and column > task.indent
        script: Script | None = None
        if task is not None and is_owned:
            self._own(index, is_open=True)
            if fence and grammar.is_script(info):
                script = Script(column, [])
                task.scripts.append(script)
        holder = self._holder(column)
        floor = min(column, holder.content) if holder else 0
        self._block = Block(index, fence, floor, is_owned=is_owned, script=script)

    def _is_remark(self, index: int, text: bytes, column: int) -> bool:
        """Take in Segue's own comment. In a block it counts only if it is not deep enough."""
        task, block = self._task, self._block
        if task is None or column <= task.indent or (block and column >= block.floor):
            return False
        remark = read_comment(text)
        if remark is None:
            return False
        (task.errors if remark.retries_used is None else task.retries).append(index)
        task.remarks.append(remark)
        if block is None:
            task.anchor, task.is_open_end = index, False
        return True

    # Everything that is not an item

    def _text(self, index: int, text: bytes, column: int, gap: bool) -> None:
        if self._stack:
            self._settle(column, gap)
        if not self._stack:
            if column < grammar.CODE_COLUMNS_MIN:
                self._above = text
            return
        task = self._task
        if task is None or column <= task.indent:
            return
        holder = self._holder(column)
        if holder is not None and holder.kind is Kind.TASK and self._field(index, text, column):
            return
        self._own(index)

    def _quote(self, index: int, text: bytes, column: int, gap: bool) -> None:
        self._conflict(index, text, column)
        self._settle(column, gap)
        if self._task is not None and column > self._task.indent:
            self._own(index)

    def _heading(self, index: int, text: bytes, column: int, gap: bool) -> None:
        match = grammar.HEADING.match(text)
        if match is None or (not self._stack and column >= grammar.CODE_COLUMNS_MIN):
            self._text(index, text, column, gap)
            return
        self._break(index, column)
        if not self._stack:
            self._headed(text)

    def _headed(self, text: bytes) -> None:
        """A heading outside of every list."""
        self._headings += 1
        wave = grammar.wave_of(text, self._wave)
        if wave is not None:
            self._wave, self.has_waves = wave, True

    def _break(self, index: int, column: int) -> None:
        """A heading or a rule: ends every item that it is not inside of."""
        self._settle(column, True)
        if self._task is not None:
            self._own(index)

    def _conflict(self, index: int, text: bytes, column: int) -> None:
        """Git's conflict markers; one problem for each conflict, at its first marker."""
        if column or not grammar.CONFLICT.match(text):
            return
        is_end = text[:1] == b">"
        if not (is_end and self._in_conflict):
            message = _("git conflict markers: the plan has an unresolved merge conflict")
            hint = _("keep one side and delete the lines <<<<<<<, ======= and >>>>>>>")
            self.faults.append(Fault(index, "conflict_markers", message, hint))
        self._in_conflict = not is_end

    # Items

    def _item(self, index: int, text: bytes, column: int, gap: bool) -> None:
        match = grammar.ITEM.match(text)
        if (match is None or match[3] is None) and grammar.RULE.match(text):
            self._break(index, column)
            return
        if match is None:
            self._text(index, text, column, gap)
            return
        if not self._stack and column >= grammar.CODE_COLUMNS_MIN:
            return
        stack = self._stack
        while stack and stack[-1].indent > column - grammar.NEST_COLUMNS_MIN:
            self._pop()
        marker, space, mark = match.groups()
        content = grammar.content_column(column, marker, space or b"")
        if mark is None:
            self._plain(index, text[match.end() :], column, content)
            return
        mark_at = len(self._lines.raw[index]) - len(text) + match.start(3)
        rest = text[match.end() :]
        if self._task is not None:
            self._task.steps.append(StepAt(index, mark_at, grammar.decode(rest).strip()))
            self._stack.append(Open(column, content, Kind.INNER))
            self._own(index)
        else:
            self._marked(index, rest, column, content, mark_at)

    def _marked(self, index: int, rest: bytes, column: int, content: int, mark_at: int) -> None:
        head = parse_head(grammar.decode(rest))
        parent = self._stack[-1].kind if self._stack else None
        if parent is not None and (parent is not Kind.PLAIN or head.id is None):
            self._stack.append(Open(column, content, Kind.TEXT))
            if self.nameless_at is None:
                self.nameless_at = index
            return
        self._check_utf8(index, rest)
        self._task = entry = Entry(index, mark_at, column, content, head)
        entry.wave, entry.group = self._wave, self._headings
        self.entries.append(entry)
        self.faults += [Fault(index, *misspelt.in_words(*pair)) for pair in head.misspelt]
        self._stack.append(Open(column, content, Kind.TASK))

    def _plain(self, index: int, rest: bytes, column: int, content: int) -> None:
        parent = self._stack[-1].kind if self._stack else Kind.PLAIN
        is_child = parent is Kind.TASK
        self._stack.append(Open(column, content, Kind.INNER if is_child else parent))
        task = self._task
        if task is not None and self._listing is not None:
            self._check_utf8(index, rest)
            task.fields.append((self._listing[0], grammar.decode(rest).strip(), index))
            self._mark_end(task, index)
        elif is_child and self._field(index, rest, column, is_bullet=True):
            return
        elif rest.startswith(COMMENT_OPEN):
            self._own(index)
            self._comment(index, rest, content)
        elif match := grammar.FENCE.match(rest):
            self._open_block(index, match[1] or match[3], content, match[2] or match[4] or b"")
        else:
            self._own(index)

    def _field(self, index: int, text: bytes, column: int, *, is_bullet: bool = False) -> bool:
        """Take in a field of the open task; False if the line is none."""
        head = text[:_KEY_BYTES_MAX]
        if b":" not in head and b"\xef\xbc\x9a" not in head:
            return False
        line = grammar.decode(text)
        found = split_field(line)
        task = self._task
        if found is None or task is None:
            self._other_word(index, line, is_bullet)
            return False
        self._check_utf8(index, text)
        name, value = found
        if name in LIST_FIELDS and not value:
            self._listing = (name, column)
        else:
            task.fields.append((name, value, index))
        self._mark_end(task, index)
        return True

    def _other_word(self, index: int, line: str, is_bullet: bool) -> None:
        """A key that is no field's: nearly one, or a word of the text."""
        found = split_key(line)
        meant = misspelt.meant(*found) if found is not None else None
        if found is not None and meant is not None:
            self.faults.append(Fault(index, *misspelt.in_words(found[0], meant)))
        elif is_bullet and (note := misspelt.noted(line)) is not None:
            self.notes.append((index, *note))

    def _check_utf8(self, index: int, text: bytes) -> None:
        if not text.isascii() and not grammar.is_utf8(text):
            message = _("this line of a task is not UTF-8")
            hint = _("save the file as UTF-8, or rewrite the line")
            self.faults.append(Fault(index, "not_utf8", message, hint))

    # The stack

    def _settle(self, column: int, gap: bool) -> None:
        """Behind a blank line, close the items that this line is not deep enough for.

        Right behind other text it continues the paragraph, and closes nothing.
        """
        if gap:
            while self._stack and self._stack[-1].indent >= column:
                self._pop()

    def _pop(self) -> None:
        if self._stack.pop().kind is Kind.TASK:
            self._task = None

    def _holder(self, column: int) -> Open | None:
        """The innermost open item that a line at this column belongs to."""
        for item in reversed(self._stack):
            if item.indent < column:
                return item
        return None

    def _own(self, index: int, *, is_open: bool = False) -> None:
        """The line belongs to the body of the open task, if there is one."""
        task = self._task
        if task is not None:
            if not task.own or task.own[-1] != index:
                task.own.append(index)
            self._mark_end(task, index, is_open=is_open)

    @staticmethod
    def _mark_end(task: Entry, index: int, *, is_open: bool = False) -> None:
        task.anchor, task.is_open_end = index, is_open

    _READ: ClassVar[dict[int, Callable[[Scanner, int, bytes, int, bool], None]]] = {
        **dict.fromkeys(b"-*+0123456789_", _item),
        **dict.fromkeys(b"`~", _fence),
        ord("<"): _angle,
        ord(">"): _quote,
        ord("#"): _heading,
    }
