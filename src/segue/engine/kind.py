"""What a kind of work says of itself while it is idle: how it stands, what continuing would do,
what a person can do about it. How a plan runs is said by its `Source` (`plan/source.py`).

Each kind has a `kind.py` that imports no more than it is asked for; `work/kinds.py` has them all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from segue.engine.standing import Known, Standing
from segue.errors import Bug
from segue.i18n import _
from segue.store.lock import Holder

# What a person can do about each kind of gate
GATE_ACTS = {
    "question": ("answer",),
    "budget": ("answer", "approve"),
    "review": ("answer", "approve"),
    "dependency": ("answer", "approve"),
    "pane": ("wake",),
}


@dataclass(frozen=True, slots=True)
class Found:
    """One piece of work that was begun, and what can be done about it."""

    path: Path
    kind: str
    resumable: bool
    why: str
    next: str
    redone: str
    lost: str
    cost: str
    state: dict[str, Any]
    holder: Holder | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "path": str(self.path),
            "kind": self.kind,
            "resumable": self.resumable,
            "why": self.why,
            "next": self.next,
            "redone": self.redone,
            "lost": self.lost,
            "cost": self.cost,
        }


@dataclass(frozen=True, slots=True)
class Unskipped:
    """What is to be done again. `holds`: those that it waits for and that failed or are skipped."""

    task: str
    path: Path
    kind: str
    go_on: str  # the command that does it
    is_running: bool = False  # its owner takes it in by itself
    holds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skippable:
    """A task that a file names. `unskip`: it is to be done after all."""

    is_skipped: bool
    unskip: Callable[[], Unskipped]


class Kind(Protocol):
    """`name`: as the tables and `status --json` have it. `marks`: files that make a folder a work
    of this kind; none where it has no folder of its own. `failed_acts`: what a person can do about
    a failed task; `has_own_states`: its files say how its tasks stand, whatever the tables say."""

    @property
    def name(self) -> str: ...

    @property
    def marks(self) -> tuple[str, ...]: ...

    @property
    def failed_acts(self) -> tuple[str, ...]: ...

    @property
    def has_own_states(self) -> bool: ...

    def standing(self, path: Path, known: Known) -> Standing:
        """Of the work with this file or folder."""
        ...

    def in_memory(self, known: Known) -> Standing | None:
        """Of work that is in the tables alone; None: there is none."""
        ...

    def facts(self, standing: Standing) -> dict[str, Any]:
        """For `Found`: whether it can be resumed, why it stands, what is next, redone, lost; and
        more of its `state`, where it has any."""
        ...

    def gate_acts(self, gate: str) -> tuple[str, ...]:
        """What a person can do about a gate of this kind."""
        ...

    def find_task(self, standing: Standing, name: str) -> Skippable | None:
        """The task that people call so; None: there is none, or nothing is skipped here."""
        ...


class FileKind:
    """What most kinds have in common: a file, and gates that are answered."""

    marks: tuple[str, ...] = ()
    failed_acts: tuple[str, ...] = ("retry", "skip")
    has_own_states = False

    def in_memory(self, known: Known) -> Standing | None:
        return None

    def gate_acts(self, gate: str) -> tuple[str, ...]:
        return GATE_ACTS.get(gate, ())


class TablesKind(FileKind):
    """What those have in common that have no file: one work, in the tables alone."""

    def standing(self, path: Path, known: Known) -> Standing:
        raise Bug(f"{type(self).__name__} has no files")

    def find_task(self, standing: Standing, name: str) -> Skippable | None:
        return None


def found(kind: Kind, standing: Standing) -> Found:
    """A work that was begun, as `segue resume` offers it."""
    facts = kind.facts(standing)
    return Found(
        standing.path,
        standing.kind,
        cost=_cost(standing),
        state={**standing.to_json(), **facts.pop("state", {})},
        holder=standing.holder,
        **facts,
    )


def _cost(standing: Standing) -> str:
    used = standing.usage
    if not used.get("input_tokens"):
        return _("unknown; nothing reported so far")
    tokens = used["input_tokens"] + used["output_tokens"]
    price = "" if used["cost_usd"] is None else f" (${used['cost_usd']:.2f})"
    return _("so far {n} tokens{price}").format(n=tokens, price=price)
