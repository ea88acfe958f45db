"""`segue` that is killed at the nth dangerous moment: before or after each change of state.

    forked("kit.crashing", [KIND, N, *ARGS], …)

KIND says which changes count (`plan`, `book`; `notices`: only what is sent to people). With N = 0 it is never killed. Where it ends by
itself, it writes the count of moments to `$MOMENTS`.
"""

from __future__ import annotations

import inspect
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kit.forks import forked
from segue.cli.main import main
from segue.drivers import notify
from segue.engine.accounts import Accounts
from segue.engine.executors.job_output import JobOutput
from segue.engine.executors.process import ProcessExecutor
from segue.engine.outbox import Outbox
from segue.store import files
from segue.store.sqlite import Store
from segue.work.book.folder import BookFolder

CHANGES: dict[str, tuple[tuple[Any, str], ...]] = {
    "plan": (
        (Store, "move"),
        (files, "exchange_if"),
        (ProcessExecutor, "begin"),
        (ProcessExecutor, "forget"),
        (JobOutput, "_hear"),
        (notify, "post"),
        (Accounts, "park"),
        (Accounts, "probe"),
    ),
    "book": (
        (Store, "move"),
        (BookFolder, "keep_beside"),
        (BookFolder, "keep_draft"),
        (ProcessExecutor, "begin"),
        (ProcessExecutor, "forget"),
    ),
    "notices": ((Outbox, "send_due"), (Outbox, "_keep"), (notify, "post")),
}


def crashing(
    kind: str, folder: Path, die_at: int, *args: str,
    ends: tuple[int, ...] = (0,), more_env: Mapping[str, str] | None = None,
) -> int:  # fmt: skip
    """Run `segue ARGS` in a folder; one of `ends` where it came to its end, -9 where it was
    killed."""
    here = {"MOMENTS": str(folder / "moments"), "SEGUE_LANG": "en"}
    env = {**os.environ, **here, **(more_env or {})}
    done = forked("kit.crashing", [kind, str(die_at), *args], folder, env)
    assert done.returncode in (*ends, -9), done.stdout + done.stderr
    return done.returncode


class Moments:
    """Counts them, and dies at the one that was chosen."""

    def __init__(self, die_at: int) -> None:
        self.die_at, self.passed = die_at, 0

    def come(self) -> None:
        self.passed += 1
        if self.passed == self.die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def environment(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function with a moment before it and one behind it."""

        def dangerous(*args: Any, **kwargs: Any) -> Any:
            self.come()
            result = function(*args, **kwargs)
            self.come()
            return result

        async def dangerous_wait(*args: Any, **kwargs: Any) -> Any:
            self.come()
            result = await function(*args, **kwargs)
            self.come()
            return result

        return dangerous_wait if inspect.iscoroutinefunction(function) else dangerous


def guard_files_of_book(moments: Moments) -> None:
    """Beyond the tables and the processes a book changes files: its state with a backup, what was
    learnt, texts that make room. A killed writer of a file leaves its temporary file behind."""
    replace, write_beside = files.replace, files._write_beside

    def replace_in_book(path: Path, *args: Any, **kwargs: Any) -> None:
        """Files of the book; what is in `.segue/` beside the tables can be made again."""
        (replace if ".segue" in path.parts else moments.environment(replace))(path, *args, **kwargs)

    def die_half_way(path: Path, *args: Any, **kwargs: Any) -> Path:
        """The new bytes are there, and not yet in their place."""
        temporary = write_beside(path, *args, **kwargs)
        if path.suffix == ".json":  # the state, its backups
            moments.come()
        return temporary

    files.replace, files._write_beside = replace_in_book, die_half_way


def run(words: list[str]) -> None:
    kind, die_at, *args = words
    moments = Moments(int(die_at))
    for owner, name in CHANGES[kind]:
        setattr(owner, name, moments.environment(getattr(owner, name)))
    if kind == "book":
        guard_files_of_book(moments)
    try:
        main(args)
    finally:
        Path(os.environ["MOMENTS"]).write_text(str(moments.passed))
