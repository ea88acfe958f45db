"""A command that refuses an agent notes the try, wherever that can be kept."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from segue.dialects.events import ActRefused
from segue.dialects.tool_channel import ToolChannel
from segue.store.changes import stamp
from segue.work import refusals
from segue.work.project import Project

AT = datetime(2026, 1, 5, 3, tzinfo=UTC)


def test_where_nothing_can_be_kept_nothing_is_made(tmp_path: Path) -> None:
    """A try in a folder without a memory leaves none behind; a broken one stops nobody."""
    run = {"SEGUE_RUN": "r", "SEGUE_PROJECT": str(tmp_path)}
    refusals.note(run, "cli", "segue park", AT)
    assert not (tmp_path / ".segue").exists()
    Project(tmp_path).prepare()
    Project(tmp_path).database.write_bytes(b"no database" * 100)
    refusals.note(run, "cli", "segue park", AT)


def test_a_try_in_the_sandbox_is_written_to_the_runs_own_file(tmp_path: Path) -> None:
    """The memory is not there; the run's Segue follows this file."""
    channel = tmp_path / "x.told"
    channel.touch()
    run = {
        "SEGUE_RUN": "T-1-1-abcd", "SEGUE_PROJECT": str(tmp_path), "SEGUE_NONCE": "n",
        "SEGUE_REFUSALS": str(channel),
    }  # fmt: skip
    refusals.note(run, "cli", "segue approve", AT)
    (event,) = ToolChannel("n", reports=False).feed(channel.read_bytes())
    assert event == ActRefused("cli", "segue approve", stamp(AT))
    refusals.note({**run, "SEGUE_REFUSALS": str(tmp_path / "gone")}, "cli", "x", AT)
    assert not (tmp_path / "gone").exists()
