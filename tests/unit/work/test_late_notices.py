"""Notices that a killed run has left, sent by a command that has nothing else to do."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC
from pathlib import Path

import pytest

from segue.engine.clock import SystemClock
from segue.engine.notices import notice
from segue.store.sqlite import Store
from segue.work import late_notices
from segue.work.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.prepare()
    command = f"command:sh -c 'cat >> {tmp_path}/sent'"
    (tmp_path / "segue.toml").write_text(f"[notify]\nchannels = [{json.dumps(command)}]\n")
    return made


def leave_notice(project: Project) -> None:
    store, now = Store.open(project.database), SystemClock().now()
    told = notice("p", "end:1", "completed", "2 done", now, title="PLAN.md", place="PLAN.md")
    store.move(told, at=now)
    store.close()


def send(project: Project, environ: dict[str, str]) -> None:
    clock = SystemClock()
    asyncio.run(late_notices.send(project, environ, clock, UTC, pytest.fail))


def test_a_notice_that_was_left_is_sent_once(project: Project) -> None:
    leave_notice(project)
    for _command in range(2):
        send(project, {"PATH": "/usr/bin:/bin", "HOME": str(project.root)})
    assert (project.root / "sent").read_text().count("2 done") == 1


def test_a_project_without_memory_gets_none(tmp_path: Path) -> None:
    """Looking for notices makes no folder and no database."""
    send(Project(tmp_path), {"HOME": str(tmp_path)})
    assert list(tmp_path.iterdir()) == []


def test_without_a_channel_a_notice_stays(project: Project) -> None:
    """It waits for a start with a channel, as one of a run would."""
    leave_notice(project)
    (project.root / "segue.toml").write_text("")
    send(project, {"HOME": str(project.root)})
    store = Store.open(project.database)
    assert store.one("SELECT 1 FROM notices WHERE next_at IS NOT NULL") is not None
    store.close()
