"""What a value of the settings may be: each function gives it as it is used, or None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from segue.core.durations import parse_duration


def text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def whole(low: int, high: int) -> Callable[[Any], int | None]:
    return lambda v: v if type(v) is int and low <= v <= high else None


def number(low: float, high: float) -> Callable[[Any], float | None]:
    def read(value: Any) -> float | None:
        fits = isinstance(value, int | float) and type(value) is not bool and low <= value <= high
        return float(value) if fits else None

    return read


def texts(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return tuple(value)
    return None


def any_texts(value: Any) -> tuple[str, ...] | None:
    """A list of texts that may be empty."""
    return () if value == [] else texts(value)


def inside(value: Any) -> tuple[str, ...] | None:
    """Paths or globs that do not lead out of the folder they are taken from."""
    found = texts(value)
    if found is None or any(
        path.startswith(("/", "~")) or ".." in path.split("/") for path in found
    ):
        return None
    return found


def one_of(names: tuple[str, ...]) -> Callable[[Any], str | None]:
    return lambda v: v if v in names else None


def table(value: Any) -> dict[str, str] | None:
    if isinstance(value, dict) and all(isinstance(v, str) for v in value.values()):
        return value
    return None


def flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def duration(value: Any) -> float | None:
    return parse_duration(value) if isinstance(value, str) else None


def length(value: Any) -> float | None:
    """A duration with its unit, or a number of seconds."""
    seconds = duration(value) if isinstance(value, str) else value
    return number(0.001, 1e8)(seconds)


def readable_by(parse: Callable[[str], object]) -> Callable[[Any], str | None]:
    def read(value: Any) -> str | None:
        try:
            parse(value)
        except (ValueError, AttributeError, TypeError):
            return None
        return str(value)

    return read
