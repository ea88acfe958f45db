"""Claude Code in panes, for real: its own record tells which of two in one folder is stopped."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kit.agents_here import claude, clean_env
from kit.stage import AGENT_S, until
from kit.tmux import Tmux, a_server
from segue.dialects.claude_transcript import TranscriptStop
from segue.drivers import claude_files, processes
from segue.testing.models import FakeModels

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

WEEK_S = 300_000
NEAR = timedelta(seconds=60)


class Room:
    """Panes of a tmux of its own, all in one folder and with one home."""

    def __init__(self, folder: Path, models: FakeModels, tmux: Tmux) -> None:
        self.folder, self._models, self.tmux = folder, models, tmux
        self._work = folder / "work"
        self._work.mkdir()

    def open(self, name: str, *args: str, plays: tuple[str, ...] = ("ok",)) -> int:
        """A pane with claude in it; its process."""
        env = clean_env(self.folder, self._models.lane(name, *plays), "claude", oauth=True)
        settings = self.folder / "home" / ".claude.json"
        trusted = {str(self._work): {"hasTrustDialogAccepted": True}}
        settings.write_text(json.dumps({**json.loads(settings.read_text()), "projects": trusted}))
        pairs = [f"{key}={value}" for key, value in env.items()]
        program = ["env", "-i", *pairs, str(claude()), *args]
        size = ("-x", "100", "-y", "30")
        self.tmux("new-session", "-d", "-s", name, *size, "-c", str(self._work), *program)
        until(lambda: "❯" in self.screen(name), f"the prompt of {name}", AGENT_S)
        return int(self.tmux("display-message", "-p", "-t", name, "#{pane_pid}"))

    def screen(self, name: str) -> str:
        return self.tmux("capture-pane", "-p", "-t", name)

    def press(self, name: str, key: str) -> None:
        self.tmux("send-keys", "-t", name, key)

    def say(self, name: str, text: str) -> None:
        self.tmux("send-keys", "-t", name, "-l", text)
        until(lambda: f"❯ {text}" in self.screen(name).replace("\xa0", " "), text)
        self.press(name, "Enter")

    def asks(self, name: str, text: str) -> None:
        """A prompt that is answered."""
        self.say(name, text)
        until(lambda: f": {text}" in self.screen(name), f"the answer to {text}", AGENT_S)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with FakeModels(tmp_path / "requests.jsonl") as models, a_server() as tmux:
        yield Room(tmp_path, models, tmux)


def stop_of(pid: int) -> TranscriptStop | None:
    return claude_files.stop_of(pid, now=datetime.now(UTC), tz=UTC)


def stopped(pid: int, kind: str, wait_s: float) -> TranscriptStop:
    """Wait for this stop; its reset is so far away."""
    stop = until(lambda: stop_of(pid), f"the stop by {kind}", AGENT_S)
    assert stop is not None
    assert stop.kind == kind
    assert stop.resets_at is not None
    assert abs(stop.resets_at - stop.at - timedelta(seconds=wait_s)) < timedelta(seconds=5)
    assert abs(datetime.now(UTC) - stop.at) < NEAR
    return stop


def test_the_transcript_tells_who_is_stopped_and_until_when(room: Room) -> None:
    """Of two in one folder the one that hit its limit, to the second, until it goes on; and one
    that goes on by itself is not taken for one that was resumed by another process."""
    plays = ("ok", f"429u7d:{WEEK_S}", "ok", "429u5h:3600")
    stopping, idle = room.open("a", plays=plays), room.open("b")
    assert (stop_of(stopping), stop_of(idle)) == (None, None)
    room.asks("a", "first")
    room.asks("b", "other")
    assert (stop_of(stopping), stop_of(idle)) == (None, None)

    room.say("a", "second")
    assert stopped(stopping, "weekly_limit", WEEK_S).is_self_resuming is None
    assert stop_of(idle) is None
    until(lambda: "Stop and wait" in room.screen("a"), "the menu")
    room.press("a", "Enter")
    until(lambda: "Stop and wait" not in room.screen("a"), "the end of the menu")
    assert stop_of(stopping) is not None, "nothing was done yet"

    room.say("a", "third")
    until(lambda: stop_of(stopping) is None, "its going on", AGENT_S)
    until(lambda: "answer to prompt 2" in room.screen("a"), "the answer", AGENT_S)
    until(lambda: stop_of(stopping) is None, "the answer in its transcript")  # shown, then written

    room.say("a", "fourth")
    stopped(stopping, "session_limit", 3600)
    until(lambda: (s := stop_of(stopping)) and s.is_self_resuming, "the word that it goes on")

    (entry,) = (room.folder / "home" / ".claude" / "sessions").glob(f"{stopping}.json")
    conversation = json.loads(entry.read_text())["sessionId"]
    resumed = room.open("c", "--resume", conversation)
    until(lambda: "fourth" in room.screen("c"), "the conversation", AGENT_S)
    assert (stop_of(stopping), stop_of(resumed)) == (None, None), "it belongs to both"
    first = processes.start_time(stopping) or 0
    room.tmux("kill-session", "-t", "a")
    until(lambda: not processes.is_alive(stopping, first), "the end of the first", AGENT_S)
    assert stopped(resumed, "session_limit", 3600).is_self_resuming is False
