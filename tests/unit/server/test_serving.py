"""`segue serve` from its start to its end, in this process."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from segue.engine.clock import SystemClock
from segue.errors import UserError
from segue.server import listen, serving
from segue.server.serving import Listening, serve
from segue.store import files
from segue.store.lock import Lock
from segue.work.project import Project

URL = '{"url": "http://127.0.0.1:1"}'


class Stage:
    """A server in a folder: its work is real, and in place of HTTP it waits for its end."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = Project(folder).keys
        self.lock = Project(folder).locks / "server.lock"
        self.app: dict[str, Any] = {}
        self.left: dict[str, str] = {}
        self.places: list[Listening] = []
        self._stop: asyncio.Event | None = None
        monkeypatch.chdir(folder)
        monkeypatch.setattr(listen, "signals", self._signals)
        monkeypatch.setattr(listen, "serve", self._listen)
        monkeypatch.setattr(serving, "make_app", self._make)

    @contextmanager
    def _signals(self, stop: asyncio.Event) -> Iterator[None]:
        self._stop = stop
        yield

    async def _listen(
        self, _app: FastAPI, _sock: object, stop: asyncio.Event, **_more: Any
    ) -> None:
        for name in ("token", "server.json"):
            if (self.folder / name).exists():
                assert (self.folder / name).stat().st_mode & 0o777 == 0o600
                self.left[name] = (self.folder / name).read_text()
        stop.set()

    def _make(self, _commands: object, **given: Any) -> FastAPI:
        self.app = given
        return FastAPI()

    def once(self, **environ: str) -> int:
        """From start to end."""
        return asyncio.run(
            serve(
                None,
                host="127.0.0.1",
                port=0,
                slots=1,
                is_insecure=False,
                environ={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), **environ},
                clock=SystemClock(),
                tz=UTC,
                command=["segue", "serve"],
                on_listening=self.places.append,
            )
        )

    def keep(self, token: bytes, mode: int = 0o600) -> Path:
        """A token from an earlier start."""
        self.folder.mkdir(parents=True)
        path = self.folder / "token"
        path.write_bytes(token)
        path.chmod(mode)
        return path


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    logger = logging.getLogger("segue")
    before = list(logger.handlers)
    yield Stage(tmp_path, monkeypatch)
    for handler in [each for each in logger.handlers if each not in before]:
        logger.removeHandler(handler)
        handler.close()


def test_a_first_start_makes_a_token_and_leaves_where_it_listens(stage: Stage) -> None:
    """Both for the user alone; the place is gone with the server, the token stays."""
    assert stage.once() == 0
    (place,) = stage.places
    token = stage.left["token"].strip()
    assert (place.is_first, len(token) >= 40) == (True, True)
    assert place.login == f"{place.url}/login?token={token}"
    assert json.loads(stage.left["server.json"]) == {"url": place.url}
    assert stage.app["token"] == token
    assert not (stage.folder / "server.json").exists()
    assert (stage.folder / "token").read_text().strip() == token


def test_a_later_start_has_the_same_token_and_does_not_call_it_new(stage: Stage) -> None:
    stage.keep(b"kept-" * 8)
    assert stage.once() == 0
    assert (stage.places[0].is_first, stage.app["token"]) == (False, "kept-" * 8)


def test_a_token_that_was_given_is_never_written_or_shown(stage: Stage) -> None:
    assert stage.once(SEGUE_TOKEN="given-" * 6) == 0
    (place,) = stage.places
    assert (place.token_file, place.login, place.is_first) == (None, None, False)
    assert (stage.app["token"], "token" in stage.left) == ("given-" * 6, False)


@pytest.mark.parametrize(
    ("content", "mode", "code"),
    [
        (b"kept\n", 0o644, "token_exposed"),
        (b"\n", 0o600, "token_unusable"),
        (b"\xff\n", 0o600, "token_unusable"),
    ],
)
def test_a_token_that_protects_nothing_is_refused_in_words(
    stage: Stage, content: bytes, mode: int, code: str
) -> None:
    """One that others can read, or a file that somebody has emptied or damaged."""
    path = stage.keep(content, mode)
    with pytest.raises(UserError) as refused:
        stage.once()
    assert refused.value.problem.code == code
    assert str(path) in str(refused.value.problem.hint)
    assert stage.places == []


@pytest.mark.parametrize(
    ("content", "shown"),
    [(URL, "http://127.0.0.1:1"), ("", "?"), ("[]", "?"), ("null", "?"), ("{}", "?")],
)
def test_a_second_server_says_where_the_first_is_whatever_that_left(
    stage: Stage, content: str, shown: str
) -> None:
    """The lock says who it is; a place that cannot be read is left open."""
    stage.lock.parent.mkdir(parents=True)
    stage.folder.mkdir()
    (stage.folder / "server.json").write_text(content)
    lock = Lock(stage.lock)
    assert lock.take(since="2026-11-16", command="segue serve") is None
    try:
        with pytest.raises(UserError) as refused:
            stage.once()
    finally:
        lock.release()
    assert refused.value.problem.code == "already_running"
    assert f"this folder: {shown} (process" in str(refused.value)


def test_a_disk_that_is_full_at_the_start_is_waited_for(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged once, however often it is tried again; then the server begins."""
    monkeypatch.setattr(serving, "FIRST_WAIT_S", 0.001)
    real, tries, waits = files.replace, 0, 0

    def full(path: Path, data: bytes, **more: Any) -> None:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        real(path, data, **more)

    @asynccontextmanager
    async def answering(*_given: Any, **_more: Any) -> AsyncIterator[None]:
        nonlocal waits
        waits += 1
        yield

    monkeypatch.setattr(files, "replace", full)
    monkeypatch.setattr(listen, "answering", answering)
    with caplog.at_level(logging.ERROR, "segue.server"):
        assert stage.once() == 0
    assert (len(stage.places), waits) == (1, 2)
    assert caplog.text.count("starts as soon as it can write") == 1


def test_a_folder_that_can_never_be_written_is_not_waited_for(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(path: Path, _data: bytes, **_more: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(files, "replace", read_only)
    with pytest.raises(UserError) as refused:
        stage.once()
    assert refused.value.problem.code == "read_only"
