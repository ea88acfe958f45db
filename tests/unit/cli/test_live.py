"""The live display: what is drawn, what stays above it, and whose terminal it is."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator

import pytest
from rich.cells import cell_len
from rich.console import Console

from kit.bench import Bench
from kit.clock import play
from segue.cli import display, live
from segue.cli.asker import Question
from segue.cli.live import LiveReporter

PLAN = "- [ ] T-1: Build\n- [ ] T-2: Test (deps: T-1)\n"
WIDTH, HEIGHT = 60, 14
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
NO_USAGE = {"input_tokens": 0, "output_tokens": 0, "cost_usd": None}
FAILED = {"task": "T-1", "error": "exit code 3"}


class Keys:
    """The terminal's line editing: on or off."""

    def __init__(self, _stream: int) -> None:
        self.is_taken = False

    def start(self) -> None:
        self.is_taken = True

    def stop(self) -> None:
        self.is_taken = False


class Terminal:
    """What a terminal of this size was sent."""

    def __init__(self) -> None:
        self._sent = io.StringIO()
        self._seen = 0
        self.console = Console(
            file=self._sent, width=WIDTH, height=HEIGHT, force_terminal=True, highlight=False
        )

    def new(self) -> str:
        """What came since the last look, without what moves the cursor or has a colour."""
        text = self._sent.getvalue()
        self._seen, start = len(text), self._seen
        return ESCAPES.sub("", text[start:])


@pytest.fixture
def terminal(alone: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    made = Terminal()
    monkeypatch.setattr(display, "make_console", lambda: made.console)
    monkeypatch.setattr(live, "KeyByKey", Keys)
    with open(os.devnull, encoding="utf-8") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        yield made


def shown(bench: Bench) -> LiveReporter:
    """A reporter that shows a plan whose first task has begun; on the loop that runs."""
    bench.begin(PLAN)
    bench.starts()
    reporter = LiveReporter()
    reporter.show(bench.run)
    return reporter


def keys(reporter: LiveReporter) -> Keys:
    taken = reporter._keys
    assert isinstance(taken, Keys)
    return taken


def question() -> Question:
    return Question("T-1: Which database?", ("PostgreSQL", "SQLite"), None, lambda answer: None)


def test_the_plan_is_drawn_with_how_far_it_is(bench: Bench, terminal: Terminal) -> None:
    """The name, a bar and the count; below them the tasks."""

    async def scene() -> None:
        reporter = shown(bench)
        drawn = terminal.new()
        assert re.search(r"PLAN\.md  ┄+  0/2  0s", drawn)
        assert all(text in drawn for text in ("T-1", "Build", "T-2"))
        reporter.close()

    play(scene())


def test_only_what_is_worth_a_line_stays(
    bench: Bench, terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    """The tree shows the rest; a skipped task is told where there is a reason. A warning goes to
    standard error as well, where that is not this terminal."""

    async def scene() -> None:
        reporter = shown(bench)
        terminal.new()
        reporter.emit("task_failed", **FAILED)
        assert re.search(r"\d\d:\d\d:\d\d ✘ T-1 failed: exit code 3\n", terminal.new())
        reporter.emit("task_started", task="T-1", title="Build", attempt=1)
        reporter.emit("task_skipped", task="T-2")
        assert "T-2 skipped" not in terminal.new()
        reporter.emit("task_skipped", task="T-2", why="asked for")
        assert "T-2 skipped: asked for" in terminal.new()
        assert capsys.readouterr().err == ""
        reporter.emit("notice", text="[WARN] the disk is nearly full")
        assert "[WARN] the disk is nearly full" in terminal.new()
        reporter.close()

    play(scene())
    assert capsys.readouterr().err.endswith("] [WARN] the disk is nearly full\n")


def test_the_last_words_of_an_agent_are_in_the_tree_alone(bench: Bench, terminal: Terminal) -> None:
    """They are drawn at the next turn of the clock, and no line of them stays."""

    async def scene() -> None:
        reporter = shown(bench)
        terminal.new()
        reporter.emit("task_said", task="T-1", text="compiling 12 files")
        assert terminal.new() == ""
        reporter._tick()
        assert "compiling 12 files" in terminal.new()
        reporter.close()

    play(scene())


def test_a_question_is_printed_once_and_can_be_answered_below(
    bench: Bench, terminal: Terminal
) -> None:
    """Keys are taken only while it waits; what was refused says why; the answer stays."""

    async def scene() -> None:
        reporter = shown(bench)
        reporter.asker()
        terminal.new()
        reporter.emit("gate_opened", task="T-1", text="Which database?")
        assert terminal.new() == "", "it is asked here and now"
        asked = question()
        reporter.question(asked)
        assert terminal.new().count("T-1: Which database?") == 1
        assert keys(reporter).is_taken
        reporter.refused(asked, "`SQLight` is not one of the options")
        assert "not one of the options" in terminal.new()
        reporter.typed("SQL")
        drawn = terminal.new()
        assert "> SQL" in drawn
        assert "not one of the options" not in drawn
        reporter.settled(asked, "SQLite")
        reporter.question(None)
        assert "❓ T-1 > SQLite\n" in terminal.new()
        assert not keys(reporter).is_taken
        reporter.close()

    play(scene())


def test_of_a_long_answer_the_end_is_seen(bench: Bench, terminal: Terminal) -> None:
    """It is what is being typed; a row stays a row."""

    async def scene() -> None:
        reporter = shown(bench)
        reporter.question(question())
        terminal.new()
        reporter.typed("한글 " * 40 + "the end")
        (line,) = [line for line in terminal.new().splitlines() if "the end" in line]
        assert line.startswith("> ")
        assert cell_len(line) < WIDTH
        reporter.close()

    play(scene())


def test_the_end_leaves_the_plan_and_a_summary(bench: Bench, terminal: Terminal) -> None:
    """And the terminal as it was."""

    async def scene() -> None:
        reporter = shown(bench)
        reporter.question(question())
        terminal.new()
        lists: dict[str, object] = {n: [] for n in ("completed", "failed", "skipped", "parked")}
        reporter.emit("finished", **lists, waiting=[], usage=NO_USAGE, exit=130)
        drawn = terminal.new()
        assert drawn.index("T-2") < drawn.index("Stopped. Progress saved.")
        assert drawn.rstrip().endswith("To continue: segue run PLAN.md")
        assert not keys(reporter).is_taken

    play(scene())


def test_in_the_background_nothing_is_drawn(
    bench: Bench, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once it has the terminal again, it is drawn by itself."""

    async def scene() -> None:
        monkeypatch.setattr(live, "is_foreground", lambda: False)
        reporter = shown(bench)
        assert "T-1" not in terminal.new()
        monkeypatch.setattr(live, "is_foreground", lambda: True)
        reporter._tick()
        assert "T-1" in terminal.new()
        reporter.pause()
        terminal.new()
        reporter.typed("not drawn")
        assert terminal.new() == ""
        reporter.close()

    play(scene())


@pytest.mark.parametrize("name", ["short.md", "한글" * 40 + ".md"])
def test_the_head_is_one_row_whatever_the_plan_is_called(
    bench: Bench, terminal: Terminal, name: str
) -> None:
    async def scene() -> None:
        reporter = shown(bench)
        terminal.new()
        bench.run.file.shown = name
        reporter._refresh()
        (head,) = [line for line in terminal.new().splitlines() if name[:4] in line]
        assert cell_len(head) <= WIDTH
        reporter.close()

    play(scene())
