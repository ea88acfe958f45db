"""From a pane's process to the record that the agent below it keeps, whichever of the four it is.

A record counts only where it is this pane's. Claude Code registers its processes, so that is
certain. The others are found by what the process has open or by the folder that it runs in, and
several conversations may share these: there the prompt that was recorded last must stand on the
screen (`Record.is_sure` is false). Where two records come into question there is no answer.

Only processes and files of our own user are looked at, and only the end of a file; whatever
cannot be read is no answer, and never an error.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, tzinfo
from pathlib import Path

from segue.dialects.records import (
    Record,
    claude_record,
    codex_record,
    gemini_record,
    opencode_record,
)
from segue.dialects.structured import Object
from segue.drivers import claude_files
from segue.drivers.claude_files import began_at, environ_of, tail_of
from segue.drivers.pane_agents import Program, agent_among, brand_of, programs_of

KEEPERS = frozenset({"claude", "codex", "gemini", "opencode"})
OPEN_FILES_MAX = 2_000
CHATS_MAX = 2_000
MESSAGES_MAX = 6
DATABASE_WAIT_S = 0.5

_ROLLOUT = re.compile(r".*/sessions/.*/rollout-[\w.:-]+\.jsonl")
_DATABASE = re.compile(r".*/opencode[\w-]*\.db")
_SESSION = "SELECT id FROM session WHERE directory = ? AND time_updated >= ? AND parent_id IS NULL"
_NEWEST = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created DESC LIMIT ?"
_PARTS = "SELECT data FROM part WHERE message_id = ? ORDER BY time_created"


def record_of(pid: int, *, now: datetime, tz: tzinfo) -> Record | None:
    """What the agent below this process (a pane's root) has written down; None if unknown."""
    programs = list(programs_of(pid))
    try:
        match agent_among(programs):
            case "claude":
                return _claude(pid, now, tz)
            case "codex":
                return _codex(programs, tz)
            case "gemini":
                return _gemini(_first(programs, "gemini"), now, tz)
            case "opencode":
                return _opencode(_first(programs, "opencode"), now, tz)
    except (OSError, ValueError, sqlite3.Error):  # gone meanwhile, not ours, or being written
        return None
    return None


def _claude(pid: int, now: datetime, tz: tzinfo) -> Record | None:
    found = claude_files.transcript_of(pid, now=now)
    if found is None or found.is_busy:
        return None
    lines = tail_of(found.path)
    return claude_record(lines, tz, since=found.since) if lines else None


def _codex(programs: list[Program], tz: tzinfo) -> Record | None:
    """It keeps its rollout open, in the program or in a server below it."""
    paths = {path for program in programs for path in _open_files(program.pid, _ROLLOUT)}
    return codex_record(tail_of(Path(paths.pop())), tz) if len(paths) == 1 else None


def _gemini(program: Program, now: datetime, tz: tzinfo) -> Record | None:
    """Its chats are in a folder that is named after the one it runs in."""
    home, cwd = environ_of(program.pid).get(b"HOME"), _cwd(program.pid)
    if not home:
        return None
    folder = Path(os.fsdecode(home), ".gemini")
    names = json.loads(b"\n".join(tail_of(folder / "projects.json")) or b"{}").get("projects", {})
    hashed = hashlib.sha256(cwd.encode()).hexdigest()
    since = began_at(program.pid, now).timestamp()
    chats = [
        path
        for name in {str(names.get(cwd, hashed)), hashed}
        for path in sorted((folder / "tmp" / name / "chats").glob("session-*.jsonl"))[-CHATS_MAX:]
        if path.stat().st_mtime >= since
    ]
    return gemini_record(tail_of(chats[0]), tz) if len(chats) == 1 else None


def _opencode(program: Program, now: datetime, tz: tzinfo) -> Record | None:
    """Its database holds the conversations of all folders."""
    paths = set(_open_files(program.pid, _DATABASE))
    if len(paths) != 1:
        return None
    since_ms = int(began_at(program.pid, now).timestamp() * 1000)
    address = f"file:{paths.pop()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, timeout=DATABASE_WAIT_S)) as database:
        found = database.execute(_SESSION, (_cwd(program.pid), since_ms)).fetchall()
        if len(found) != 1:
            return None
        rows = database.execute(_NEWEST, (found[0][0], MESSAGES_MAX)).fetchall()
        told = [(id_, message) for id_, data in reversed(rows) if (message := _object(data))]
        asked = [id_ for id_, message in told if message.get("role") == "user"]
        parts = database.execute(_PARTS, (asked[-1],)).fetchall() if asked else []
    texts = [str(part.get("text", "")) for (data,) in parts if (part := _object(data))]
    return opencode_record([message for _id, message in told], "\n".join(texts), tz)


def _object(data: object) -> Object | None:
    found = json.loads(data) if isinstance(data, str | bytes) else None
    return found if isinstance(found, dict) else None


def _first(programs: list[Program], brand: str) -> Program:
    return next(program for program in programs if brand_of(program.argv) == brand)


def _cwd(pid: int) -> str:
    return os.readlink(f"/proc/{pid}/cwd")  # noqa: PTH115 - a string is needed


def _open_files(pid: int, form: re.Pattern[str]) -> Iterator[str]:
    """The files of this form that a process has open."""
    try:
        names = os.listdir(f"/proc/{pid}/fd")[:OPEN_FILES_MAX]  # noqa: PTH208 - much faster
    except OSError:
        return
    for name in names:
        try:
            path = os.readlink(f"/proc/{pid}/fd/{name}")  # noqa: PTH115
        except OSError:
            continue
        if form.fullmatch(path):
            yield path
