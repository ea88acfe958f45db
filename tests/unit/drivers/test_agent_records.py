"""From a process to the record that its agent keeps."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from segue.dialects.records import FINISHED, STOPPED, Record
from segue.drivers import agent_records
from segue.drivers.pane_agents import Program

PID = os.getpid()
Play = Callable[[str], None]


@pytest.fixture
def is_agent(monkeypatch: pytest.MonkeyPatch) -> Play:
    """This very process counts as the agent of a pane."""

    def play(brand: str) -> None:
        program = Program(PID, 1, (brand,))
        monkeypatch.setattr(agent_records, "programs_of", lambda pid: iter([program]))

    return play


def record() -> Record | None:
    return agent_records.record_of(PID, now=datetime.now(UTC), tz=UTC)


def rollout(folder: Path, name: str) -> Path:
    path = folder / "sessions" / "2026" / f"rollout-{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    error = {"message": "Usage limit.", "codex_error_info": "usage_limit_exceeded"}
    payload = {"type": "task_complete", "error": error}
    told = {"timestamp": "2026-11-18T11:18:50Z", "type": "event_msg", "payload": payload}
    path.write_text(json.dumps(told) + "\n")
    return path


def test_the_rollout_that_codex_has_open_is_its_record(tmp_path: Path, is_agent: Play) -> None:
    """With two of them nobody can tell which conversation the pane shows."""
    is_agent("codex")
    assert record() is None
    with rollout(tmp_path, "a").open():
        found = record()
        assert found is not None
        assert (found.state, found.is_sure) == (STOPPED, False)
        with rollout(tmp_path, "b").open():
            assert record() is None


def test_the_chat_of_gemini_is_found_by_its_folder(
    tmp_path: Path, is_agent: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the one that was written to since the process began."""
    is_agent("gemini")
    monkeypatch.setattr(agent_records, "environ_of", lambda pid: {b"HOME": os.fsencode(tmp_path)})
    name = hashlib.sha256(str(Path.cwd()).encode()).hexdigest()
    chat = tmp_path / ".gemini" / "tmp" / name / "chats" / "session-1.jsonl"
    chat.parent.mkdir(parents=True)
    chat.write_text('{"type": "gemini", "content": "done"}\n')
    found = record()
    assert found is not None
    assert found.state == FINISHED
    os.utime(chat, (0, 0))
    assert record() is None


def test_the_database_of_opencode_is_read(tmp_path: Path, is_agent: Play) -> None:
    """The conversation of the folder that the process runs in."""
    is_agent("opencode")
    path = tmp_path / "opencode.db"
    now_ms = int(datetime.now(UTC).timestamp() * 1000)
    error = {"name": "APIError", "data": {"message": "Too Many Requests", "statusCode": 429}}
    told = {"role": "assistant", "time": {"created": now_ms}, "error": error}
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE session(id, directory, time_updated, parent_id);"
            "CREATE TABLE message(id, session_id, time_created, data);"
            "CREATE TABLE part(message_id, time_created, data);"
        )
        database.execute("INSERT INTO session VALUES('s', ?, ?, NULL)", (str(Path.cwd()), now_ms))
        asked = json.dumps({"role": "user"})
        database.execute("INSERT INTO message VALUES('m1', 's', 1, ?)", (asked,))
        database.execute("INSERT INTO message VALUES('m2', 's', 2, ?)", (json.dumps(told),))
        text = json.dumps({"type": "text", "text": "write the parser"})
        database.execute("INSERT INTO part VALUES('m1', 1, ?)", (text,))
        database.commit()
        found = record()
    assert found is not None
    assert (found.state, found.prompt) == (STOPPED, "write the parser")


def test_what_is_no_agent_has_no_record(is_agent: Play) -> None:
    """A shell keeps none."""
    is_agent("bash")
    assert record() is None
