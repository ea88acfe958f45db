"""Changes within the text of `.develop-workflow/state.yaml`, each at the place of its value.

The YAML library says where every value begins and ends; only those characters are replaced, so
that comments, blanks, line ends and keys of a person stay byte for byte. What is written in a way
that has no such place (an alias, one line of braces for the whole) is left to the caller: None.
"""

from __future__ import annotations

import json
import re
from typing import Any

from segue.core.develop import Feature, Progress
from segue.plans import safe_yaml

Change = tuple[int, int, str]  # from, to, the text in its place
INDENT = 2
NO_TEXTS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def changed(text: str, feature: Feature) -> str | None:
    """The text with these values, or None where it takes more than that."""
    root = safe_yaml.compose(text)
    if root.flow_style:
        return None
    sheet = _Sheet(text, root)
    sheet.set("phase", str(feature.phase), after=())
    if feature.strategy is not None:
        sheet.set("strategy", str(feature.strategy), after=("phase",))
    sheet.set("updated_at", quoted(feature.updated_at), after=("started_at", "feature"))
    is_done = not feature.checkpoints or sheet.set_checkpoints(feature)
    return sheet.text() if is_done else None


class _Sheet:
    """A text, the places of its values, and what is to be changed."""

    def __init__(self, text: str, root: Any) -> None:
        self._text = text
        self._line_end = "\r\n" if "\r\n" in text else "\n"
        self._values = _values(root)
        self._changes: list[Change] = []

    def text(self) -> str:
        text = self._text
        for start, end, new in sorted(self._changes, key=lambda one: one[0], reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def set(self, key: str, value: str, *, after: tuple[str, ...]) -> None:
        """The value of a key at the top level; a missing key gets a line behind another one."""
        if key in self._values:
            self._put(self._values[key], value)
            return
        place = next(self._values[name] for name in after if name in self._values)
        self._insert_below(place, f"{key}: {value}")

    def set_checkpoints(self, feature: Feature) -> bool:
        block = self._values.get("checkpoints")
        known = _values(block) if block is not None and block.id == "mapping" else {}
        if len({id(node) for node in known.values()}) < len(known):
            return False  # one is an alias of another
        old = [id for id in feature.checkpoints if id in known]
        if not all(self._set_one(known[id], feature.checkpoints[id]) for id in old):
            return False
        new = {id: one for id, one in feature.checkpoints.items() if id not in known}
        if not new:
            return True
        if known and block is not None and block.flow_style:
            at = list(known.values())[-1].end_mark.index
            more = "".join(f", {_entry(id, one)}" for id, one in new.items())
            self._changes.append((at, at, more))
        else:
            self._add_block(block, new)
        return True

    def _set_one(self, node: Any, progress: Progress) -> bool:
        values = _values(node) if node.id == "mapping" else {}
        if "status" not in values or not (node.flow_style or "iteration" in values):
            return False
        self._put(values["status"], str(progress.status))
        if "iteration" in values:
            self._put(values["iteration"], str(progress.iteration))
        elif progress.iteration:
            at = values["status"].end_mark.index
            self._changes.append((at, at, f", iteration: {progress.iteration}"))
        return True

    def _add_block(self, block: Any, new: dict[str, Progress]) -> None:
        """Lines at the end of the block, which may be missing, or empty."""
        keys = [key for key, _value in block.value] if block and block.id == "mapping" else []
        blanks = " " * (keys[0].start_mark.column if keys else INDENT)
        lines = [f"{blanks}{_entry(id, one)}" for id, one in new.items()]
        if block is None:
            end = len(self._text)
            before = "" if self._text.endswith("\n") else self._line_end
            text = self._line_end.join(["checkpoints:", *lines])
            self._changes.append((end, end, before + text + self._line_end))
            return
        start, end = block.start_mark.index, block.end_mark.index
        if not keys and start < end:  # {}, null or ~
            start = len(self._text[:start].rstrip(" \t"))
            self._changes.append((start, end, ""))
        self._insert_below(_last(block), self._line_end.join(lines))

    def _put(self, node: Any, value: str) -> None:
        if node.id == "scalar" and node.value == value:
            return
        start, end = node.start_mark.index, node.end_mark.index
        blank = " " if start == end and self._text[start - 1 : start] == ":" else ""
        self._changes.append((start, end, blank + value))

    def _insert_below(self, node: Any, lines: str) -> None:
        """Below the line on which a value ends."""
        at = node.end_mark.index
        if self._text[at - 1] != "\n":
            end = self._text.find("\n", at)
            if end < 0:
                end = len(self._text)
                self._changes.append((end, end, self._line_end + lines))
                return
            at = end + 1
        self._changes.append((at, at, lines + self._line_end))


def _values(mapping: Any) -> dict[str, Any]:
    return {str(key.value): value for key, value in mapping.value}


def _last(node: Any) -> Any:
    """The value that stands last in a block: the block's own end lies behind its comments."""
    while node.id != "scalar" and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if node.id == "mapping" else last
    return node


def _entry(id: str, one: Progress) -> str:
    return f"{_key(id)}: {{ status: {one.status}, iteration: {one.iteration} }}"


def block(feature: Feature) -> str:
    """The checkpoints of a new file."""
    lines = [f"{' ' * INDENT}{_entry(id, one)}\n" for id, one in feature.checkpoints.items()]
    return "checkpoints:\n" + "".join(lines) if lines else ""


def quoted(text: str) -> str:
    """A text on one line, safe in YAML: JSON's way is a part of it."""
    return json.dumps(text, ensure_ascii=False)


def _key(id: str) -> str:
    """Bare where every reader of YAML takes it for a text."""
    is_bare = re.fullmatch(r"[A-Za-z][\w-]*", id) and id.lower() not in NO_TEXTS
    return id if is_bare else quoted(id)
