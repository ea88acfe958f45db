"""What the limits of the golden cases say in words, read at one instant.

`limit_words.json` has, for each case in which an agent runs into a limit, what is known of the
last one: kind, instant, whether it names a minute. To record it, run

    SEGUE_UPDATE_GOLDEN=1 pytest tests/golden/test_limit_words.py

and read what changed before it is kept.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from segue.dialects.events import LimitHit
from segue.dialects.limits.time.moments import Here
from segue.engine.limit_words import with_words

FOLDER = Path(__file__).parent
TABLE = FOLDER / "limit_words.json"
NOW = datetime(2026, 11, 15, 18, 30, tzinfo=UTC)
AGENTS = ("claude", "codex", "gemini", "opencode")


def last_limit(events: Path) -> tuple[LimitHit, list[str]] | None:
    """The last limit of a case, and the texts that tell of it."""
    told = json.loads(events.read_text("utf-8"))
    hits = [event for event in told if event["event"] == "LimitHit"]
    if not hits:
        return None
    hit = hits[-1]
    resets_at = datetime.fromisoformat(hit["resets_at"]) if "resets_at" in hit else None
    limit = LimitHit(hit["kind"], resets_at, hit.get("wait_s"), hit.get("text", ""))
    ends = [e.get("text", "") for e in told if e["event"] == "Finished" and e.get("is_error")]
    return limit, [limit.text, *ends[-1:]]


def read(events: Path) -> dict[str, Any] | None:
    found = last_limit(events)
    if found is None:
        return None
    limit, texts = found
    if not limit.has_time:
        tool = events.parent.parent.name
        limit = with_words(limit, filter(None, texts), tool, Here(NOW, UTC, UTC))
    at = limit.resets_at.isoformat() if limit.resets_at else None
    facts = {"kind": limit.kind, "resets_at": at, "wait_s": limit.wait_s}
    return {**facts, "is_minute": limit.is_minute or None}


def all_cases() -> dict[str, dict[str, Any]]:
    found = {
        f"{agent}/{events.parent.name}": read(events)
        for agent in AGENTS
        for events in sorted((FOLDER / agent).glob("*/events.json"))
    }
    return {
        name: {key: value for key, value in case.items() if value is not None}
        for name, case in found.items()
        if case is not None
    }


def test_the_words_of_every_limit_are_read_as_recorded() -> None:
    """A case that is missing fails, and so does one that is there no more."""
    found = all_cases()
    if os.environ.get("SEGUE_UPDATE_GOLDEN"):
        lines = (f"{json.dumps(name)}: {json.dumps(case)}" for name, case in found.items())
        TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    assert found == json.loads(TABLE.read_text("utf-8"))


@pytest.mark.parametrize(
    ("case", "at"),
    [
        ("codex/limit-usage", "2026-11-15T19:27:00+00:00"),
        ("codex/limit-weekly", "2026-11-18T18:28:00+00:00"),
        ("gemini/limit-capacity", "2026-11-15T21:42:09+00:00"),
        ("claude/limit-impossible-instant", "2026-11-15T19:27:00+00:00"),
    ],
)
def test_these_name_their_instant_in_words_alone(case: str, at: str) -> None:
    """As a person would read them at half past six."""
    found = read(FOLDER / case / "events.json")
    assert found is not None
    assert found["resets_at"] == at
