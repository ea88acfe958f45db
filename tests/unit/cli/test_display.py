"""What is drawn: through the same way out as lines."""

from __future__ import annotations

import os
import subprocess
import sys

from segue.cli import display

HOSTILE = "a\x1b]0;owned\x07b\u202ec"


def test_drawn_text_only_shows() -> None:
    """Each part of it, and no markup is read in it."""
    assert display.text(HOSTILE).plain == "abc"
    assert display.assemble(HOSTILE, (f"[bold]{HOSTILE}", "dim")).plain == "abc[bold]abc"


def test_drawing_on_a_terminal_that_is_gone_ends_nothing() -> None:
    """Every write fails, and the program goes on to its end."""
    ours, theirs = os.openpty()
    program = (
        "import sys\n"
        "from segue.cli import display, streams\n"
        "board = display.make_console(force_terminal=True)\n"
        "live = display.make_live(board)\n"
        "live.start()\n"
        "live.update(display.text('one'), refresh=True)\n"
        "sys.stdin.readline()\n"
        "for n in range(3):\n"
        "    board.print(display.text('line'))\n"
        "    live.update(display.text('two'), refresh=True)\n"
        "live.stop()\n"
        "sys.exit(0 if not streams.is_read() and not streams.has_lost() else 9)\n"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    seen = b""
    while b"one" not in seen:
        seen += os.read(ours, 4096)
    os.close(ours)
    started.communicate(b"go\n", timeout=60)
    assert started.returncode == 0
