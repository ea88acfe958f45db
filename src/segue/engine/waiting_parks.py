"""The parks of a plan that wait, by id; of very many, those that a decision depends on.

Each account has its parks that are not due in a heap, so that finding the next one costs the same
for three parks and for ten thousand. An entry of a heap counts while its park is as it was when it
was put there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from heapq import heappop, heappush
from typing import Any

from segue.store.rows import ParkRow


class WaitingParks(dict[str, ParkRow]):
    """Changed by `parks[id] = park` and `del parks[id]` alone."""

    def __init__(self) -> None:
        super().__init__()
        self._later: dict[str, list[tuple[datetime, str]]] = {}  # heaps, by account
        self._due: dict[str, datetime] = {}

    def __setitem__(self, id: str, park: ParkRow) -> None:
        super().__setitem__(id, park)
        self._due.pop(id, None)
        heappush(self._later.setdefault(park.account, []), (park.wakes_at, id))

    def __delitem__(self, id: str) -> None:
        super().__delitem__(id)
        self._due.pop(id, None)

    def that_matter(self, now: datetime) -> list[ParkRow]:
        """Those that are due, and the next one of each account: what is decided about ten thousand
        does not depend on the others."""
        for id, at in list(self._due.items()):
            if at > now:  # the clock was set back
                self[id] = self[id]
        following = list(self._following(now))
        return [*(self[id] for id in self._due), *following]

    def _following(self, now: datetime) -> Iterator[ParkRow]:
        """The next one of each account that is not due; those that are due are noted."""
        for account, heap in list(self._later.items()):
            while heap:
                at, id = heap[0]
                park = self.get(id)
                if park is not None and (park.wakes_at, park.account) == (at, account):
                    if at > now:
                        yield park
                        break
                    self._due[id] = at
                heappop(heap)
            else:
                del self._later[account]


@dataclass(frozen=True, slots=True)
class Deferred:
    """`wakes_at`: none where only a person can begin it again."""

    task: str
    account: str
    kind: str
    wakes_at: str | None

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "resets_at": None}
