"""A scripted agent in a terminal: draws like the real ones, takes raw keys, keeps every byte.

    claude PLAY LOG CONTROL

The name it is started by says how it looks (claude, codex, gemini), unless PLAY has a "look". PLAY is a JSON file with its
first view, CONTROL a pipe that takes further views while it runs, one JSON object per line, and
LOG gets one JSON object for each thing that happens, each with its time.

A view has any of these:

    mode        "prompt" (waits for a person), "busy", "menu", "frozen" (takes no key)
    body        the conversation above the input line; "more" adds lines to it
    draft       what stands in the input line
    hint        the dim words of an empty input line
    status      the lines below the input line
    menu        {"title": [...], "entries": [...], "cursor": 0, "numbered": true, "deaf": 0}; it
                overhears so many arrow keys ("deaf")
    reactions   what each submission leads to, one after the other; the last one stays: a view,
                which may come late ("delay_s"), or null for none at all. Without any: busy
    after_choice  the view after an entry of a menu was taken
    busy_s      how long it stays busy before it waits again, with "done" as its last word
    after_busy  the view after that, instead of its last word

In a line of the body, `{in 4}` is the time four seconds after it is shown, in seconds since 1970.

Like the real ones it takes a text with Enter in the same piece for a paste: it is not submitted.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import re
import select
import sys
import termios
import time
import tty
import unicodedata
from pathlib import Path
from typing import Any

View = dict[str, Any]
WIDTH = 100
KEYS = {"\x1b[A": "Up", "\x1b[B": "Down", "\x1bOA": "Up", "\x1bOB": "Down", "\x1b": "Escape"}
SPIN = "✢✳✶✻✽"
IN = re.compile(r"\{in (-?[\d.]+)\}")


def columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def dated(line: str) -> str:
    return IN.sub(lambda found: str(math.ceil(time.time() + float(found[1]))), line)


class Agent:
    """What it shows, and what keys do to it."""

    def __init__(self, brand: str, play: View, log: int) -> None:
        self.brand, self._log = brand, log
        self.mode, self.draft, self.hint = "prompt", "", ""
        self.body: list[str] = []
        self.status: list[str] = []
        self.menu: dict[str, Any] = {}
        self.reactions: list[View | None] = []
        self.after_choice: View = {"mode": "prompt"}
        self.busy_s: float | None = None
        self.after_busy: View | None = None
        self.busy_since = 0.0
        self.later: list[tuple[float, View]] = []
        self._rest = b""
        self.take(play)

    def tell(self, event: str, **facts: Any) -> None:
        line = json.dumps({"at": time.time(), "event": event, **facts}, ensure_ascii=False)
        os.write(self._log, line.encode() + b"\n")

    def take(self, view: View) -> None:
        """A new view; what it does not name stays."""
        for name in (
            "draft",
            "hint",
            "status",
            "menu",
            "reactions",
            "after_choice",
            "busy_s",
            "after_busy",
        ):
            if name in view:
                setattr(self, name, view[name])
        lines = [*view.get("body", self.body), *view.get("more", [])]
        self.body = [dated(line) for line in lines]
        if "mode" in view and view["mode"] != self.mode:
            self.mode = view["mode"]
            self.busy_since = time.time()
            self.tell(self.mode)

    # --- keys

    def typed(self, data: bytes) -> None:
        """One piece of input, as it came."""
        self.tell("bytes", text=data.decode("utf-8", "backslashreplace"), mode=self.mode)
        data, self._rest = self._rest + data, b""
        try:
            piece = data.decode()
        except UnicodeDecodeError:
            self._rest = data  # the end of a character is still to come
            return
        if self.mode == "frozen":
            return
        if key := KEYS.get(piece):
            self.press(key)
        elif len(piece) > 1 and not piece.startswith("\x1b"):
            self.paste(piece)
        else:
            self.press(piece)

    def paste(self, piece: str) -> None:
        if self.mode != "menu":  # a menu swallows what is typed
            self.draft += piece.replace("\r", "\n")
            if "\r" in piece:
                self.tell("pasted", text=piece)

    def press(self, key: str) -> None:
        if self.mode == "menu":
            self.press_in_menu(key)
        elif key == "\r":
            self.submit()
        elif key == "\x7f":
            self.draft = self.draft[:-1]
        elif key in ("\x15", "\x03", "Escape"):
            self.tell("cleared", text=self.draft, key=repr(key))
            self.draft = ""
        elif key.isprintable() and len(key) == 1:
            self.draft += key

    def press_in_menu(self, key: str) -> None:
        entries = self.menu["entries"]
        at = self.menu.get("cursor", 0)
        if key in ("Up", "Down") and self.menu.get("deaf", 0) > 0:
            self.menu["deaf"] -= 1
        elif key in ("Up", "Down"):
            self.menu["cursor"] = (at + (1 if key == "Down" else -1)) % len(entries)
        elif key.isdigit() and 1 <= int(key) <= len(entries):
            self.choose(entries[int(key) - 1])
        elif key == "\r":
            self.choose(entries[at])
        elif key == "Escape":
            self.tell("cancelled")
            self.take(self.after_choice)

    def choose(self, entry: str) -> None:
        self.tell("chosen", text=entry)
        self.take(self.after_choice)

    def submit(self) -> None:
        text, self.draft = self.draft, ""
        if not text:
            self.tell("empty")
            return
        self.tell("submitted", text=text)
        mark = {"claude": "❯", "codex": "›"}.get(self.brand, ">")
        reaction: View | None = {"mode": "busy"}
        if self.reactions:
            reaction = self.reactions[0]
            self.reactions = self.reactions[1:] or self.reactions
        if reaction is not None:
            more = [f"{mark} {text}", *reaction.get("more", [])]
            self.later.append(
                (time.time() + reaction.get("delay_s", 0), {**reaction, "more": more})
            )

    # --- drawing

    def screen(self) -> tuple[str, list[str], int, int]:
        """The title, the rows, and where the cursor stands."""
        rows = {"claude": self.claude, "codex": self.codex}.get(self.brand, self.gemini)()
        at = next((n for n, row in enumerate(rows) if "\0" in row), 0)
        column = columns(rows[at].partition("\0")[0])
        shown = self.draft or (f"\x1b[2m{self.hint}\x1b[22m" if self.hint else "")
        rows = [row.replace("\0", shown) for row in rows]
        return self.title(), rows, at, column + columns(self.draft)

    def title(self) -> str:
        is_busy = self.mode == "busy"
        spin = "◐◑"[int(time.time()) % 2]
        names = {"claude": f"{spin if is_busy else '✳'} Claude Code", "codex": "work"}
        return names.get(self.brand, "Gemini - work")

    def claude(self) -> list[str]:
        rows = [" ▐▛███▛█   Claude Code v2.1.325", "▝▜██████▀  Opus 5.5 · Claude Max"]
        rows += [" ▝▝   ▝▝   /home/user/work", "", *self.body]
        if self.mode == "menu":
            return [*rows, "▔" * WIDTH, *self.menu_rows("❯")]
        keys = "  ⏵⏵ auto mode on (shift+tab to cycle)"
        if self.mode == "busy":
            rows.append(f"{self.spin()} Leavening… ({self.busy_for()}s · ↓ 45 tokens)")
            keys += " · esc to interrupt"
        rule = "─" * WIDTH
        return [*rows, rule, "❯ \0", rule, *self.status, keys]

    def codex(self) -> list[str]:
        rows = ["  >_ OpenAI Codex (v0.166.0)", "     /home/user/work", "", *self.body, ""]
        if self.mode == "menu":
            return [*rows, *self.menu_rows("›")]
        if self.mode == "busy":
            rows += [f"• Working ({self.busy_for()}s • esc to interrupt)", ""]
        below = ["  gpt-5 default · /home/user/work", "  ? for shortcuts"]
        return [*rows, "› \0", "", *self.status, *below]

    def gemini(self) -> list[str]:
        rows = [*self.body, ""]
        if self.mode == "menu":
            return [*rows, *self.menu_rows("●")]
        if self.mode == "busy":
            rows.append(f"⠏ Thinking... (esc to cancel, {self.busy_for()}s)")
        used = columns(self.draft or self.hint)
        box = "│ > \0" + " " * (WIDTH - 6 - used) + " │"
        edge = "─" * (WIDTH - 2)
        below = "~/work     no sandbox (see /docs)     gemini-2.5-pro (99% context left)"
        return [*rows, f"╭{edge}╮", box, f"╰{edge}╯", *self.status, below]

    def menu_rows(self, cursor: str) -> list[str]:
        at = self.menu.get("cursor", 0)
        is_numbered = self.menu.get("numbered", True)
        rows = []
        for number, entry in enumerate(self.menu["entries"]):
            mark = cursor if number == at else " "
            rows.append(f"   {mark} {f'{number + 1}. ' if is_numbered else ''}{entry}")
        title = [f"   {line}" for line in self.menu.get("title", ["What do you want to do?"])]
        return [*title, "", *rows, "", "   Enter to confirm · Esc to cancel"]

    def spin(self) -> str:
        return SPIN[int(time.time() * 5) % len(SPIN)]

    def busy_for(self) -> int:
        return int(time.time() - self.busy_since)

    def tick(self) -> None:
        """What is due now: a late reaction; or it has worked for long enough."""
        while self.later and self.later[0][0] <= time.time():
            self.take(self.later.pop(0)[1])
        if self.mode == "busy" and self.busy_s and time.time() > self.busy_since + self.busy_s:
            mark = {"claude": "●", "codex": "•"}.get(self.brand, "✦")
            done = {"mode": "prompt", "more": [f"{mark} All of it is done now."]}
            after, self.after_busy = self.after_busy, None
            self.take(after or done)


def draw(agent: Agent) -> bytes:
    title, rows, at, column = agent.screen()
    lines = "\r\n".join(f"{row}\x1b[K" for row in rows)
    cursor = f"\x1b[{at + 1};{column + 1}H"
    return f"\x1b]0;{title}\x07\x1b[H{lines}\x1b[J{cursor}".encode()


def written(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def play(agent: Agent, control: int) -> None:
    shown, heard = b"", b""
    while True:
        agent.tick()
        if (now := draw(agent)) != shown:
            written(now)
            shown = now
        ready, _w, _x = select.select([0, control], [], [], 0.05)
        if control in ready:
            heard += os.read(control, 65536)
            *lines, heard = heard.split(b"\n")
            for line in lines:
                agent.take(json.loads(line))
                agent.tell("shown")
        if 0 in ready:
            data = os.read(0, 4096)
            if not data:
                return
            agent.typed(data)


def main() -> None:
    brand = Path(sys.argv[0]).name
    view, log, control = (Path(word) for word in sys.argv[1:4])
    kept = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    pipe = os.open(control, os.O_RDWR)  # both ends: it never comes to an end
    before = termios.tcgetattr(0)
    fcntl.fcntl(pipe, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
    tty.setraw(0)
    written(b"\x1b[?1049h")
    first = json.loads(view.read_text("utf-8"))
    agent = Agent(first.get("look", brand), first, kept)
    agent.tell("ready", pid=os.getpid())
    try:
        play(agent, pipe)
    finally:
        written(b"\x1b[?1049l")
        termios.tcsetattr(0, termios.TCSADRAIN, before)


if __name__ == "__main__":
    main()
