"""`.develop-workflow/state.yaml` ↔ where a feature stands. Bytes in, bytes out.

The file is a person's, too: what changes is changed at its place (`develop_lines.py`), so that
comments, unknown keys and the look of the rest survive. Where a value is written in a way that
cannot be edited so, the whole is written again by the YAML library, which keeps comments and keys
but not every blank.
"""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from typing import Any

from segue.core.develop import ITERATIONS_MAX, Feature, Phase, Progress, Status, Strategy
from segue.i18n import _
from segue.plans import develop_lines, safe_yaml
from segue.plans.develop_lines import quoted
from segue.plans.safe_yaml import UnreadableError

BYTES_MAX = 1024 * 1024
BYTE_ORDER_MARK = "\ufeff"
CHANGING = ("phase", "strategy", "updated_at", "checkpoints")


class BrokenError(Exception):
    """The file is no state of a feature. Lines and columns are counted from 1."""

    def __init__(self, why: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(why)
        self.line = line
        self.column = column


def parse(data: bytes) -> Feature:
    found = _load(data)
    if not isinstance(found, dict):
        raise BrokenError(_("it is empty") if found is None else _("it is not a mapping"), 1, 1)
    feature = _text(found, "feature", data)
    return Feature(
        feature=feature or "",
        phase=_member(found, "phase", Phase, data),
        strategy=_member(found, "strategy", Strategy, data) if found.get("strategy") else None,
        started_at=str(found.get("started_at") or ""),
        updated_at=str(found.get("updated_at") or ""),
        checkpoints=_checkpoints(found.get("checkpoints"), data),
    )


def _load(data: bytes) -> Any:
    if len(data) > BYTES_MAX:
        raise BrokenError(_("it is too long"))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace").split("\n")
        raise BrokenError(str(error), len(before), len(before[-1]) + 1) from error
    try:
        return safe_yaml.load(text)
    except UnreadableError as error:
        raise BrokenError(str(error), error.line, error.column) from error


def _text(found: dict[Any, Any], key: str, data: bytes) -> str | None:
    value = found.get(key)
    if not isinstance(value, str) or not value.strip():
        raise _wrong(key, value, _("text"), data)
    return value


def _member(found: dict[Any, Any], key: str, kind: Any, data: bytes) -> Any:
    value = found.get(key)
    try:
        return kind(value)
    except ValueError:
        raise _wrong(key, value, ", ".join(kind), data) from None


def _wrong(key: str, value: Any, wanted: str, data: bytes) -> BrokenError:
    if value is None:
        text = _("`{key}` is missing; it must be: {wanted}").format(key=key, wanted=wanted)
    else:
        shown = json.dumps(value, ensure_ascii=False, default=str)[:60]
        text = _("`{key}` cannot be {value}; it must be: {wanted}").format(
            key=key, value=shown, wanted=wanted
        )
    line, column = where(key, data)
    return BrokenError(text, line, column)


def where(key: str, data: bytes) -> tuple[int, int]:
    """The line of a key and the column of its value, counted from 1."""
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        match = re.match(rf"(\s*[\"']?{re.escape(key)}[\"']?\s*:\s*)", line)
        if match:
            return number, match.end() + 1
    return 1, 1


def _checkpoints(found: Any, data: bytes) -> dict[str, Progress]:
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise _wrong("checkpoints", found, "{ cp-1: { status: …, iteration: … } }", data)
    read = {}
    for id, value in found.items():
        if not isinstance(value, dict):
            raise _wrong(str(id), value, "{ status: pending, iteration: 0 }", data)
        status, iteration = value.get("status"), value.get("iteration", 0)
        if status not in tuple(Status):
            raise _wrong(str(id), status, ", ".join(Status), data)
        if type(iteration) is not int or not 0 <= iteration <= ITERATIONS_MAX:
            raise _wrong(str(id), iteration, f"0-{ITERATIONS_MAX}", data)
        read[str(id)] = Progress(Status(status), iteration)
    return read


# Writing


def render(feature: Feature) -> bytes:
    """A new file."""
    lines = [f"phase: {feature.phase}"]
    if feature.strategy:
        lines.append(f"strategy: {feature.strategy}")
    lines += [
        f"feature: {quoted(feature.feature)}",
        f"started_at: {quoted(feature.started_at)}",
        f"updated_at: {quoted(feature.updated_at)}",
    ]
    return ("\n".join(lines) + "\n" + develop_lines.block(feature)).encode()


def edit(data: bytes, feature: Feature) -> bytes:
    """The file with these values; whatever else is in it stays."""
    parse(data)
    text = data.decode("utf-8")
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    text = text.removeprefix(mark)
    new = develop_lines.changed(text, feature)
    if new is None or not _says(new, text, feature):
        new = _again(text, feature)
    return (mark + new).encode()


def _says(new: str, old: str, feature: Feature) -> bool:
    """Whether a text has these values, and all else as it was."""
    try:
        found = parse(new.encode())
    except BrokenError:
        return False
    wanted = replace(feature, started_at=found.started_at, feature=found.feature)
    return (
        {**found.checkpoints, **feature.checkpoints} == found.checkpoints
        and replace(found, checkpoints={}) == replace(wanted, checkpoints={})
        and _others(_load(new.encode())) == _others(_load(old.encode()))
    )


def _others(found: dict[Any, Any]) -> Any:
    """What the file says besides the values that change."""
    rest = {key: value for key, value in found.items() if key not in CHANGING}
    for id, value in (found.get("checkpoints") or {}).items():
        more = {key: one for key, one in value.items() if key not in ("status", "iteration")}
        if more:
            rest["checkpoints", id] = more
    return rest


def _again(text: str, feature: Feature) -> str:
    """By the library: comments and unknown keys stay, blanks may change."""
    from ruamel.yaml import YAML  # noqa: PLC0415 - only features need it

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.composer.warn_double_anchors = False
    found = yaml.load(text)
    found["phase"] = str(feature.phase)
    if feature.strategy is not None:
        found["strategy"] = str(feature.strategy)
    found["updated_at"] = feature.updated_at
    places = found.get("checkpoints")
    if places is None:
        places = found["checkpoints"] = {}
    names = {str(key): key for key in places}
    for key, progress in feature.checkpoints.items():
        name = names.get(key, key)
        place = places.setdefault(name, {})
        place["status"], place["iteration"] = str(progress.status), progress.iteration
    out = io.StringIO()
    yaml.dump(found, out)
    new = out.getvalue()
    return new.replace("\n", "\r\n") if "\r\n" in text else new
