"""`meta/ralph-state.json` ↔ the state of a book. Bytes in, bytes out.

The fields are documented (docs/book.md, `ralph-state.schema.json`) and other tools may read and
write them: what they add is kept, what is missing has its default, what is wrong is named.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

from segue.core.book import BookState, Breaker
from segue.i18n import _

SCHEMA_VERSION = 1
OWN = "segue"  # the field for what only Segue needs
LIST_MAX = 100_000
NUMBER_MAX = 10**9


class DamagedError(Exception):
    """The bytes are no state of a book; the text says why."""


class NewerError(Exception):
    """The state was written by a newer Segue."""


def schema() -> dict[str, Any]:
    """The JSON Schema of the file."""
    text = files("segue.plans").joinpath("ralph-state.schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


# What each field may be: gives the value as it is used, or None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _count(value: Any) -> int | None:
    whole = _whole(value)
    return whole if whole is not None and 0 <= whole <= NUMBER_MAX else None


def _chapter(value: Any) -> int | None:
    return _count(value) or None


def _whole(value: Any) -> int | None:
    """JSON has one sort of numbers: 3.0 is as whole as 3."""
    if type(value) is float and value.is_integer():
        return int(value)
    return value if type(value) is int else None


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and abs(value) <= NUMBER_MAX else None


def _version(value: Any) -> int | str | None:
    return value if isinstance(value, str) else _whole(value)


def _chapters(value: Any) -> tuple[int, ...] | None:
    if not isinstance(value, list) or len(value) > LIST_MAX:
        return None
    numbers = [_chapter(one) for one in value]
    return None if None in numbers else tuple(sorted({n for n in numbers if n is not None}))


def _by_chapter(of: Callable[[Any], Any]) -> Callable[[Any], dict[int, Any] | None]:
    def read(value: Any) -> dict[int, Any] | None:
        if not isinstance(value, dict) or len(value) > LIST_MAX:
            return None
        found = {}
        for key, one in value.items():
            number = of(one)
            if not (key.isascii() and key.isdigit() and len(key) < 10) or number is None:
                return None
            found[int(key)] = number
        return found

    return read


def _texts(value: Any) -> tuple[str, ...] | None:
    if not isinstance(value, list) or len(value) > LIST_MAX:
        return None
    return tuple(value) if all(isinstance(one, str) for one in value) else None


def _numbers(value: Any) -> tuple[float, ...] | None:
    if not isinstance(value, list) or len(value) > LIST_MAX:
        return None
    return tuple(value) if all(_number(one) is not None for one in value) else None


# Name, how it is read, and whether null is a value
FIELDS: dict[str, tuple[Callable[[Any], Any], bool]] = {
    "schema_version": (_version, False),
    "project_id": (_text, False),
    "mode": (_text, True),
    "ralph_active": (_flag, False),
    "can_resume": (_flag, False),
    "started_at": (_text, True),
    "last_checkpoint": (_text, True),
    "last_updated": (_text, True),
    "completed_at": (_text, True),
    "total_chapters": (_count, False),
    "total_acts": (_count, False),
    "current_act": (_count, False),
    "current_chapter": (_count, False),
    "completed_chapters": (_chapters, False),
    "failed_chapters": (_chapters, False),
    "quality_scores": (_by_chapter(_number), False),
    "last_quality_score": (_number, True),
    "quality_threshold": (_number, False),
    "retry_count": (_count, False),
    "iteration": (_count, False),
    "max_iterations": (_count, False),
    "last_error": (_text, True),
    "pause_reason": (_text, True),
}
BREAKER: dict[str, tuple[Callable[[Any], Any], bool]] = {
    "failure_count": (_count, False),
    "failure_reasons": (_texts, False),
    "triggered": (_flag, False),
}
OWN_FIELDS: dict[str, tuple[Callable[[Any], Any], bool]] = {
    "step": (_count, False),
    "tries": (_by_chapter(_count), False),
    "scores": (_numbers, False),
    "is_written": (_flag, False),
    "is_due": (_flag, False),
    "texts": (_by_chapter(_text), False),
    "by_hand": (_chapters, False),
}


def parse(data: bytes) -> BookState:
    """The state in these bytes. DamagedError says what is wrong, NewerError that we are too old."""
    try:
        found = json.loads(data.decode("utf-8"), parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise DamagedError(_("it is not JSON: {why}").format(why=error)) from error
    if not isinstance(found, dict):
        raise DamagedError(_("it is not a JSON object"))
    _check_version(found.get("schema_version"))
    values = _read(found, FIELDS, "")
    own = found.get(OWN)
    values |= _read(own if isinstance(own, dict) else {}, OWN_FIELDS, f"{OWN}.")
    breaker = found.get("circuit_breaker", {})
    if breaker is not None and not isinstance(breaker, dict):
        raise _wrong("circuit_breaker", breaker)
    more = {k: v for k, v in found.items() if k not in FIELDS and k not in (OWN, "circuit_breaker")}
    values.setdefault("step", values.get("iteration", 0))
    state = BookState(
        **{"project_id": "", "total_chapters": 0, **values},
        circuit_breaker=_breaker(breaker or {}),
        is_ours=isinstance(own, dict),
        more=more,
    )
    _check_numbers(state)
    return state


def _breaker(found: Mapping[str, Any]) -> Breaker:
    more = {name: value for name, value in found.items() if name not in BREAKER}
    return Breaker(**_read(found, BREAKER, "circuit_breaker."), more=more)


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def _no_number(text: str) -> float:
    """What could be read here and by no other tool when it is written again."""
    raise ValueError(text)


def _check_version(version: Any) -> None:
    whole = _whole(version)
    major = str(version if whole is None else whole).partition(".")[0].lstrip("0")
    if major.isascii() and major.isdigit() and (len(major) > 9 or int(major) > SCHEMA_VERSION):
        raise NewerError(str(version))


def _read(
    found: Mapping[str, Any], fields: Mapping[str, tuple[Callable[[Any], Any], bool]], before: str
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, (read, may_be_null) in fields.items():
        if name not in found:
            continue
        given = found[name]
        if given is None and may_be_null:
            values[name] = None
            continue
        value = read(given)
        if value is None:
            raise _wrong(f"{before}{name}", given)
        values[name] = value
    return values


def _wrong(name: str, value: Any) -> DamagedError:
    shown = json.dumps(value, ensure_ascii=False)[:60]
    return DamagedError(_("`{name}` cannot be {value}").format(name=name, value=shown))


def _check_numbers(state: BookState) -> None:
    """Chapters that the book does not have; a reset state has none at all."""
    total = state.total_chapters
    if not total or state.completed_at is not None:
        return
    for name in ("completed_chapters", "failed_chapters"):
        beyond = [n for n in getattr(state, name) if n > total]
        if beyond:
            raise _beyond(name, beyond[0], total)
    if not 1 <= state.current_chapter <= total:
        raise _beyond("current_chapter", state.current_chapter, total)


def _beyond(name: str, chapter: int, total: int) -> DamagedError:
    text = _("`{name}` names chapter {n}, but the book has {total}")
    return DamagedError(text.format(name=name, n=chapter, total=total))


def render(state: BookState) -> bytes:
    """The file's bytes: known fields first, then ours, then what others keep there."""
    told: dict[str, Any] = {name: getattr(state, name) for name in FIELDS}
    told["completed_chapters"] = list(state.completed_chapters)
    told["failed_chapters"] = list(state.failed_chapters)
    told["quality_scores"] = {str(n): score for n, score in sorted(state.quality_scores.items())}
    breaker = state.circuit_breaker
    told["circuit_breaker"] = {
        "failure_count": breaker.failure_count,
        "failure_reasons": list(breaker.failure_reasons),
        "triggered": breaker.triggered,
        **breaker.more,
    }
    told[OWN] = {
        "step": state.step,
        "tries": {str(n): count for n, count in sorted(state.tries.items())},
        "scores": list(state.scores),
        "is_written": state.is_written,
        "is_due": state.is_due,
        "texts": {str(n): text for n, text in sorted(state.texts.items())},
        "by_hand": list(state.by_hand),
    }
    told |= {name: value for name, value in state.more.items() if name not in told}
    return _dump(told)


def render_reset(at: str) -> bytes:
    """The state after a reset: these five fields and no other."""
    return _dump(
        {
            "ralph_active": False,
            "can_resume": False,
            "mode": None,
            "reset_at": at,
            "reset_reason": "user_requested",
        }
    )


def _dump(told: Mapping[str, Any]) -> bytes:
    """Half a surrogate pair, which is no UTF-8, stands there as JSON writes it: escaped."""
    text = json.dumps(told, ensure_ascii=False, indent=2) + "\n"
    return text.encode("utf-8", "backslashreplace")
