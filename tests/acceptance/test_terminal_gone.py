"""The terminal is closed, its reader goes away, signals are ignored: no try is used up by it."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.book import Book
from kit.box import Box
from kit.command import SEGUE
from kit.feature import FEATURE, Feature, cp
from kit.terminal import Terminal
from kit.tmux import Tmux, a_server
from kit.waiting import until


def held(box: Box) -> None:
    """One task that waits until it is released, and has one try."""
    box.plan(f"- [ ] T-1: a\n  - retries: 0\n  - run: {box.note()}; {box.hold('go')}\n")


def kept(box: Box) -> None:
    """Nothing runs any more, the mark stays, and no try was counted."""
    until(lambda: not box.left_behind(), "everything gone")
    assert box.marks() == {"T-1": "~"}
    assert "<!--" not in box.text()


@pytest.fixture
def tmux() -> Iterator[Tmux]:
    with a_server() as server:
        yield server


@pytest.mark.parametrize("how", ["kill-pane", "kill-server"])
def test_a_pane_that_is_closed_keeps_the_place(box: Box, tmux: Tmux, how: str) -> None:
    """tmux ends the pane under a run, twice: the agents end, and the third run does the task."""
    held(box)
    for n in (1, 2):
        words = [f"{name}={value}" for name, value in box.env().items()]
        command = shlex.join(["env", "-i", *words, str(SEGUE), "run", "PLAN.md"])
        tmux("new-session", "-d", "-s", f"s{n}", "-c", str(box.root), f"{command}; sleep 300")
        until(lambda n=n: len(box.notes()) == n, "the agent up")
        tmux(how, *(["-t", f"s{n}"] if how == "kill-pane" else []))
        kept(box)
    box.release("go")
    done = box.run()
    assert done.code == 0
    assert done.tasks("task_retrying") == []


class Closed(Terminal):
    """A terminal whose window can be closed."""

    def close(self) -> int:
        """Close it; how the command ended then."""
        os.close(self._fd)
        _pid, status = until(lambda: _ended(self.pid), "the command's end")
        return os.waitstatus_to_exitcode(status)


def _ended(pid: int) -> tuple[int, int] | None:
    """Its id and its status once it has ended."""
    found = os.waitpid(pid, os.WNOHANG)
    return found if found[0] else None


@pytest.mark.parametrize("words", ["", "--plain", "--json"])
def test_a_terminal_that_is_closed_keeps_the_place(box: Box, words: str) -> None:
    """Exit 130 in order, whatever shows the run; a later run finds all its tries."""
    held(box)
    for n in (1, 2):
        terminal = Closed(box, "run", "PLAN.md", *words.split())
        until(lambda n=n: len(box.notes()) == n, "the agent up")
        assert terminal.close() == 130
        kept(box)
    box.release("go")
    assert box.run().code == 0


def test_a_terminal_that_is_closed_during_a_check_and_a_question(box: Box) -> None:
    """A check that was cut off is made again; a question that nobody can answer stays open."""
    box.plan(
        f"- [ ] T-1: a\n  - retries: 0\n  - run: true\n  - verify: {box.note('v', 'v')};"
        f" {box.hold('go')}\n- [!] T-2: b\n  - run: true\n"
    )
    terminal = Closed(box, "run", "PLAN.md")
    until(lambda: box.notes("v"), "the check up")
    terminal.expect("Choose")
    assert terminal.close() == 130
    until(lambda: not box.left_behind(), "everything gone")
    assert box.marks() == {"T-1": "~", "T-2": "!"}
    box.release("go")
    done = box.run("--on-failed", "retry")
    assert (done.code, done.tasks("task_retrying")) == (0, [])


def test_a_book_whose_terminal_is_closed_keeps_its_place(box: Box) -> None:
    """`write-all`: exit 130, no iteration is counted for what was cut off."""
    book = Book(box)
    book.toml(chapters=1)
    book.writer("hold('go')")
    terminal = Closed(box, "write-all")
    until(lambda: book.writes, "the writer up")
    assert terminal.close() == 130
    until(lambda: not box.left_behind(), "everything gone")
    box.release("go")
    assert box.segue("write-all").code == 0
    assert [write["env"]["SEGUE_ATTEMPT"] for write in book.writes] == ["1", "1"]


def test_a_feature_whose_terminal_is_closed_keeps_its_place(box: Box) -> None:
    """`develop`: exit 130, and the checkpoint's iteration is the first one still."""
    feature = Feature(box)
    feature.settle(cp("cp-1"))
    feature.play("cp-1", "hold('go'); default()")
    terminal = Closed(box, "develop", FEATURE)
    until(lambda: feature.starts("cp-1"), "the agent up")
    assert terminal.close() == 130
    until(lambda: not box.left_behind(), "everything gone")
    box.release("go")
    assert box.segue("develop", "--resume").code == 0
    assert [start.iteration for start in feature.starts("cp-1")] == ["1", "1"]


@pytest.mark.parametrize("option", ["", "--plain", "--json"])
def test_a_display_that_is_gone_ends_nothing(box: Box, option: str) -> None:
    """A terminal that is nobody's to hang up (no SIGHUP comes) fails every write: the run goes on
    to its end without its display."""
    held(box)
    ours, theirs = os.openpty()
    words = ["run", "PLAN.md", *option.split()]
    going = subprocess.Popen(
        [str(SEGUE), *words], cwd=box.root, env=box.env(), start_new_session=True,
        stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    until(box.notes, "the agent up")
    os.close(ours)
    box.release("go")
    assert going.wait(60) == 0
    assert box.marks() == {"T-1": "x"}


@pytest.mark.parametrize("words", ["watch", "watch --plain", "serve --port 0"])
def test_what_watches_and_serves_ends_in_order_with_its_terminal(box: Box, words: str) -> None:
    """Neither dies by the signal nor falls over what it cannot show any more."""
    terminal = Closed(box, *words.split())
    until(lambda: _handles(terminal.pid, {"HUP"}), "handlers")
    assert terminal.close() in (0, 130)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("words", ["run PLAN.md --json", "watch --json", "serve --port 0 --json"])
def test_a_signal_that_was_ignored_before_stays_ignored(
    box: Box, number: signal.Signals, words: str
) -> None:
    """As `nohup segue run … &` wants it; another signal still ends it in order."""
    held(box)
    name = number.name.removeprefix("SIG")
    ignoring = f"trap '' {name}; exec {shlex.quote(str(SEGUE))} {words}"
    started = subprocess.Popen(
        ["sh", "-c", ignoring], cwd=box.root, env=box.env(), start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        until(lambda: _handles(started.pid, {"HUP", "INT", "TERM"} - {name}), "handlers")
        assert _ignores(started.pid, number)
        started.send_signal(number)
        other = signal.SIGTERM if number is not signal.SIGTERM else signal.SIGHUP
        started.send_signal(other)
        started.communicate(timeout=60)
        assert started.returncode in (0, 130)
    finally:
        started.kill()
        started.wait()


def _masks(pid: int) -> dict[str, int]:
    pairs = [line.split(":\t") for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
    return {pair[0]: int(pair[1], 16) for pair in pairs if pair[0] in ("SigIgn", "SigCgt")}


def _ignores(pid: int, number: signal.Signals) -> bool:
    return bool(_masks(pid)["SigIgn"] >> (number - 1) & 1)


def _handles(pid: int, names: set[str]) -> bool:
    caught = _masks(pid)["SigCgt"]
    return all(caught >> (signal.Signals[f"SIG{name}"] - 1) & 1 for name in names)


def test_nohup_lets_a_run_finish(box: Box) -> None:
    """SIGHUP does not stop what was started with nohup: it ends by itself with all done."""
    held(box)
    going = subprocess.Popen(
        ["nohup", str(SEGUE), "run", "PLAN.md"], cwd=box.root, env=box.env(),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    until(box.notes, "the agent up")
    going.send_signal(signal.SIGHUP)
    box.release("go")
    out, _ = going.communicate(timeout=60)
    assert going.returncode == 0, out
    assert box.marks() == {"T-1": "x"}
