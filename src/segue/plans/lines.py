"""The bytes of a file as lines that keep their index while comments come and go.

A line that is taken out becomes empty, a line that is put in hangs behind the one it
follows. So a change costs the same in a short and in a long file, and the numbers that
people see are worked out from the index when they are asked for.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

from segue.plans.grammar import line_end, without_end


class Added:
    """A line that was put in behind the line `after`."""

    __slots__ = ("after", "data")

    def __init__(self, after: int, data: bytes) -> None:
        self.after = after
        self.data = data


Place = int | Added


class Lines:
    def __init__(self, data: bytes) -> None:
        self.raw = data.splitlines(keepends=True)
        self.version = 0  # changes whenever numbers of lines do
        self._added: dict[int, list[Added]] = {}
        self._shift_at: dict[int, int] = {}  # index → how far the lines behind it moved
        self._sums: tuple[list[int], list[int]] | None = None
        self._lost_end = b""  # the line end that the last line gave up

    def __getitem__(self, index: int) -> bytes:
        return self.raw[index]

    def __len__(self) -> int:
        return len(self.raw)

    def render(self) -> bytes:
        if not self._added:
            return b"".join(self.raw)
        parts: list[bytes] = []
        start = 0
        for index in sorted(self._added):
            parts += self.raw[start : index + 1]
            parts += [added.data for added in self._added[index]]
            start = index + 1
        return b"".join(parts + self.raw[start:])

    def number(self, index: int) -> int:
        """The number, from 1, of the line with this index."""
        if not self._shift_at:
            return index + 1
        if self._sums is None:
            places = sorted(self._shift_at)
            self._sums = (places, [0, *accumulate(self._shift_at[place] for place in places)])
        places, sums = self._sums
        return index + 1 + sums[bisect_left(places, index)]

    def set_byte(self, index: int, at: int, byte: bytes) -> None:
        line = self.raw[index]
        self.raw[index] = line[:at] + byte + line[at + 1 :]

    def add(self, after: int, text: bytes, end: bytes) -> Added:
        """Put a line in behind the line `after`, with this line end if it can have it."""
        before = self._before(after + 1)
        if not line_end(before):  # the last line of the file: it stays the one without an end
            data = (end or self._some_end(after)) + text
        elif end == b"\r" and self._behind(after + 1).startswith(b"\n"):
            data = text + line_end(before)  # \r and \n would become one line end
        else:
            data = text + end
        added = Added(after, data)
        self._added.setdefault(after, []).append(added)
        self._shift(after, +1)
        return added

    def replace(self, place: Place, text: bytes) -> None:
        """Write another text into a line; its indent and its line end stay."""
        old = self._data(place)
        bare = without_end(old)
        head = bare[: len(bare) - len(bare.lstrip())]  # also a line end that stands before it
        self._write(place, head + text + old[len(bare) :])

    def remove(self, place: Place) -> bool:
        """Take a line out; False if the lines around it would melt into one."""
        if isinstance(place, Added):
            return self._remove_added(place)
        end = line_end(self.raw[place])
        before, behind = self._before(place), self._behind(place + 1, self._added.get(place))
        if before.endswith(b"\r") and behind.startswith(b"\n"):
            return False
        self.raw[place] = b""
        self._shift(place, -1)
        if not end:
            self._strip_end(place)
        return True

    def _remove_added(self, place: Added) -> bool:
        group = self._added[place.after]
        at = next(i for i, added in enumerate(group) if added is place)
        before = group[at - 1].data if at else self._before(place.after + 1, with_added=False)
        behind = self._behind(place.after + 1, group[at + 1 :])
        if before.endswith(b"\r") and behind.startswith(b"\n"):
            return False
        del group[at]
        if not group:
            del self._added[place.after]
        self._shift(place.after, -1)
        return True

    def _data(self, place: Place) -> bytes:
        return place.data if isinstance(place, Added) else self.raw[place]

    def _write(self, place: Place, data: bytes) -> None:
        if isinstance(place, Added):
            place.data = data
        else:
            self.raw[place] = data

    def _shift(self, index: int, by: int) -> None:
        self._shift_at[index] = self._shift_at.get(index, 0) + by
        self._sums = None
        self.version += 1

    def _before(self, index: int, *, with_added: bool = True) -> bytes:
        """The nearest line above `index` that is not empty."""
        for above in range(index - 1, -1, -1):
            if with_added and above in self._added:
                return self._added[above][-1].data
            if self.raw[above]:
                return self.raw[above]
            with_added = True
        return b""

    def _behind(self, index: int, added: list[Added] | None = None) -> bytes:
        """What follows: the added lines given, else the nearest line that is not empty."""
        if added:
            return added[0].data
        for below in range(index, len(self.raw)):
            if self.raw[below]:
                return self.raw[below]
            if below in self._added:
                return self._added[below][0].data
        return b""

    def _some_end(self, index: int) -> bytes:
        """The line end that is used above; a newline if there is none."""
        above = (line_end(self.raw[at]) for at in range(index - 1, -1, -1))
        return self._lost_end or next(filter(None, above), b"\n")

    def _strip_end(self, index: int) -> None:
        """The last line is gone: the one above is the last now, and has no end either."""
        for above in range(index - 1, -1, -1):
            if self.raw[above]:
                self._lost_end = line_end(self.raw[above])
                self.raw[above] = without_end(self.raw[above])
                return
