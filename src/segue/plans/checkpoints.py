"""The checkpoints in a design document: a fenced block with the info string `yaml checkpoints`."""

from __future__ import annotations

import re
from typing import Any

from segue.core.cells import visible
from segue.core.develop import Checkpoint
from segue.i18n import _
from segue.plans import safe_yaml
from segue.plans.safe_yaml import UnreadableError

CHECKPOINTS_MAX = 200
_FENCE = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^\n`]*?)[ \t]*$")
_ID = re.compile(r"[^\W_][\w.-]{0,63}")
RESERVED = frozenset({"design", "review", "check", "merge"})  # the tasks of the other phases
EXAMPLE = """\
```yaml checkpoints
- id: cp-1
  description: what is there when it is done
  validate: pytest -q tests/test_store.py
  depends: []
  files: ["src/store.py", "tests/test_store.py"]
```"""


class CheckpointsError(Exception):
    """What is wrong with the block, for the author who must fix it. `line`: in the document."""

    def __init__(self, why: str, line: int | None = None) -> None:
        super().__init__(why)
        self.line = line


def read(text: str) -> list[Checkpoint]:
    """The checkpoints of a document, in its order."""
    block, line = _block(text)
    found = _load(block, line)
    if not isinstance(found, list) or not found:
        raise CheckpointsError(_("the block `yaml checkpoints` must be a non-empty list"), line)
    if len(found) > CHECKPOINTS_MAX:
        raise CheckpointsError(_("more than {n} checkpoints").format(n=CHECKPOINTS_MAX), line)
    checkpoints = [_one(entry, number, line) for number, entry in enumerate(found, 1)]
    _check(checkpoints, line)
    return checkpoints


def _block(text: str) -> tuple[str, int]:
    """The last block of that name, and the line of its first entry."""
    lines = text.splitlines()
    found: tuple[str, int] | None = None
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if opening is None:
            at += 1
            continue
        end = _closing(lines, at + 1, opening["fence"])
        if opening["info"].lower().split() == ["yaml", "checkpoints"]:
            found = ("\n".join(lines[at + 1 : end]), at + 2)
        at = end + 1
    if found is None:
        text = _("the document has no block ```yaml checkpoints; it looks like this:\n{example}")
        raise CheckpointsError(text.format(example=EXAMPLE))
    return found


def _closing(lines: list[str], start: int, fence: str) -> int:
    for number in range(start, len(lines)):
        line = lines[number].strip()
        if line and line == line[0] * len(line) and line[0] == fence[0] and len(line) >= len(fence):
            return number
    return len(lines)


def _load(block: str, line: int) -> Any:
    try:
        return safe_yaml.load(block)
    except UnreadableError as error:
        raise CheckpointsError(str(error), line + (error.line or 1) - 1) from error


def _one(entry: Any, number: int, line: int) -> Checkpoint:
    if not isinstance(entry, dict):
        raise CheckpointsError(
            _("entry {n} is not a mapping with id, description and validate").format(n=number), line
        )
    id = entry.get("id")
    if not isinstance(id, str) or not _ID.fullmatch(id):
        raise CheckpointsError(_("entry {n} has no `id` such as cp-1").format(n=number), line)
    if id in RESERVED:
        text = _(
            "a checkpoint cannot be called {id}: Segue uses this name for its own "
            "steps; choose another `id`"
        )
        raise CheckpointsError(text.format(id=id), line)
    validate = entry.get("validate")
    if not isinstance(validate, str) or not validate.strip():
        raise CheckpointsError(
            _(
                "{id} has no `validate`: a command that exits with 0 when the checkpoint is done"
            ).format(id=id),
            line,
        )
    return Checkpoint(
        id=id,
        description=_printable(str(entry.get("description") or id)),
        validate=validate.strip(),
        depends=_texts(entry, "depends", id, line),
        files=_texts(entry, "files", id, line),
        line=line,
    )


def _printable(text: str) -> str:
    """An agent's words, without what could move a terminal's cursor."""
    return "\n".join(visible(line) for line in text.strip().splitlines())


def _texts(entry: dict[str, Any], key: str, id: str, line: int) -> tuple[str, ...]:
    value = entry.get(key) or []
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise CheckpointsError(
            _("`{key}` of {id} must be a list of texts").format(key=key, id=id), line
        )
    return tuple(value)


def _check(checkpoints: list[Checkpoint], line: int) -> None:
    known: dict[str, Checkpoint] = {}
    for one in checkpoints:
        if one.id in known:
            raise CheckpointsError(_("{id} appears twice").format(id=one.id), line)
        known[one.id] = one
    for one in checkpoints:
        for other in one.depends:
            if other not in known:
                text = _("{id} depends on {other}, which does not exist")
                raise CheckpointsError(text.format(id=one.id, other=other), line)
    _check_circles(known, line)


def _check_circles(known: dict[str, Checkpoint], line: int) -> None:
    settled: set[str] = set()
    while len(settled) < len(known):
        free = [id for id, one in known.items() if id not in settled and settled >= {*one.depends}]
        if not free:
            left = ", ".join(id for id in known if id not in settled)
            raise CheckpointsError(_("they depend on each other: {ids}").format(ids=left), line)
        settled.update(free)
