"""How the programs' own tools are called: the one that runs a command, the one that writes.

Which tool there is, the program says itself: the first one of these tables that it offers.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

WHY = "asked for by the fake model"


@dataclass(frozen=True, slots=True)
class Command:
    """The model wants a command to be run."""

    line: str


@dataclass(frozen=True, slots=True)
class File:
    """The model wants a file to be written."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """The call of one tool by its name."""

    tool: str
    arguments: dict[str, Any]


SHELLS: dict[str, Callable[[str], dict[str, Any]]] = {
    "Bash": lambda line: {"command": line, "description": WHY},
    "exec_command": lambda line: {"cmd": line},
    "shell_command": lambda line: {"command": line},
    "shell": lambda line: {"command": ["bash", "-lc", line]},
    "run_shell_command": lambda line: {"command": line, "description": WHY},
    "bash": lambda line: {"command": line, "description": WHY},
}
WRITERS: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "Write": lambda path, text: {"file_path": path, "content": text},
    "write_file": lambda path, text: {"file_path": path, "content": text},
    "write": lambda path, text: {"filePath": path, "content": text},
}


def call_for(wish: Command | File, offered: Sequence[str]) -> Call | None:
    """The call that does it with the tools there are; a file by a command where none writes."""
    if isinstance(wish, File):
        for tool, arguments in WRITERS.items():
            if tool in offered:
                return Call(tool, arguments(wish.path, wish.text))
        wish = Command(f"printf %s {shlex.quote(wish.text)} > {shlex.quote(wish.path)}")
    for shell, arguments_of in SHELLS.items():
        if shell in offered:
            return Call(shell, arguments_of(wish.line))
    return None
