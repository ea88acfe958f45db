"""A chapter that was given up is to be written after all."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import partial

from segue.core import book as rules
from segue.engine.kind import Skippable, Unskipped
from segue.engine.standing import Standing
from segue.plans import book_state
from segue.work.book.folder import BookFolder
from segue.work.owned import owned

CHAPTER = re.compile(r"(?:ch|chapter|제)?[\s-]*0*([1-9][0-9]{0,5})(?:장|\..*)?", re.IGNORECASE)


def find_task(work: Standing, name: str) -> Skippable | None:
    state = BookFolder(work.path).load() if work.problem is None else None
    match = CHAPTER.fullmatch(name.strip())
    if state is None or match is None or int(match[1]) > state.total_chapters:
        return None
    number = int(match[1])
    return Skippable(number in state.failed_chapters, partial(_unskip, work, name, number))


def _unskip(work: Standing, name: str, number: int) -> Unskipped:
    """The chapter is open again; what stands in its place is kept beside when it is written."""
    folder = BookFolder(work.path)
    with owned(work.path, work.kind):
        state = folder.load()
        assert state is not None
        folder.save(book_state.render(rules.unskipped(state, number)), datetime.now(UTC))
    return Unskipped(name, work.path, work.kind, "segue resume --continue")
