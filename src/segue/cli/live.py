"""The live display: the plan as a tree of waves and tasks, with what each is doing.

Nothing runs in a thread: the display is drawn when something has happened, and by a
timer of the event loop, so that the clocks move.
"""

from __future__ import annotations

import asyncio
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from segue.cli import display
from segue.cli.asker import TerminalAsker
from segue.cli.book_events import is_step
from segue.cli.console import clean
from segue.cli.reporters import log
from segue.cli.summary import bar, summary
from segue.cli.words import in_words, limit_name
from segue.core.durations import format_duration
from segue.core.plan import TaskState
from segue.i18n import _

if TYPE_CHECKING:
    from segue.work.plan_run import PlanRun

REFRESH_S = 0.25
TITLE_CELLS_MIN = 24
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
LOOKS = {
    TaskState.PENDING: ("○", "dim"),
    TaskState.IN_PROGRESS: ("●", "bold cyan"),
    TaskState.COMPLETED: ("✔", "green"),
    TaskState.FAILED: ("✘", "bold red"),
    TaskState.SKIPPED: ("⊘", "yellow"),
}
# What is worth a line that stays; the tree shows the rest.
TOLD = frozenset(
    {"task_failed", "task_parked", "task_retrying", "task_restarted", "run_adopted", "plan_broken",
     "gate_opened", "gate_answered", "mark_edited", "chapter_judged", "chapter_completed",
     "chapter_failed", "breaker_tripped", "book_paused", "phase_entered", "dependency_problem",
     "stopping", "notice", "plan_edited"}
)  # fmt: skip


class LiveReporter:
    def __init__(self) -> None:
        self._console = display.make_console()
        self._live = display.make_live(self._console)
        self._run: PlanRun | None = None
        self._since_s = time.monotonic()
        self._spent: dict[str, float] = {}
        self._said: dict[str, str] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._is_paused = False
        self._asks = False

    def emit(self, event: str, **facts: object) -> None:
        match event:
            case "task_completed":
                self._spent[str(facts["task"])] = float(str(facts["seconds"]))
            case "task_said":
                self._said[str(facts["task"])] = str(facts["text"])
                return
            case "finished":
                self._finish(facts)
                return
        if event == "gate_opened" and self._asks:
            return  # it is asked here and now
        if not sys.stderr.isatty():  # else it is seen on the terminal
            log(event, facts)
        is_told = event in TOLD or (event == "task_skipped" and facts.get("why"))
        words = in_words(event, facts) if is_told else None
        if words is not None:
            self._console.print(display.text(f"{time.strftime('%H:%M:%S')} {words}"))

    def show(self, run: PlanRun) -> None:
        self._run = run
        self._live.start()
        self._tick()

    def asker(self) -> TerminalAsker:
        self._asks = True
        return TerminalAsker(self._pause, self._go_on)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._live.stop()

    def _pause(self) -> None:
        self._is_paused = True
        self._live.stop()

    def _go_on(self) -> None:
        self._is_paused = False
        if self._run is not None:
            self._live.start()

    def _tick(self) -> None:
        if not self._is_paused:
            self._live.update(self._draw(), refresh=True)
        self._timer = asyncio.get_running_loop().call_later(REFRESH_S, self._tick)

    def _finish(self, facts: dict[str, object]) -> None:
        self.close()
        if self._run is None:
            return
        if self._run.file.kind == "tasklist":
            self._console.print(self._tree(self._run, self._console.height * 2))
        self._console.print(
            display.text(summary(self._run, facts, time.monotonic() - self._since_s))
        )

    # Drawing

    def _draw(self) -> RenderableType:
        run = self._run
        assert run is not None
        done, total = run.file.progress(run)
        elapsed = format_duration(int(time.monotonic() - self._since_s))
        head = display.assemble(
            (f"{run.file.shown}  ", "bold"),
            (bar(done, total), "green"),
            f"  {done}/{total}  {elapsed}",
        )
        return Group(head, self._tree(run, self._console.height - 4))

    def _tree(self, run: PlanRun, rows_max: int) -> Tree:
        """Waves and tasks; where the screen is too small, what is settled is folded."""
        tree = Tree("", hide_root=True, guide_style="dim")
        waves = run.graph.waves()
        if run.file.kind == "book":  # one step at a time: no waves to tell apart
            for id in (id for wave in waves for id in wave):
                tree.add(self._row(run, id))
            return tree
        is_folded = len(run.graph) + len(waves) > rows_max
        left = rows_max
        for wave in waves:
            number = run.graph.wave_of(wave[0])
            states = [run.frontier.states[id] for id in wave]
            done = sum(state is TaskState.COMPLETED for state in states)
            label = _("Wave {n}").format(n=number)
            branch = tree.add(display.text(f"{label}  {done}/{len(wave)}", "dim"))
            left -= 1
            shown = [id for id in wave if not is_folded or self._is_of_interest(run, id)]
            for id in shown[: max(0, left)]:
                branch.add(self._row(run, id))
            left -= len(shown)
            if left <= 0:
                break
        return tree

    def _is_of_interest(self, run: PlanRun, id: str) -> bool:
        return run.frontier.states[id] in (TaskState.IN_PROGRESS, TaskState.FAILED)

    def _row(self, run: PlanRun, id: str) -> Text:
        state = run.frontier.states[id]
        icon, style = LOOKS[state]
        note = clean(self._note(run, id, state))
        if state is TaskState.IN_PROGRESS and not note.startswith((clean("⏳"), clean("❓"))):
            icon = SPINNER[int(datetime.now(UTC).timestamp() / REFRESH_S) % len(SPINNER)]
        title = clean(run.graph.task(id).title)
        room = max(TITLE_CELLS_MIN, self._console.width - cell_len(id + note) - 12)
        if cell_len(title) > room:
            title = set_cell_size(title, room - 1).rstrip() + "…"
        name = "" if is_step({"task": id}) else f" {id}"
        row = display.assemble((f"{icon}{name}", style), f" {title}", (f"  {note}", "dim"))
        row.no_wrap, row.overflow = True, "ellipsis"
        return row

    def _note(self, run: PlanRun, id: str, state: TaskState) -> str:
        if state is TaskState.COMPLETED:
            return format_duration(self._spent[id]) if id in self._spent else ""
        now = datetime.now(UTC)
        if held := run.held_back.get(id):
            at = held.wakes_at and datetime.fromisoformat(held.wakes_at)
            return _waits(held.kind, at or None, now)
        if state is not TaskState.IN_PROGRESS:
            return ""
        for park in run.ledger.parks.values():
            if park.task == id:
                return _waits(park.kind, park.wakes_at, now)
        for attempt in run.jobs.values():
            if attempt.task.id == id:
                spent = format_duration(int((now - attempt.run.created_at).total_seconds()))
                again = f" ×{attempt.run.attempt}" if attempt.run.attempt > 1 else ""
                return f"{spent}{again}  {self._said.get(id, '')}"
        if any(gate.task == id for gate in run.ledger.gates.values()):
            return "❓ " + _("waits for you")
        return ""


def _waits(kind: str, at: datetime | None, now: datetime) -> str:
    if at is None:
        return f"⏳ {limit_name(kind)}"
    left = format_duration(max(0, int((at - now).total_seconds())))
    return _("⏳ {kind}, goes on in {time}").format(kind=limit_name(kind), time=left)
