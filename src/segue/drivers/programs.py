"""Where a program lives: the folders that it needs to run, if it is not one of the system's."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

SCRIPT_BYTES = 256  # of a script's first line
PACKAGES = "node_modules"
LEVELS_MAX = 4  # a script run by a script run by …


def program_folders(
    program: str, env: Mapping[str, str], guarded: tuple[Path, ...]
) -> tuple[Path, ...]:
    """The folders, or single files, of a program, of what it links to and of its interpreter.
    None of them contains a guarded path."""
    found: dict[Path, None] = {}
    for _level in range(LEVELS_MAX):
        path = shutil.which(program, path=env.get("PATH"))
        if path is None:
            break
        for one in (Path(path).absolute(), Path(os.path.realpath(path))):
            found[_narrowed(one, guarded)] = None
        interpreter = _interpreter(Path(path))
        if interpreter is None:
            break
        program = interpreter
    return tuple(found)


def _narrowed(path: Path, guarded: tuple[Path, ...]) -> Path:
    """The widest folder around a program that is its own: an installation, its folder, itself."""
    for folder in (*_installations(path), path.parent):
        if not any(one.is_relative_to(folder) for one in guarded):
            return folder
    return path


def _installations(path: Path) -> list[Path]:
    if PACKAGES in path.parts:
        return [Path(*path.parts[: path.parts.index(PACKAGES) + 1])]
    prefix = path.parent.parent
    is_own = path.parent.name == "bin" and prefix.name != ".local"
    if is_own and ((prefix / "pyvenv.cfg").is_file() or (prefix / "lib").is_dir()):
        return [prefix]
    return []


def _interpreter(path: Path) -> str | None:
    """What a script says that it is run by."""
    try:
        with path.open("rb") as file:
            first = file.read(SCRIPT_BYTES).partition(b"\n")[0]
    except OSError:
        return None
    if not first.startswith(b"#!"):
        return None
    words = os.fsdecode(first[2:]).split()
    if words and words[0].endswith("/env"):
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return words[0] if words else None
