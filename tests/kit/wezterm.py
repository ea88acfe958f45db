"""A stand-in for `wezterm`: its command line as strict as the real one, its panes in files.

    wezterm FOLDER cli …

FOLDER (put in by the script that stands on the PATH) has one file for each pane, a log of what
each agent was sent, and `calls`, a line for each time it was asked. Without the file `running`
there is no WezTerm to reach.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

from kit.tui import Agent

KEPT = ("mode", "draft", "hint", "body", "status", "menu", "reactions", "after_choice", "later")
KEPT_TIMES = ("busy_s", "busy_since")
ROWS, COLUMNS = 30, 120


def fail(message: str, code: int = 1) -> NoReturn:
    sys.stderr.write(message + "\n")
    raise SystemExit(code)


class Strict(argparse.ArgumentParser):
    """Refuses as the real one does, and knows no shortened options."""

    def __init__(self, **rest: Any) -> None:
        super().__init__(allow_abbrev=False, add_help=False, **rest)

    def error(self, message: str) -> NoReturn:
        fail(f"error: {message}\n\nFor more information, try '--help'.", 2)


def parser() -> Strict:
    top = Strict()
    cli = top.add_subparsers(dest="command", required=True).add_parser("cli")
    cli.add_argument("--no-auto-start", action="store_true")
    cli.add_argument("--prefer-mux", action="store_true")
    cli.add_argument("--class", dest="class_")
    asks = cli.add_subparsers(dest="ask", required=True)
    listing = asks.add_parser("list")
    listing.add_argument("--format", default="table", choices=["table", "json"])
    text = asks.add_parser("get-text")
    text.add_argument("--pane-id", type=int)
    text.add_argument("--start-line", type=int)
    text.add_argument("--end-line", type=int)
    text.add_argument("--escapes", action="store_true")
    send = asks.add_parser("send-text")
    send.add_argument("--pane-id", type=int)
    send.add_argument("--no-paste", action="store_true")
    send.add_argument("text", nargs="?")
    return top


class Panes:
    """The panes in the folder; one program at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = (folder / "lock").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def load(self, number: int) -> tuple[Agent, dict[str, Any]]:
        path = self.folder / f"{number}.pane"
        if not path.exists():
            fail(f"ERROR wezterm > no such pane {number}; terminating")
        kept = json.loads(path.read_text("utf-8"))
        log = os.open(self.folder / f"{number}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        agent = Agent(kept["brand"], {}, log)
        for name in (*KEPT, *KEPT_TIMES):
            if name in kept:
                setattr(agent, name, kept[name])
        agent.later = [(at, view) for at, view in agent.later]
        agent.tick()
        return agent, kept

    def save(self, number: int, agent: Agent, kept: dict[str, Any]) -> None:
        now = {**kept, **{name: getattr(agent, name) for name in (*KEPT, *KEPT_TIMES)}}
        path = self.folder / f"{number}.pane"
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(now), "utf-8")
        fresh.replace(path)

    def listed(self) -> list[dict[str, Any]]:
        return [self.described(int(p.stem)) for p in sorted(self.folder.glob("*.pane"))]

    def described(self, number: int) -> dict[str, Any]:
        agent, kept = self.load(number)
        title, _rows, row, column = agent.screen()
        self.save(number, agent, kept)
        size = {"rows": ROWS, "cols": COLUMNS, "pixel_width": 960, "pixel_height": 600, "dpi": 96}
        return {
            "window_id": 0, "tab_id": number, "pane_id": number, "workspace": "default",
            "size": size, "title": title, "cwd": "file:///home/user/work", "cursor_x": column,
            "cursor_y": row, "cursor_shape": "Default", "cursor_visibility": "Visible",
            "left_col": 0, "top_row": 0, "tab_title": "", "window_title": title,
            "is_active": True, "is_zoomed": False, "tty_name": kept.get("tty"),
        }  # fmt: skip


def main(folder: Path, argv: list[str]) -> None:
    told = parser().parse_args(argv)
    with (folder / "calls").open("a") as calls:
        calls.write(json.dumps({"at": time.time(), "argv": argv}, ensure_ascii=False) + "\n")
    if not (folder / "running").exists():
        fail("ERROR wezterm > failed to connect to Socket; terminating")
    panes = Panes(folder)
    if told.ask == "list":
        assert told.format == "json", "a table is for people"
        sys.stdout.write(json.dumps(panes.listed()) + "\n")
        return
    if told.pane_id is None:
        fail("ERROR wezterm > --pane-id was not specified; terminating")
    agent, kept = panes.load(told.pane_id)
    if told.ask == "get-text":
        rows = [row.replace("\x1b[2m", "").replace("\x1b[22m", "") for row in agent.screen()[1]]
        sys.stdout.write("\n".join([*rows, *[""] * (ROWS - len(rows)), ""]))
    else:
        text = told.text if told.text is not None else sys.stdin.read()
        if not told.no_paste:
            text = f"\x1b[200~{text}\x1b[201~"
        agent.typed(text.encode())
        agent.tick()
    panes.save(told.pane_id, agent, kept)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
