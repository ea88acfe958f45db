"""Fixtures of the commands' tests: `segue` in this process, in a folder of its own, in English."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.bench import Bench
from kit.hand_client import HandClient
from kit.shell import Shell
from segue import i18n
from segue.cli import console
from segue.engine.locks import lock_path
from segue.store.lock import Lock
from segue.work.project import Project


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder, and a user without settings who reads English on UTF-8."""
    for name in ("LC_ALL", "LC_MESSAGES", "SEGUE_TOKEN", "SEGUE_URL", "SEGUE_RUN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("LANGUAGE", "")  # speaking Korean sets it
    monkeypatch.setenv("SEGUE_LANG", "en")
    monkeypatch.setenv("TZ", "UTC")
    home, work = tmp_path / "home", tmp_path / "project"
    for folder in (home, work):
        folder.mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(work)
    i18n.use("en")
    yield work
    i18n.use("en")
    console.set_up([], {})


@pytest.fixture
def segue(
    alone: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Shell:
    return Shell(capsys, monkeypatch)


@pytest.fixture
def bench(alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """A plan under way, with an engine that does nothing by itself; the test is in its project."""
    folder = tmp_path / "bench"
    folder.mkdir()
    made = Bench(folder)
    monkeypatch.chdir(made.root)
    yield made
    made.close()


@pytest.fixture
def owned(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Somebody runs the plan of the bench, and is too busy to take anything in."""
    monkeypatch.setattr("segue.cli.act_words.add_act.WAIT_S", 0.0)
    project = Project(bench.root)
    project.prepare()
    lock = Lock(lock_path(project, bench.root / "PLAN.md"))
    assert lock.take(since="2026-03-01T12:00:00.000Z", command="segue run PLAN.md") is None
    yield
    lock.release()


@pytest.fixture
def client(alone: Path, monkeypatch: pytest.MonkeyPatch) -> HandClient:
    """What `segue task` talks to, in the place of a server."""
    made = HandClient()
    monkeypatch.setattr("segue.cli.task_link.connect", lambda url, token, environ: made)
    return made
