"""What a person sees: the live display and its questions in a real tmux, and without one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest

from kit.box import Box
from kit.command import SEGUE
from kit.terminal import Terminal
from kit.tmux import Tmux, a_server
from kit.waiting import until


class Window:
    """A shell in a tmux of its own, in the project's folder."""

    def __init__(self, box: Box, tmux: Tmux, size: str) -> None:
        self._box, self._tmux = box, tmux
        width, height = size.split("x")
        env = [f"{name}={value}" for name, value in box.env({"PS1": "shell$ "}).items()]
        shell = shlex.join(["env", "-i", *env, "bash", "--norc", "--noprofile"])
        words = ("-x", width, "-y", height, "-c", str(box.root), shell)
        self("new-session", "-d", "-s", "a", *words)
        self.shows("shell$")

    def __call__(self, *words: str) -> str:
        return self._tmux(*words)

    def type(self, *keys: str) -> None:
        self("send-keys", "-t", "a", *keys)

    @property
    def screen(self) -> str:
        return self("capture-pane", "-p", "-J", "-t", "a")

    @property
    def history(self) -> str:
        """All that was ever printed, and the screen below it."""
        return self("capture-pane", "-p", "-J", "-t", "a", "-S", "-")

    def shows(self, *wanted: str) -> str:
        """Wait until the screen shows these texts."""
        until(lambda: all(text in self.screen for text in wanted), f"{wanted}")
        return self.screen


@pytest.fixture
def window(box: Box, request: pytest.FixtureRequest) -> Iterator[Window]:
    with a_server() as tmux:
        yield Window(box, tmux, getattr(request, "param", "80x24"))


def plan(box: Box) -> None:
    box.plan(
        "- [!] T-001: the old one\n  - run: true\n  <!-- previous error: npm test failed -->\n"
        f"- [ ] T-002: goes on and on\n  - run: echo hello; {box.hold('two')}\n"
        f"- [ ] T-003: will fail\n  - retries: 0\n  - run: {box.hold('three')}; exit 7\n"
    )


@pytest.mark.parametrize("window", ["80x24", "40x20"], indirect=True)
def test_history_is_never_overwritten(box: Box, window: Window) -> None:
    """The shell's lines, what happened, the question and the chosen answer stay to be read; while
    it is asked, what runs is seen, and lines that come stand above it."""
    plan(box)
    window.type(
        "for i in 1 2 3; do echo mine $i; done; " + f"{SEGUE} run PLAN.md --jobs 3", "Enter"
    )
    screen = window.shows("❓ T-001", "T-002", "hello")
    assert "⠋" in screen or any(sign in screen for sign in "⠙⠹⠸⠼⠴⠦⠧⠇⠏")
    assert screen.rstrip().splitlines()[-1].strip() == ">"
    window.type("xx")
    window.shows("> xx")
    box.release("three")
    screen = window.shows("T-003 failed: exit code 7")
    assert screen.rstrip().splitlines()[-1].strip() == "> xx", "the line stands above the prompt"
    window.type("BSpace", "BSpace", "1", "Enter")
    window.shows("✔ T-001")
    box.release("two")
    window.shows("❓ T-003")
    window.type("2", "Enter")
    window.shows("skipped: T-003", "segue run PLAN.md")
    told = window.history
    for text in ("mine 1", "mine 2", "mine 3", "T-001: the old one", "error: npm test failed",
                 "> [1] retry", "T-003 failed: exit code 7", "T-003: will fail", "> [2] skip"):  # fmt: skip
        assert text in told, told
    assert told.index("mine 3") < told.index("npm test failed") < told.index("> [1]")
    assert told.index("> [1]") < told.index("T-003: will fail") < told.index("> [2]")
    assert "xx" not in told


def test_ctrl_z_gives_the_screen_back(box: Box, window: Window) -> None:
    """The shell's lines meanwhile stay; in the foreground the display and the question return."""
    plan(box)
    window.type(f"{SEGUE} run PLAN.md --jobs 3", "Enter")
    window.shows("❓ T-001", "hello")
    window.type("C-z")
    screen = window.shows("Stopped")
    assert "❓" not in screen
    window.type("echo between; stty -a | tr ' ' '\\n' | grep -x -e echo -e -echo", "Enter")
    until(lambda: "\necho\n" in window.screen, "the terminal echoes")
    window.type("fg", "Enter")
    window.shows("between", "❓ T-001", "hello")
    window.type("C-c")
    window.shows("Stopping")
    until(lambda: window.screen.rstrip().endswith("shell$"), "its end")
    told = window.history
    assert told.count("error: npm test failed") == 1, told
    assert "between" in told
    assert box.marks() == {"T-001": "!", "T-002": "~", "T-003": "~"}


def test_a_status_that_is_kept_live_leaves_the_screen_alone(box: Box, window: Window) -> None:
    """It is drawn in its place, follows what happens, and its last look stays."""
    plan(box)
    window.type(f"echo mine; {SEGUE} status --watch", "Enter")
    window.shows("mine", "PLAN.md  pending")
    box.edit("- [!] T-001", "- [x] T-001")
    window.shows("1/3")
    window.type("C-c")
    until(lambda: window.screen.rstrip().endswith("shell$"), "its end")
    assert "mine" in window.screen
    assert window.history.count("PLAN.md  pending") == 1, window.history


def test_a_dumb_terminal_shows_the_lines_of_a_pipe(box: Box) -> None:
    """TERM=dumb: no cursor moves, no colours; LC_ALL=C: ASCII marks; a question is asked all the
    same."""
    box.plan("- [ ] T-1: a\n  - run: true\n- [!] T-2: b\n  - run: true\n")
    terminal = Terminal(box, "run", "PLAN.md", env={"TERM": "dumb", "LC_ALL": "C"})
    terminal.expect("[3]")
    terminal.expect("ok T-1 completed")
    terminal.type("1\r")
    done = terminal.end()
    assert done.code == 0
    assert "ok T-2 completed" in done.out
    assert "\x1b" not in terminal._raw.decode()
    assert done.out.isascii()


def test_a_live_display_in_ascii(box: Box) -> None:
    """Where the locale has no Unicode, the display has none either."""
    box.plan("- [ ] T-1: a\n  - run: true\n- [ ] T-2: b\n  - retries: 0\n  - run: false\n")
    terminal = Terminal(box, "run", "PLAN.md", "--on-failed", "stop", env={"LC_ALL": "POSIX"})
    done = terminal.end()
    assert "ok T-1" in done.out
    assert "FAILED T-2" in done.out
    assert done.out.isascii()
    assert "\x1b[" in terminal._raw.decode()
