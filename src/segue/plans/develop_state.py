"""`.develop-workflow/state.yaml` ↔ where a feature stands. Bytes in, bytes out.

The file is a person's, too: what changes is changed in its line, so that comments, unknown keys
and the look of the rest survive. Where a line is written in a way that cannot be edited so, the
whole is written again by the YAML library, which keeps comments and keys but not every blank.
"""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from typing import Any

from segue.core.develop import ITERATIONS_MAX, Feature, Phase, Progress, Status, Strategy
from segue.i18n import _

BYTES_MAX = 1024 * 1024
_COMMENT = r"(?P<rest>\s*(?:\s#.*)?)"


class BrokenError(Exception):
    """The file is no state of a feature. Lines and columns are counted from 1."""

    def __init__(self, why: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(why)
        self.line = line
        self.column = column


def parse(data: bytes) -> Feature:
    found = _load(data)
    if not isinstance(found, dict):
        raise BrokenError(_("it is empty") if found is None else _("it is no mapping"), 1, 1)
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
    from ruamel.yaml import YAML  # noqa: PLC0415 - only features need it
    from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415

    if len(data) > BYTES_MAX:
        raise BrokenError(_("it is far too long"))
    try:
        return YAML(typ="safe", pure=True).load(data.decode("utf-8"))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        raise BrokenError(str(error.problem or error.context), line, column) from error
    except (YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise BrokenError(str(error).splitlines()[0]) from error


def _text(found: dict[Any, Any], key: str, data: bytes) -> str | None:
    value = found.get(key)
    if not isinstance(value, str) or not value.strip():
        raise _wrong(key, value, _("a text"), data)
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
    line, column = _where(key, data)
    return BrokenError(text, line, column)


def _where(key: str, data: bytes) -> tuple[int | None, int | None]:
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
        f"feature: {_quoted(feature.feature)}",
        f"started_at: {_quoted(feature.started_at)}",
        f"updated_at: {_quoted(feature.updated_at)}",
    ]
    text = "\n".join(lines) + "\n"
    return _with_checkpoints(text, feature).encode()


def edit(data: bytes, feature: Feature) -> bytes:
    """The file with these values; whatever else is in it stays."""
    text = data.decode("utf-8")
    before = parse(data)
    text = _set(text, "phase", str(feature.phase), after=None)
    if feature.strategy is not None:
        text = _set(text, "strategy", str(feature.strategy), after="phase")
    text = _set(text, "updated_at", _quoted(feature.updated_at), after="started_at")
    for id, progress in feature.checkpoints.items():
        if id in before.checkpoints and before.checkpoints[id] != progress:
            text = _set_checkpoint(text, id, progress)
    text = _with_checkpoints(text, feature, known=set(before.checkpoints))
    new = text.encode()
    return new if _says(new, feature) else _again(data, feature)


def _says(data: bytes, feature: Feature) -> bool:
    try:
        found = parse(data)
    except BrokenError:
        return False
    wanted = replace(feature, started_at=found.started_at, feature=found.feature)
    return {**found.checkpoints, **feature.checkpoints} == found.checkpoints and (
        replace(found, checkpoints={}) == replace(wanted, checkpoints={})
    )


def _set(text: str, key: str, value: str, *, after: str | None) -> str:
    """The value of a key at the top level; a key that is missing comes behind another one."""
    line = rf"^(?P<key>{key}\s*:[ \t]*)(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s#\"'][^#\n]*?)?"
    pattern = re.compile(line + r"(?P<rest>[ \t]*(?:[ \t]#[^\n]*)?)$", re.MULTILINE)
    if match := pattern.search(text):
        key_text = match["key"] if match["key"][-1] in " \t" else match["key"] + " "
        return f"{text[: match.start()]}{key_text}{value}{match['rest']}{text[match.end() :]}"
    place = re.search(rf"^{after}\s*:[^\n]*\n", text, re.MULTILINE) if after else None
    at = place.end() if place else 0
    return f"{text[:at]}{key}: {value}\n{text[at:]}"


def _set_checkpoint(text: str, id: str, progress: Progress) -> str:
    """Its values within its line, or within the lines below it."""
    name = rf"^[ \t]+[\"']?{re.escape(id)}[\"']?\s*:"
    in_line, below = r"[ \t]*\{[^}\n]*\}", r"[^\n{]*\n(?:[ \t]+[^\n]*\n?){1,4}"
    match = re.search(rf"{name}(?:{in_line}|{below})", text, re.MULTILINE)
    if match is None:
        return text
    status, iteration = rf"\g<1>{progress.status}", rf"\g<1>{progress.iteration}"
    part = re.sub(r"(\bstatus\s*:\s*)[\"']?\w+[\"']?", status, match[0], count=1)
    part = re.sub(r"(\biteration\s*:\s*)\d+", iteration, part, count=1)
    return text[: match.start()] + part + text[match.end() :]


def _with_checkpoints(text: str, feature: Feature, known: set[str] | None = None) -> str:
    """Checkpoints that the file does not have yet, at the end of their block."""
    new = [id for id in feature.checkpoints if id not in (known or set())]
    if not new:
        return text
    lines = "".join(
        f"  {_key(id)}: {{ status: {progress.status}, iteration: {progress.iteration} }}\n"
        for id, progress in feature.checkpoints.items()
        if id in new
    )
    if block := re.search(r"^checkpoints\s*:[^\n]*\n(?:[ \t]+[^\n]*\n|[ \t]*\n)*", text, re.M):
        head = re.sub(r"^(checkpoints\s*:)\s*(?:\{\s*\}|null|~)", r"\1", block[0])
        return text[: block.start()] + head + lines + text[block.end() :]
    end = "" if text.endswith("\n") or not text else "\n"
    return f"{text}{end}checkpoints:\n{lines}"


def _again(data: bytes, feature: Feature) -> bytes:
    """By the library: comments and unknown keys stay, blanks may change."""
    from ruamel.yaml import YAML  # noqa: PLC0415 - only features need it

    yaml = YAML()
    yaml.preserve_quotes = True
    found = yaml.load(data.decode("utf-8"))
    found["phase"] = str(feature.phase)
    if feature.strategy is not None:
        found["strategy"] = str(feature.strategy)
    found["updated_at"] = feature.updated_at
    if feature.checkpoints and found.get("checkpoints") is None:
        found["checkpoints"] = {}
    for id, progress in feature.checkpoints.items():
        place = found["checkpoints"].setdefault(id, {})
        place["status"], place["iteration"] = str(progress.status), progress.iteration
    out = io.StringIO()
    yaml.dump(found, out)
    return out.getvalue().encode()


def _quoted(text: str) -> str:
    """A text on one line, safe in YAML: JSON's way is a part of it."""
    return json.dumps(text, ensure_ascii=False)


def _key(id: str) -> str:
    return id if re.fullmatch(r"[A-Za-z][\w-]*", id) else _quoted(id)
