"""The lanes of a fake model: each has modes of its own, so that many programs share a server."""

from __future__ import annotations

from threading import Lock

from segue.testing.models.modes import Mode


class Lanes:
    """Which modes each lane still has to play. Tests set them from other threads."""

    def __init__(self) -> None:
        self._modes: dict[str, list[str]] = {"": ["ok"]}
        self._lock = Lock()

    def set(self, lane: str, modes: tuple[str, ...]) -> None:
        for mode in modes:
            Mode.of(mode)
        with self._lock:
            self._modes[lane] = list(modes)

    def left(self, lane: str) -> list[str]:
        """What the lane will play; a lane never set plays what its name begins with."""
        with self._lock:
            return list(self._modes.get(lane) or (lane.partition(".")[0],))

    def next(self, lane: str, *, side: bool) -> str:
        """The mode for this request; a side request only looks."""
        left = self.left(lane)
        if len(left) > 1 and not side:
            with self._lock:
                self._modes[lane].pop(0)
        return left[0]
