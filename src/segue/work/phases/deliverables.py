"""What a phase must deliver: found by globs, kept for comparison, put together at the end.

Everything is read through `workspace.open_inside`: an agent's links lead nowhere. What matches
is bounded in number and size, because an agent can make any number of files of any size.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from segue.core.phases import Phase
from segue.errors import AgentError, UserError
from segue.i18n import _
from segue.store import files
from segue.work.phases import own_checks
from segue.work.phases.matching import matching
from segue.work.phases.workspace import open_inside

FILES_MAX = 10_000
BYTES_MAX = 512 * 2**20  # of all together
CHUNK_BYTES = 1 << 20
DIFF_BYTES_MAX = 512 * 1024  # of each side
NO_NEWLINE = "\n\\ No newline at end of file"  # as git says it
DIFF_LINES_MAX = 4000  # of each side
DIFF_CHARS_MAX = 200_000
ZIP_DATE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Deliverable:
    """A file as it was found. Without a checksum it is too large to be kept."""

    path: str
    size: int
    sha256: str


def collect(workspace: Path, patterns: Sequence[str]) -> list[Deliverable]:
    """The files that the globs name, by path; one more than the most that is kept if there are
    more. Nothing raises: what is not there, or is a link, is not found."""
    found: list[Deliverable] = []
    room = BYTES_MAX
    for path in matching(workspace, patterns):
        if len(found) > FILES_MAX:
            break
        try:
            with os.fdopen(open_inside(workspace, path), "rb") as file:
                size = os.fstat(file.fileno()).st_size
                digest = ""
                if size <= room:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                    size = file.tell()
        except (OSError, UserError):
            continue
        room -= size if digest else 0
        found.append(Deliverable(path, size, digest))
    return found


def look_through(phase: Phase, workspace: Path) -> list[str]:
    """What is wanting of a phase's deliverables as they lie there, in words."""
    return check(phase, collect(workspace, phase.deliverables), workspace)


def check(phase: Phase, found: Sequence[Deliverable], workspace: Path) -> list[str]:
    """What is wanting of a phase's deliverables, in words; empty: nothing is."""
    if reasons := too_much(found):
        return reasons
    return own_checks.shortcomings(phase, {item.path: item.size for item in found}, workspace)


def too_much(found: Sequence[Deliverable]) -> list[str]:
    """What cannot be kept of it, in words."""
    if len(found) > FILES_MAX:
        return [_("the deliverables match more than {n} files").format(n=FILES_MAX)]
    text = _("{path} is too large: the limit for all files together is {n} MB")
    return [text.format(path=item.path, n=BYTES_MAX // 2**20) for item in found if not item.sha256]


def keep_round(workspace: Path, folder: Path, deliverables: Sequence[Deliverable]) -> None:
    """Copies of what a person is shown, to compare the next round with; whole or not at all.

    AgentError: they are too much, or were changed since they were collected.
    """
    if folder.exists():
        return  # by a supervisor that was killed behind it
    _check_bounds(deliverables)
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for leftover in folder.parent.glob(f".{folder.name}.segue-*"):
            shutil.rmtree(leftover)
        temporary = folder.with_name(f".{folder.name}.segue-{os.getpid()}")
        temporary.mkdir(mode=0o700)
        for item in deliverables:
            target = temporary / item.path
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with target.open("xb") as file:
                for chunk in _read(workspace, item):
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
        temporary.rename(folder)
        files.sync_folder(folder.parent)
    except OSError as error:
        raise files.in_words(error, folder) from error


def diff(old: bytes, new: bytes, name: str = "") -> str:
    """What changed from one round to the next, as a unified diff; bounded, and says so."""
    if old == new:
        return ""
    sides = [_text_lines(side) for side in (old, new)]
    if sides[0] is None or sides[1] is None:
        return _(
            "{path} changed; it is too large or not text, so the changes are not shown"
        ).format(path=name)
    lines = difflib.unified_diff(
        sides[0], sides[1], fromfile=f"a/{name}", tofile=f"b/{name}", lineterm=""
    )
    text = "\n".join(lines)
    if len(text) > DIFF_CHARS_MAX:
        cut = text[:DIFF_CHARS_MAX].rpartition("\n")[0]
        return cut + "\n" + _("… more changes not shown")
    return text


def _text_lines(side: bytes) -> list[str] | None:
    if len(side) > DIFF_BYTES_MAX or b"\0" in side or side.count(b"\n") > DIFF_LINES_MAX:
        return None
    *lines, last = side.decode("utf-8", "replace").split("\n")
    return [*lines, last + NO_NEWLINE] if last else lines


def write_zip(path: Path, workspace: Path, deliverables: Sequence[Deliverable]) -> None:
    """All deliverables in one file; the same ones give the same bytes.

    AgentError: they are too much, or were changed since they were collected.
    """
    _check_bounds(deliverables)
    temporary = path.with_name(f".{path.name}.segue-{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for leftover in path.parent.glob(f".{path.name}.segue-*"):
            leftover.unlink()
        with temporary.open("xb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
                for item in sorted(deliverables, key=lambda item: item.path):
                    _add(packed, workspace, item)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        files.sync_folder(path.parent)
    except OSError as error:
        raise files.in_words(error, path) from error
    finally:
        temporary.unlink(missing_ok=True)


def _check_bounds(found: Sequence[Deliverable]) -> None:
    if reasons := too_much(found):
        raise AgentError(reasons[0])


def _add(packed: zipfile.ZipFile, workspace: Path, item: Deliverable) -> None:
    name = os.fsencode(item.path).decode("utf-8", "replace")
    about = zipfile.ZipInfo(name, ZIP_DATE)
    about.compress_type = zipfile.ZIP_DEFLATED
    about.create_system = 3  # Unix, so that the mode counts
    about.external_attr = 0o100644 << 16
    about.file_size = item.size
    with packed.open(about, "w") as target:
        for chunk in _read(workspace, item):
            target.write(chunk)


def _read(workspace: Path, item: Deliverable) -> Iterator[bytes]:
    """A deliverable's bytes, if they are still those that were found."""
    digest = hashlib.sha256()
    try:
        with os.fdopen(open_inside(workspace, item.path), "rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                digest.update(chunk)
                yield chunk
    except (FileNotFoundError, UserError) as error:
        raise _changed(item) from error
    if digest.hexdigest() != item.sha256:
        raise _changed(item)


def _changed(item: Deliverable) -> AgentError:
    text = _("{path} has changed since the phase was completed")
    return AgentError(text.format(path=item.path))
