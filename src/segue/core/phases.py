"""The phases of a task, as the task keeps them: a later change of its type does not change it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any


@dataclass(frozen=True, slots=True)
class Phase:
    """`deliverables` are globs from the workspace. `reviewer`: the name of an agent, or none."""

    name: str
    deliverables: tuple[str, ...] = ()
    min_chars: int = 0
    verify: str | None = None
    reviewer: str | None = None
    steps: tuple[str, ...] = ()


def to_text(phases: tuple[Phase, ...]) -> str:
    return json.dumps([asdict(phase) for phase in phases], ensure_ascii=False)


@lru_cache(maxsize=256)  # tasks of one type have the same
def from_text(text: str) -> tuple[Phase, ...]:
    return tuple(_read(found) for found in json.loads(text))


def _read(found: Mapping[str, Any]) -> Phase:
    return Phase(
        found["name"],
        tuple(found["deliverables"]),
        found["min_chars"],
        found["verify"],
        found["reviewer"],
        tuple(found["steps"]),
    )
