"""What the tests of `segue watch` share: a tmux of their own, scripted agents in it, a watcher.

What an agent was sent is read from the agent's own log, never from what Segue says about it.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from kit.box import Box
from kit.command import Event, Going
from kit.tmux import Tmux
from kit.waiting import until

HERE = Path(__file__).parent
RESUME = "continue"
ENTER = "\r"
SOON_S = 3  # a reset that is not far
LATE_S = 30.0  # how late a wake may be on a machine that has much to do
COOKED = "✻ Cooked for 1s · done 6:32 PM"
QUICK = {"wake_margin_s": 0, "recheck_after": 1}
HINTS = {
    "claude": 'Try "write a test for app.py"',
    "codex": "Ask Codex to do anything",
    "gemini": "Type your message or @path/to/file",
}


def soon(seconds: float = SOON_S) -> int:
    """An instant in whole seconds, at least so far from now."""
    return math.ceil(time.time() + seconds)


def instant(text: str) -> float:
    """An instant of an event; it must be UTC."""
    moment = datetime.fromisoformat(text)
    assert moment.utcoffset() == UTC.utcoffset(None), f"{text} is not UTC"
    return moment.timestamp()


# --- what a stopped agent shows


def claude_stopped(epoch: int, *, said: str = "write the parser") -> list[str]:
    """A limit with its reset to the second."""
    return [f"❯ {said}", f"  ⎿  Claude AI usage limit reached|{epoch}", COOKED]


def claude_says(line: str, said: str = "write the parser") -> list[str]:
    return [f"❯ {said}", f"  ⎿  {line}", COOKED]


def weekly_stopped(epoch: int) -> list[str]:
    """The weekly limit, with date, clock and zone."""
    at = datetime.fromtimestamp(epoch, UTC)
    clock = f"{at:%I:%M:%S%p}".lstrip("0").lower()
    return claude_says(f"You've hit your weekly limit · resets {at:%b} {at.day}, {clock} (UTC)")


def codex_stopped(seconds: int) -> list[str]:
    message = f"You've hit your usage limit. Upgrade to Pro or try again in {seconds} seconds."
    return ["› write the parser", "", f"■ {message}"]


def gemini_stopped(seconds: int) -> list[str]:
    message = "You have exhausted your capacity on this model."
    return [
        "> write the parser",
        f"✕ [API Error: {message} Your quota will reset after {seconds}s.]",
    ]


STOPPED: dict[str, Callable[[int], list[str]]] = {"codex": codex_stopped, "gemini": gemini_stopped}


def menu_view(body: list[str], entries: list[str], cursor: int = 0, **more: Any) -> dict[str, Any]:
    return {"mode": "menu", "body": body, "menu": {"entries": entries, "cursor": cursor, **more}}


# --- agents


@dataclass
class Tui:
    """A scripted agent in a pane."""

    pane: str
    folder: Path
    tmux: Tmux

    @property
    def log(self) -> list[Event]:
        text = (self.folder / "log").read_text("utf-8") if (self.folder / "log").exists() else ""
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]

    def of(self, event: str) -> list[Event]:
        return [each for each in self.log if each["event"] == event]

    @property
    def bytes(self) -> list[str]:
        """Every piece of input, in order."""
        return [each["text"] for each in self.of("bytes")]

    @property
    def submitted(self) -> list[str]:
        return [each["text"] for each in self.of("submitted")]

    @property
    def chosen(self) -> list[str]:
        return [each["text"] for each in self.of("chosen")]

    @property
    def screen(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", self.pane)

    @property
    def pid(self) -> int:
        return int(self.of("ready")[-1]["pid"])

    def wait(self, event: str, times: int = 1, wait_s: float = 90) -> Event:
        """Wait until something has happened so many times; the last of them."""
        what = f"{event} in {self.pane}"
        return until(lambda: self.of(event)[times - 1 :], what, wait_s)[0]

    def show(self, **view: Any) -> None:
        """Show something else from now on."""
        count = len(self.of("shown"))
        with (self.folder / "control").open("w") as pipe:
            pipe.write(json.dumps(view) + "\n")
        until(lambda: len(self.of("shown")) > count, "the new view")

    def first_sent_at(self) -> float:
        return float(self.wait("bytes")["at"])

    def resumed_once(self, text: str = RESUME) -> None:
        """The text came once, Enter came behind it as a piece of its own, and nothing else."""
        assert self.submitted == [text], self.log
        assert "".join(self.bytes) == text + ENTER, self.bytes
        assert self.bytes[-1] == ENTER, self.bytes
        assert self.of("pasted") == []

    def untouched(self) -> None:
        assert self.bytes == [], self.log


# --- the watcher


@dataclass
class Watch:
    """A `segue watch --json` that is under way."""

    going: Going

    @property
    def events(self) -> list[Event]:
        """Every line of its output is an event."""
        return self.going.result.events

    @property
    def err(self) -> str:
        return self.going.result.err

    def of(self, pane: str, state: str | None = None) -> list[Event]:
        mine = [event for event in self.events if event.get("pane") == pane]
        return [event for event in mine if state is None or event.get("state") == state]

    def state(self, pane: str, state: str, wait_s: float = 90) -> Event:
        """Wait until a pane is told to be in this state."""
        self.wait(lambda: self.of(pane, state), f"{state} of {pane}", wait_s)
        return self.of(pane, state)[0]

    def now(self, pane: str, state: str, wait_s: float = 90) -> None:
        """Wait until this is the last that was told of a pane."""
        self.wait(lambda: self.states(pane)[-1:] == [state], f"{state} of {pane} now", wait_s)

    def states(self, pane: str) -> list[str]:
        return [event["state"] for event in self.of(pane) if event.get("state")]

    def wait(self, condition: Callable[[], Any], what: str, wait_s: float = 90) -> Any:
        def seen() -> Any:
            found = condition()
            assert found or self.going.process.poll() is None, f"ended before {what}: {self.told}"
            return found

        try:
            return until(seen, what, wait_s)
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.told}") from None

    @property
    def told(self) -> str:
        result = self.going.result
        return f"\n{result.out}\n{result.err}"

    def kill(self) -> None:
        self.going.kill()

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Ask it to end; how it ended."""
        self.going.send(number)
        done = self.going.end()
        assert "Traceback" not in done.said, done.said
        return done.code


class Commands:
    """A person's desk: a project, a tmux server, agents in its panes, a watcher."""

    def __init__(self, box: Box) -> None:
        self.box = box
        box.extra_env = {"TZ": "UTC", "SEGUE_LANG": "en", **box.extra_env}
        self.tmux = Tmux(box.tmp, box.env())
        self.recovery()
        self._count = 0

    def __enter__(self) -> Commands:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for going in self.box.started:
            if going.process.poll() is None:
                going.kill()
            sys.stdout.write(Watch(going).told)  # pytest shows it where a test failed
        self.tmux.end()

    def recovery(self, **settings: Any) -> None:
        """The project's `[recovery]`: quick, unless told otherwise."""
        lines = [
            f"{name} = {json.dumps(value, ensure_ascii=False)}"
            for name, value in {**QUICK, **settings}.items()
        ]
        self.box.config("[recovery]\n" + "\n".join(lines) + "\n")

    def program(self, brand: str) -> Path:
        """The scripted agent under the name of a real one."""
        path = self.box.tmp / "bin" / brand
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            shutil.copy(HERE / "tui.py", path)
        return path

    def play(self, brand: str, **view: Any) -> tuple[Path, list[str]]:
        """What an agent needs, and the command that starts it."""
        self._count += 1
        folder = self.box.tmp / f"agent-{self._count}"
        folder.mkdir()
        (folder / "view").write_text(json.dumps(view), "utf-8")
        os.mkfifo(folder / "control")
        files = [str(folder / name) for name in ("view", "log", "control")]
        return folder, [sys.executable, str(self.program(brand)), *files]

    def tui(self, brand: str = "claude", *, size: str = "120x30", **view: Any) -> Tui:
        """An agent in a pane of its own, which shows this."""
        view.setdefault("hint", HINTS[view.get("look", brand)])
        folder, command = self.play(brand, **view)
        pane = self.room(*command, size=size)
        tui = Tui(pane, folder, self.tmux)
        tui.wait("ready")
        return tui

    def room(self, *command: str, size: str = "120x30") -> str:
        """A pane of its own with this command in it."""
        return self.tmux.room(None, *command, size=size)

    def limited(self, epoch: int, **view: Any) -> Tui:
        """Claude, stopped until then."""
        return self.tui(body=claude_stopped(epoch), **view)

    def words(self, *args: str) -> list[str]:
        return ["watch", "--json", "--tmux-socket", str(self.tmux.socket), *args]

    def watch(self, *args: str, env: dict[str, str] | None = None) -> Watch:
        """A watcher of this tmux server."""
        return Watch(self.box.start(*self.words(*args), env=env))

    def watch_all(self, *args: str) -> Watch:
        """A watcher that has looked at all panes; see `witness`."""
        watch = self.watch(*args)
        self.witness(watch)
        return watch

    def witness(self, watch: Watch) -> None:
        """A pane of another brand appears, hits a limit, and is waked: what the watcher wanted
        to do with the panes that were there before is done by now."""
        witness = self.tui("codex", body=["› write the parser", "• I am reading it."])
        watch.wait(lambda: watch.of(witness.pane), "the witness is seen")
        witness.show(body=codex_stopped(2))
        watch.state(witness.pane, "paused")
        witness.wait("submitted")
        watch.state(witness.pane, "busy")


def lines_of(text: str, mark: str) -> list[str]:
    """The log lines with this mark, without their time."""
    stamp = re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] ")
    found = [line for line in text.splitlines() if mark in line]
    assert all(stamp.match(line) for line in found), found
    return [stamp.sub("", line) for line in found]
