"""Which files of a workspace the globs of a phase name."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from segue.errors import UserError
from segue.work.phases.workspace import inside

LOOKED_AT_MAX = 200_000


def matching(workspace: Path, patterns: Sequence[str]) -> list[str]:
    """The plain files that any of the globs names, by path; links are none."""
    return sorted({path for pattern in patterns for path in _match(workspace, pattern)})


def fits(pattern: str, path: str) -> bool:
    """Whether a glob names this path; one without wildcards names all below a folder, too."""
    names, parts = _parts(path), _parts(pattern)
    if not any(_is_wild(part) for part in parts):
        return bool(parts) and names[: len(parts)] == parts
    return _fit(names, parts)


def _fit(names: list[str], parts: list[str]) -> bool:
    if not parts:
        return not names
    part, *rest = parts
    if part == "**":
        return _fit(names, rest) or bool(names and _is_shown(names[0]) and _fit(names[1:], parts))
    return (
        bool(names)
        and fnmatchcase(names[0], part)
        and (_is_shown(names[0]) or part.startswith("."))
        and _fit(names[1:], rest)
    )


def _is_shown(name: str) -> bool:
    """As in a shell: a wildcard does not mean hidden files."""
    return not name.startswith(".")


def _is_wild(part: str) -> bool:
    return any(char in part for char in "*?[")


def _parts(path: str) -> list[str]:
    normal = unicodedata.normalize("NFC", path)
    return [part for part in normal.split("/") if part not in ("", ".")]


def _match(workspace: Path, pattern: str) -> Iterator[str]:
    fixed: list[str] = []
    for part in pattern.split("/"):
        if _is_wild(part):
            break
        fixed.append(part)
    start = "/".join(part for part in fixed if part not in ("", "."))
    try:
        top = inside(workspace, start) if start else workspace
    except UserError:
        return
    if pattern.startswith("/") or ".." in pattern.split("/"):
        return
    if top.is_file():
        if fits(pattern, start):
            yield start
        return
    prefix = f"{start}/" if start else ""
    yield from (name for below in _below(top) if fits(pattern, name := prefix + below))


def _below(folder: Path) -> Iterator[str]:
    """The plain files below a folder, up to a number; repositories are not looked into."""
    waiting, looked_at = [""], 0
    while waiting:
        prefix = waiting.pop()
        try:
            with os.scandir(folder / prefix) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name, reverse=True)
        except OSError:
            continue
        for entry in entries:
            looked_at += 1
            if looked_at > LOOKED_AT_MAX:
                return
            if entry.is_dir(follow_symlinks=False):
                if entry.name != ".git":
                    waiting.append(f"{prefix}{entry.name}/")
            elif entry.is_file(follow_symlinks=False):
                yield f"{prefix}{entry.name}"
