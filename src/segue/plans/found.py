"""What the scanner finds, as indexes of lines: open items and blocks, tasks, faults."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from segue.plans.comments import Remark
from segue.plans.grammar import COMMENT_CLOSE
from segue.plans.head import Head
from segue.plans.lines import Place


class Fault(NamedTuple):
    """A problem whose line is still an index: `at`."""

    at: int
    code: str
    message: str
    hint: str


class Kind(IntEnum):
    PLAIN = 0  # an item without a mark, in no task
    TASK = 1
    INNER = 2  # an item inside a task
    TEXT = 3  # a marked item that is no task, and all below it


class Open(NamedTuple):
    """An open list item."""

    indent: int
    content: int
    kind: Kind


class Script(NamedTuple):
    """The text of a fenced block that a shell can run."""

    column: int
    indexes: list[int]


class StepAt(NamedTuple):
    at: int
    mark_at: int
    text: str


class Entry:
    """One task as found: where everything stands that belongs to it."""

    __slots__ = (
        "anchor", "at", "content", "errors", "fields", "group", "head", "indent", "is_open_end",
        "mark_at", "own", "remarks", "retries", "scripts", "steps", "version", "wave",
    )  # fmt: skip

    def __init__(self, at: int, mark_at: int, indent: int, content: int, head: Head) -> None:
        self.at = at
        self.mark_at = mark_at
        self.indent = indent
        self.content = content
        self.head = head
        self.wave = 0
        self.group = 0  # how many headings stand above
        self.fields: list[tuple[str, str, int]] = [(*pair, at) for pair in head.fields]
        self.steps: list[StepAt] = []
        self.own: list[int] = []  # the lines of the body
        self.scripts: list[Script] = []
        self.anchor = at  # the last line of the block that is not blank
        self.is_open_end = False  # does the block end inside a fence or a comment?
        self.errors: list[Place] = []
        self.retries: list[Place] = []
        self.remarks: list[Remark] = []
        self.version = 0


class Block:
    """An open fence (`fence` is its marker) or HTML comment (`fence` is empty)."""

    __slots__ = ("at", "fence", "floor", "is_owned", "script")

    def __init__(
        self, at: int, fence: bytes, floor: int, *, is_owned: bool, script: Script | None
    ) -> None:
        self.at = at
        self.fence = fence
        self.floor = floor
        self.is_owned = is_owned
        self.script = script

    def is_closed_by(self, text: bytes) -> bool:
        if not self.fence:
            return COMMENT_CLOSE in text
        bare = text.rstrip()
        return len(bare) >= len(self.fence) and not bare.strip(self.fence[:1])
