"""State machines as tables.

A machine is one table: (state, trigger) → where it leads. An entry may be guarded: the
first one whose guard holds is taken. Whatever the table does not name is illegal, loud,
and changes nothing. The diagrams in the documents are drawn from the same tables.

States and triggers are `StrEnum` members, so the plain text that a database gives back
is as good as the member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from segue.errors import Bug

S = TypeVar("S", bound=StrEnum)

Facts = Mapping[str, object]
Guard = Callable[[Facts], bool]


@dataclass(frozen=True, slots=True)
class To(Generic[S]):
    """Where a trigger leads; with `when`, only if this named predicate of the facts holds."""

    state: S
    when: Guard | None = None


class IllegalMove(Bug):
    """A trigger that the state does not know, or whose guards all refuse."""

    def __init__(self, machine: str, state: str, trigger: str, allowed: Iterable[str]) -> None:
        self.machine = machine
        self.state = state
        self.trigger = trigger
        self.allowed = tuple(allowed)
        names = ", ".join(self.allowed) or "nothing"
        super().__init__(f"{machine}: {trigger!s} is illegal in {state!s} (allowed: {names})")


class Machine(Generic[S]):
    """One machine: its name, its states (it begins in the first, or in those that `begins` names)
    and its table."""

    def __init__(
        self,
        name: str,
        states: type[S],
        table: Mapping[tuple[S, StrEnum], To[S] | tuple[To[S], ...]],
        *,
        begins: Iterable[S] | None = None,
        finals: Iterable[S] | None = None,
    ) -> None:
        self.name = name
        self.states: tuple[S, ...] = tuple(states)
        self.initial: S = self.states[0]
        self.begins: tuple[S, ...] = (self.initial,) if begins is None else tuple(begins)
        self._table: dict[tuple[str, str], tuple[To[S], ...]] = {
            move: to if isinstance(to, tuple) else (to,) for move, to in table.items()
        }
        self._allowed: dict[str, tuple[StrEnum, ...]] = {
            state: tuple(trigger for source, trigger in table if source is state)
            for state in self.states
        }
        if finals is None:
            finals = (state for state in self.states if not self._allowed[state])
        self.finals: frozenset[S] = frozenset(finals)

    def target(self, state: str, trigger: str, /, **facts: object) -> S:
        """Where the trigger leads from this state, given the facts that guards may ask for."""
        for to in self._table.get((state, trigger), ()):
            if to.when is None or to.when(facts):
                return to.state
        raise IllegalMove(self.name, state, trigger, self.allowed(state))

    def allows(self, state: str, to: str, trigger: str) -> bool:
        """Whether the table has this very move, whatever its guards say."""
        return any(move.state == to for move in self._table.get((state, trigger), ()))

    def allowed(self, state: str) -> tuple[StrEnum, ...]:
        """The triggers this state knows, in the table's order."""
        return self._allowed.get(state, ())

    def moves(self) -> list[tuple[S, StrEnum, To[S]]]:
        """Every row of the table, guarded ones one by one."""
        return [
            (state, trigger, to)
            for state in self.states
            for trigger in self._allowed[state]
            for to in self._table[state, trigger]
        ]

    def diagram(self) -> str:
        """The table as a mermaid `stateDiagram-v2`."""
        lines = ["stateDiagram-v2", *(f"    [*] --> {state}" for state in self.begins)]
        everywhere = self._triggers_from_any_to_any()
        labels: dict[tuple[S, S], list[str]] = {}
        for state, trigger, to in self.moves():
            if trigger not in everywhere:
                guard = f" [{getattr(to.when, '__name__', 'guarded')}]" if to.when else ""
                labels.setdefault((state, to.state), []).append(f"{trigger}{guard}")
        lines += [f"    {a} --> {b}: {', '.join(names)}" for (a, b), names in labels.items()]
        lines += [f"    {state} --> [*]" for state in self.states if state in self.finals]
        lines += [
            f"    note right of {self.initial} : {trigger} leads from {among} to any other"
            for trigger, among in everywhere.items()
        ]
        return "\n".join(lines) + "\n"

    def _triggers_from_any_to_any(self) -> dict[StrEnum, str]:
        """Drawn as a note with the states they are about: as arrows they would bury the others."""
        pairs: dict[StrEnum, set[tuple[S, S]]] = {}
        for state, trigger, to in self.moves():
            pairs.setdefault(trigger, set()).add((state, to.state))
        found = {}
        for trigger, seen in pairs.items():
            among = [state for state in self.states if any(state is a for a, _b in seen)]
            if len(among) > 2 and seen == {(a, b) for a in among for b in among if a is not b}:
                is_all = len(among) == len(self.states)
                found[trigger] = "any state" if is_all else f"any of {', '.join(among)}"
        return found
