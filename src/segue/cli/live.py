"""The live display: the plan as a tree, below it the question that waits for an answer.

What happens is printed above and scrolls up like any other output; only the display itself is
drawn again. Nothing runs in a thread: it is drawn when something has happened, when a key is
pressed, and by a timer of the event loop, so that the clocks move.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.console import Group, RenderableType

from segue.cli import display
from segue.cli.asker import Question, TerminalAsker
from segue.cli.console import clean, is_foreground
from segue.cli.plan_tree import PlanTree
from segue.cli.reporters import log
from segue.cli.summary import BAR_CELLS, bar, summary
from segue.cli.typing_line import KeyByKey
from segue.cli.words import in_words
from segue.core.durations import format_duration

if TYPE_CHECKING:
    from segue.engine.plan.plan_run import PlanRun

REFRESH_S = 0.25
BAR_CELLS_MIN = 4
# What is worth a line that stays; the tree shows the rest.
TOLD = frozenset(
    {"task_failed", "task_parked", "task_retrying", "task_restarted", "run_adopted", "plan_broken",
     "gate_opened", "gate_answered", "mark_edited", "chapter_judged", "chapter_completed",
     "chapter_failed", "breaker_tripped", "book_paused", "phase_entered", "dependency_problem",
     "stopping", "notice", "plan_edited"}
)  # fmt: skip


class LiveReporter:
    """Shows a run on a terminal; it is also where its questions are shown."""

    def __init__(self) -> None:
        self._console = display.make_console()
        self._live = display.make_live(self._console)
        self._run: PlanRun | None = None
        self._tree: PlanTree | None = None
        self._since_s = time.monotonic()
        self._timer: asyncio.TimerHandle | None = None
        self._asks = False
        self._asked: Question | None = None
        self._typed = self._hint = ""
        self._keys = KeyByKey(sys.stdin.fileno())

    def emit(self, event: str, **facts: object) -> None:
        if self._tree is not None and event == "task_completed":
            self._tree.completed(str(facts["task"]), float(str(facts["seconds"])))
        if event == "task_said":
            if self._tree is not None:
                self._tree.said(str(facts["task"]), str(facts["text"]))
            return
        if event == "finished":
            self._finish(facts)
            return
        if event == "gate_opened" and self._asks:
            return  # it is asked here and now
        if not sys.stderr.isatty():  # else it is seen on the terminal
            log(event, facts)
        is_told = event in TOLD or (event == "task_skipped" and facts.get("why"))
        words = in_words(event, facts) if is_told else None
        if words is not None:
            self._print(f"{time.strftime('%H:%M:%S')} {words}")

    def show(self, run: PlanRun) -> None:
        self._run, self._tree = run, PlanTree(run)
        self.go_on()
        self._tick()

    def asker(self) -> TerminalAsker:
        self._asks = True
        return TerminalAsker(self)

    def pause(self) -> None:
        """Give the screen back as it was: to the shell, or for good."""
        self._live.update(display.text(""))
        self._live.stop()
        self._live = display.make_live(self._console)  # a new one remembers no rows to erase
        self._keys.stop()

    def go_on(self) -> None:
        """Draw again, unless another process has the terminal."""
        if self._run is not None and is_foreground():
            self._live.start()
            self._take_keys()
            self._refresh()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._asked = None
        self.pause()

    def _finish(self, facts: dict[str, object]) -> None:
        self.close()
        if self._run is None or self._tree is None:
            return
        if self._run.file.kind == "tasklist":
            self._console.print(self._tree.draw(self._console.width, self._console.height * 2))
        self._print(summary(self._run, facts, time.monotonic() - self._since_s))

    # Questions

    def question(self, question: Question | None) -> None:
        """It is printed once and scrolls up like everything else; below the plan stays what can
        be chosen, and what is typed."""
        self._asked, self._typed, self._hint = question, "", ""
        if question is not None:
            self._print("\n".join(["", *question.lines]))
        self._take_keys()
        self._refresh()

    def typed(self, text: str) -> None:
        self._typed = text
        if text:
            self._hint = ""
        self._refresh()

    def refused(self, question: Question, hint: str) -> None:
        self._hint = hint
        self._refresh()

    def settled(self, question: Question, answer: str | None) -> None:
        self._asked = None
        if answer is not None:
            self._print(f"{question.about} > {question.named(answer)}")

    def _take_keys(self) -> None:
        if self._asked is None:
            self._keys.stop()
        elif self._live.is_started:
            self._keys.start()
        self._console.show_cursor(self._asked is not None or not self._live.is_started)

    # Drawing

    def _print(self, text: str) -> None:
        self._console.print(display.text(text))

    def _tick(self) -> None:
        if self._live.is_started:
            self._refresh()
        else:
            self.go_on()  # it was begun in the background, and may be in the foreground now
        self._timer = asyncio.get_running_loop().call_later(REFRESH_S, self._tick)

    def _refresh(self) -> None:
        if self._live.is_started:
            self._live.update(self._draw(), refresh=True)

    def _draw(self) -> RenderableType:
        assert self._run is not None
        assert self._tree is not None
        below = self._prompt()
        rows = self._console.height - 2 - len(below)
        return Group(self._head(self._run), self._tree.draw(self._console.width, rows), *below)

    def _head(self, run: PlanRun) -> RenderableType:
        done, total = run.file.progress(run)
        elapsed = format_duration(int(time.monotonic() - self._since_s))
        name, rest = f"{run.file.shown}  ", f"  {done}/{total}  {elapsed}"
        room = self._console.width - 1 - cell_len(clean(name)) - cell_len(rest)
        cells = max(BAR_CELLS_MIN, min(BAR_CELLS, room))
        head = display.assemble((name, "bold"), (bar(done, total, cells), "green"), rest)
        head.no_wrap, head.overflow = True, "ellipsis"
        return head

    def _prompt(self) -> list[RenderableType]:
        """Rows of one line each."""
        if self._asked is None:
            return []
        brief = display.text(self._asked.brief, "bold")
        brief.no_wrap, brief.overflow = True, "ellipsis"
        hint = [display.text(self._hint, "yellow")] if self._hint else []
        for line in hint:
            line.no_wrap, line.overflow = True, "ellipsis"
        prompt, typed = clean(self._asked.prompt), clean(self._typed)
        room = max(1, self._console.width - 1 - cell_len(prompt))
        if cell_len(typed) > room:  # the end is what is being typed
            typed = set_cell_size(typed[::-1], room)[::-1]
        line = display.assemble((prompt, "bold"), typed)
        line.no_wrap = True
        return [display.text(""), brief, *hint, line]
