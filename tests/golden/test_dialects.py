"""What agents really printed, and the events that must come of it.

A case is a folder `tests/golden/<agent>/<case>/` with the agent's `stdout`, its `stderr` where
it wrote any, `now` (an ISO instant) where the hour it was heard at matters, and `events.json`,
which is what the dialect must tell. To record that file, run

    SEGUE_UPDATE_GOLDEN=1 pytest tests/golden/test_dialects.py

and read what changed before it is kept.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import random
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from segue.dialects.events import Dialect, Event

FOLDER = Path(__file__).parent
NONCE = "a1b2c3"  # what a run's prompt would have shown; cases that are made by hand use it
NOW = datetime(2026, 11, 15, 18, 30, tzinfo=UTC)
AGENTS = {
    "claude": ("segue.dialects.claude", "Claude"),
    "codex": ("segue.dialects.codex", "Codex"),
    "gemini": ("segue.dialects.gemini", "Gemini"),
    "opencode": ("segue.dialects.opencode", "Opencode"),
}
NOT_AGENTS = {"tasklist", "emulator", "screens", "claude_transcripts", "claude_hooks"}
CASES = sorted(
    f"{agent}/{case.name}"
    for agent in AGENTS
    if (FOLDER / agent).is_dir()
    for case in (FOLDER / agent).iterdir()
    if case.is_dir() and case.name != "__pycache__"
)
CHUNKINGS = 8
Cutter = Callable[[bytes], list[bytes]]


def dialect_of(case: Path) -> Dialect:
    """A new dialect, as it would be at the start of the run."""
    module, name = AGENTS[case.parent.name]
    clock = case / "now"
    now = datetime.fromisoformat(clock.read_text().strip()) if clock.exists() else NOW
    made: Dialect = getattr(importlib.import_module(module), name)(NONCE, lambda: now)
    return made


def bytes_of(case: Path, stream: str) -> bytes:
    file = case / stream
    return file.read_bytes() if file.exists() else b""


def heard(case: Path, cut: Cutter) -> list[Event]:
    """All of standard output, then all of standard error, then the end."""
    dialect = dialect_of(case)
    events = [event for part in cut(bytes_of(case, "stdout")) for event in dialect.feed(part)]
    events += [event for part in cut(bytes_of(case, "stderr")) for event in dialect.feed_err(part)]
    return events + list(dialect.close())


def whole(data: bytes) -> list[bytes]:
    return [data]


def bytewise(data: bytes) -> list[bytes]:
    return [data[n : n + 1] for n in range(len(data))]


def chunked(seed: str) -> Cutter:
    """Chunks of sizes from one byte to a few thousand, by a seed that names the failure."""
    dice = random.Random(seed)

    def cut(data: bytes) -> list[bytes]:
        chunks = []
        while data:
            size = int(dice.choice((1, 7, 80, 1500, 9000)) * dice.random()) + 1
            chunks.append(data[:size])
            data = data[size:]
        return chunks

    return cut


def told(event: Event) -> dict[str, Any]:
    """An event as the golden files tell it: only the fields that hold something."""
    said = {"event": type(event).__name__} | {
        key: shown(value) for key, value in asdict(event).items() if value not in (None, "", ())
    }
    return {key: value for key, value in said.items() if (key, value) != ("is_minute", False)}


def shown(value: object) -> object:
    match value:
        case datetime():
            assert value.utcoffset() is not None, "instants are aware"
            return value.astimezone(UTC).isoformat()
        case Mapping():
            return {key: shown(part) for key, part in value.items()}
        case tuple() | list():
            return [shown(part) for part in value]
        case _:
            return value


@pytest.mark.parametrize("name", CASES)
def test_what_an_agent_printed_becomes_these_events(name: str) -> None:
    """In one piece, byte by byte, or in any chunks: the events of the case, in their order."""
    case = FOLDER / name
    events = heard(case, whole)
    file = case / "events.json"
    if os.environ.get("SEGUE_UPDATE_GOLDEN"):
        lines = ",\n".join(json.dumps(told(event), ensure_ascii=False) for event in events)
        file.write_text(f"[\n{lines}\n]\n" if lines else "[]\n")
    assert file.exists(), (
        f"{name} has no events.json: record it with SEGUE_UPDATE_GOLDEN=1, and read it"
    )
    assert [told(event) for event in events] == json.loads(file.read_text())
    assert heard(case, bytewise) == events, "byte by byte"
    for n in range(CHUNKINGS):
        seed = f"{name} {n}"
        assert heard(case, chunked(seed)) == events, f"chunks by the seed {seed!r}"


@pytest.mark.parametrize("agent", AGENTS)
def test_every_agent_has_cases(agent: str) -> None:
    """A dialect without a case of its own, or cases without their dialect, fail the build."""
    has_dialect = importlib.util.find_spec(AGENTS[agent][0]) is not None
    assert any(name.startswith(f"{agent}/") for name in CASES) == has_dialect


def test_no_folder_is_overlooked() -> None:
    """Every folder of golden cases belongs to an agent that is named here, or to another test."""
    folders = {entry.name for entry in FOLDER.iterdir() if entry.is_dir()} - {"__pycache__"}
    assert folders <= AGENTS.keys() | NOT_AGENTS
    assert all((FOLDER / name / "stdout").exists() for name in CASES), "a case needs its stdout"
