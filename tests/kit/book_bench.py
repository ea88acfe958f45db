"""What tests of books share: `write_book` as it is, with an engine and a clock in our hands.

Everything is real but the processes: book.toml, settings, state file, tables. A test says what the
writer wrote and what the judge printed, and looks at what follows.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit.engine import HandEngine
from kit.steps_bench import StepsBench
from segue.core.book import BookState
from segue.dialects.events import Said
from segue.engine.executors import Job
from segue.engine.plan import edits
from segue.engine.plan.plan_run import PlanRun
from segue.work.book.folder import BookFolder
from segue.work.book.steps import BookSteps
from segue.work.book.writing import CommandOptions, write_book

BOOK = """\
title = "The long night"
chapters = 3
acts = 2
writer = "writer"
judge_command = ["./judge", "--strict"]
"""
SETTINGS = """\
[agents.writer]
kind = "command"
command = ["./writer"]
[agents.editor]
kind = "command"
command = ["./editor"]
"""


class SeenEngine(HandEngine):
    """One that lets a test look around when a process is about to begin."""

    def __init__(self, bench: BookBench) -> None:
        super().__init__()
        self._bench = bench

    def begin(self, job: Job) -> None:
        self._bench.at_begin()
        super().begin(job)


class BookBench(StepsBench[BookSteps]):
    """`write` begins or goes on with the book, as `segue write-all` does, up to its first job."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(folder, monkeypatch, "segue.work.book.writing.runner.run_work")
        for name in ("writer", "editor", "judge"):
            self.program(name)
        self.settings(SETTINGS)
        self.book(BOOK)
        self.folder_of_book = BookFolder(self.root)
        self.at_begin: Callable[[], None] = lambda: None

    def book(self, text: str) -> None:
        (self.root / "book.toml").write_text(text, "utf-8")

    def write(self, **options: Any) -> PlanRun:
        asyncio.run(write_book(CommandOptions(self.root, **options), self.environment("write-all")))
        return self.run

    def new_engine(self) -> HandEngine:
        return SeenEngine(self)

    def turn(self) -> None:
        """The loop turns until it would wait."""
        super().turn()
        while self.run.file.has_moved_on():
            edits.follow(self.run)
            super().turn()
        self.clock.pass_s(1)

    def stop_now(self) -> int:
        """Ctrl-C: the agent ends, and Segue with it."""
        self.stop()
        self.ends(None, is_ours=True)
        return self.finish()

    # One step

    @property
    def now(self) -> Job:
        """The job that was begun last."""
        return self.engine.jobs[self.job]

    @property
    def task(self) -> str:
        """The step that is under way."""
        return self.attempt.task.id

    @property
    def target(self) -> Path:
        return Path(self.now.env["SEGUE_TARGET"])

    @property
    def begun(self) -> list[str]:
        """All steps that were begun, in their order."""
        return [job.rsplit("-", 2)[0] for job in self.engine.begun]

    def writes(self, text: str = "It was night.", summary: str = "") -> None:
        """The writer writes the chapter and ends well."""
        assert ".write." in self.task
        self.target.write_text(text, "utf-8")
        self.starts()
        if summary:
            self.says(Said(summary))
        self.ends(0)

    def fails(self, code: int = 3) -> None:
        self.starts()
        self.ends(code)

    def judges(self, score: float, *reasons: str) -> None:
        """The judge prints its verdict and ends well."""
        self.prints(json.dumps({"score": score, "reasons": list(reasons)}))

    def prints(self, text: str, code: int = 0) -> None:
        """The judge prints something and ends."""
        assert ".judge." in self.task
        self.run.job_factory.log(self.attempt.run).write_text(text, "utf-8")
        self.starts()
        self.ends(code)

    def chapter(self, *scores: float) -> None:
        """A chapter is written and judged, as often as there are scores; other reasons each time."""
        for score in scores:
            self.writes()
            self.judges(score, f"reason of {self.task} for {score}")

    def trips(self) -> None:
        """The breaker trips over the current chapter."""
        for score in (50, 60, 55):
            self.writes()
            self.judges(score, "too short")

    # What is there

    @property
    def state(self) -> BookState:
        """As the file has it."""
        found = self.folder_of_book.load()
        assert found is not None
        return found

    @property
    def wisdom(self) -> str:
        return "\n".join(p.read_text("utf-8") for p in self.folder_of_book.wisdom_files())
