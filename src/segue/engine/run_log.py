"""`.segue/logs/run.log`: warnings and errors of runs, kept after the terminal is gone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from segue.engine.clock import Clock
from segue.store import files

FILE = "run.log"
BYTES_MAX = 4 * 1024 * 1024  # then it is put aside, as the only one
MARKS = ("[WARN]", "[ERROR]")  # how a line of the log begins, in every language


def line_of(event: str, facts: Mapping[str, object]) -> str | None:
    """The line of the log that an event is, without its time; None where it is none."""
    text = str(facts.get("text", ""))
    is_line = event == "notice" and (text.startswith(MARKS) or bool(facts.get("is_log")))
    return text if is_line else None


def logged(folder: Path, clock: Clock, emit: Callable[..., None]) -> Callable[..., None]:
    """An `emit` that keeps lines of the log in a file as well."""

    def emit_and_keep(event: str, **facts: object) -> None:
        line = line_of(event, facts)
        if line is not None:
            with suppress(OSError):  # the disk is full: it is shown all the same
                _add(folder, f"[{clock.now().astimezone():%Y-%m-%d %H:%M:%S}] {line}\n")
        emit(event, **facts)

    return emit_and_keep


def _add(folder: Path, line: str) -> None:
    path = folder / FILE
    if path.exists() and path.stat().st_size > BYTES_MAX:
        path.replace(folder / "run.old.log")
    with open(path, "a", encoding="utf-8", opener=files.private) as log:
        log.write(line)
