"""The log of a fake model: what it was asked, and how each request ended."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class Asked:
    """One request, as it stands in the log; `ended` comes as a line of its own."""

    number: int
    at: float
    lane: str
    mode: str
    wire: str
    method: str
    path: str
    side: bool = False
    model: str = ""
    prompt: str = ""
    messages: list[dict[str, str]] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    ended: str = ""
    """answered, refused, dropped, client_gone or cut_off; nothing while it is under way."""

    @property
    def prompts(self) -> list[str]:
        return [m["text"] for m in self.messages if m["role"] == "user"]

    @property
    def results(self) -> list[str]:
        """What the tools gave back."""
        return [m["text"] for m in self.messages if m["role"] == "tool"]


class Log:
    """Keeps every request in memory, and as JSON lines in a file if there is one."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.asked: list[Asked] = []

    def add(self, asked: Asked) -> None:
        self.asked.append(asked)
        self._write({"event": "asked", **asdict(asked)})

    def end(self, asked: Asked, how: str, at: float) -> None:
        asked.ended = how
        self._write({"event": "ended", "number": asked.number, "at": at, "ended": how})

    def _write(self, line: dict[str, Any]) -> None:
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")


def read_log(path: Path) -> list[Asked]:
    """The requests in a log file, also while it is being written."""
    if not path.exists():
        return []
    lines = path.read_text("utf-8").splitlines(keepends=True)
    return _join(json.loads(line) for line in lines if line.endswith("\n"))


def _join(lines: Iterable[dict[str, Any]]) -> list[Asked]:
    found: dict[int, Asked] = {}
    for line in lines:
        if line.pop("event") == "asked":
            found[line["number"]] = Asked(**line)
        else:
            found[line["number"]].ended = line["ended"]
    return list(found.values())
