"""The four programs in panes, for real: their own records say whether a limit stops them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kit.agents_here import PROGRAMS, clean_env
from kit.stage import AGENT_S, until
from kit.tmux import Tmux, a_server
from segue.dialects.limits import Detection
from segue.dialects.records import FINISHED, STOPPED, Record
from segue.dialects.screen import Screen
from segue.drivers import agent_records, processes
from segue.engine.executors.pane_screen import ScreenReading, read_screen, with_record
from segue.testing.models import FakeModels

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

ASKED = "write the parser"
ABOUT = "Usage limit reached. Resets at 3 PM."
READY = {"claude": "❯", "codex": "›", "gemini": "Type your message", "opencode": "Ask anything"}


class Pane:
    """One program in a tmux of its own, on the fake model."""

    def __init__(self, folder: Path, models: FakeModels, tmux: Tmux, kind: str, mode: str) -> None:
        self.kind, self._tmux = kind, tmux
        work = folder / "work"
        work.mkdir()
        env = clean_env(folder, models.lane(kind, mode), kind, retries=0)
        if kind == "claude":
            seed = folder / "home" / ".claude.json"
            trusted = {str(work): {"hasTrustDialogAccepted": True}}
            seed.write_text(json.dumps({**json.loads(seed.read_text()), "projects": trusted}))
        pairs = [f"{key}={value}" for key, value in env.items()]
        program = ["env", "-i", *pairs, str(PROGRAMS[kind]())]
        size = ("-x", "110", "-y", "36")
        tmux("new-session", "-d", "-s", "a", *size, "-c", str(work), *program)
        until(lambda: READY[kind] in self.screen, f"the prompt of {kind}", AGENT_S)
        self.pid = int(tmux("display-message", "-p", "-t", "a", "#{pane_pid}"))

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-t", "a").replace("\xa0", " ")

    def ask(self) -> None:
        self._tmux("send-keys", "-t", "a", "-l", ASKED)
        until(lambda: ASKED in self.screen, ASKED, AGENT_S)
        self._tmux("send-keys", "-t", "a", "Enter")

    def ended(self, state: str) -> Record | None:
        """Its record, once that says so."""
        found = agent_records.record_of(self.pid, now=datetime.now(UTC), tz=UTC)
        return found if found is not None and found.state == state else None

    def reading(self) -> ScreenReading:
        lines = tuple(self.screen.split("\n"))
        screen = Screen(lines, lines, (), None, 36, 110, title="")
        return read_screen(screen, self.kind, datetime.now(UTC), UTC)


@pytest.fixture
def opened(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Pane]:
    kind, mode = request.param
    with FakeModels(tmp_path / "requests.jsonl") as models, a_server() as tmux:
        pane = Pane(tmp_path, models, tmux, kind, mode)
        yield pane
        processes.kill_tree(pane.pid)  # Codex would leave a server behind


@pytest.mark.parametrize(
    "opened",
    [("claude", "credit"), ("codex", "429quota"), ("opencode", "credit")],
    indirect=True,
    ids=["claude", "codex", "opencode"],
)
def test_a_limit_is_read_from_the_record(opened: Pane) -> None:
    """A turn that the model refused is a stop, whatever stands on the screen."""
    opened.ask()
    record = until(lambda: opened.ended(STOPPED), "the stop", AGENT_S)
    assert (record.state, record.prompt) == (STOPPED, ASKED)
    mark = {"opencode": "┃ "}.get(opened.kind, "› ")
    odd = ScreenReading(Detection("idle"), f"{mark} {ASKED}\n\n• ???")
    assert with_record(odd, record).recorded_limit is not None


@pytest.mark.parametrize(
    "opened",
    [(kind, f"say:{ABOUT}") for kind in ("claude", "codex", "gemini", "opencode")],
    indirect=True,
    ids=["claude", "codex", "gemini", "opencode"],
)
def test_a_chat_about_limits_stops_nobody(opened: Pane) -> None:
    """The record ends with the agent's own answer, so that its words are no message."""
    opened.ask()
    until(lambda: ABOUT in opened.screen, "the answer", AGENT_S)
    record = until(lambda: opened.ended(FINISHED), "the end", AGENT_S)
    assert record.prompt == ASKED
    assert with_record(opened.reading(), record).limit is None
