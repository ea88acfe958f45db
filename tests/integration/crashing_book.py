"""`segue` that is killed at the nth dangerous moment of a book.

Usage: crashing_book.py N ARGS…   (N = 0: never; the count of moments goes to $MOMENTS)

Beyond the tables and the processes a book changes files: its state with a backup, what was learnt,
texts that make room. A killed writer of a file leaves its temporary file behind.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from segue.cli.main import main
from segue.engine.local import LocalEngine
from segue.store import files
from segue.store.sqlite import Store
from segue.work.book.folder import BookFolder

die_at = int(sys.argv[1])
passed = 0


def moment() -> None:
    global passed  # noqa: PLW0603 - one count for the process
    passed += 1
    if passed == die_at:
        os.kill(os.getpid(), signal.SIGKILL)


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    def dangerous(*args: Any, **kwargs: Any) -> Any:
        moment()
        result = function(*args, **kwargs)
        moment()
        return result

    return dangerous


for owner, name in (
    (Store, "move"),
    (BookFolder, "keep_beside"),
    (BookFolder, "keep_draft"),
    (LocalEngine, "begin"),
    (LocalEngine, "forget"),
):
    setattr(owner, name, guarded(getattr(owner, name)))

replace, write_beside = files.replace, files._write_beside


def replace_in_book(path: Path, *args: Any, **kwargs: Any) -> None:
    """Files of the book; what is in `.segue/` beside the tables can be made again."""
    (replace if ".segue" in path.parts else guarded(replace))(path, *args, **kwargs)


def die_half_way(path: Path, *args: Any, **kwargs: Any) -> Path:
    """The new bytes are there, and not yet in their place."""
    temporary = write_beside(path, *args, **kwargs)
    if path.suffix == ".json":  # the state, its backups
        moment()
    return temporary


files.replace, files._write_beside = replace_in_book, die_half_way

try:
    main(sys.argv[2:])
finally:
    if "MOMENTS" in os.environ:
        Path(os.environ["MOMENTS"]).write_text(str(passed))
