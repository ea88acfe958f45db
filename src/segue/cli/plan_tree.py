"""The plan on a screen: waves and tasks with what each is doing, in so many rows and no more."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.console import RenderableType
from rich.tree import Tree

from segue.cli import display
from segue.cli.book_events import is_step
from segue.cli.console import clean
from segue.cli.words import limit_name
from segue.core.durations import format_duration
from segue.core.plan import TaskState
from segue.i18n import _

if TYPE_CHECKING:
    from segue.engine.plan.plan_run import PlanRun

SPIN_S = 0.25
TITLE_CELLS_MIN = 16
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
LOOKS = {
    TaskState.PENDING: ("○", "dim"),
    TaskState.IN_PROGRESS: ("●", "bold cyan"),
    TaskState.COMPLETED: ("✔", "green"),
    TaskState.FAILED: ("✘", "bold red"),
    TaskState.SKIPPED: ("⊘", "yellow"),
}
INTERESTING = (TaskState.IN_PROGRESS, TaskState.FAILED)


class PlanTree:
    """What is known of the tasks besides their states, and how they are drawn."""

    def __init__(self, run: PlanRun) -> None:
        self._run = run
        self._spent: dict[str, float] = {}
        self._said: dict[str, str] = {}

    def completed(self, task: str, seconds: float) -> None:
        self._spent[task] = seconds

    def said(self, task: str, text: str) -> None:
        self._said[task] = text

    def draw(self, width: int, rows_max: int) -> RenderableType:
        """As much as there is room for: what runs and what failed is folded last."""
        waves = self._run.graph.waves()
        has_waves = self._run.file.kind != "book"  # one step at a time: no waves to tell apart
        for is_folded, keeps_empty in ((False, True), (True, True), (True, False)):
            shown = {
                n: [id for id in wave if not is_folded or self._is_interesting(id)]
                for n, wave in enumerate(waves)
            }
            if not keeps_empty:
                shown = {n: tasks for n, tasks in shown.items() if tasks}
            rows = sum(map(len, shown.values())) + has_waves * len(shown)
            if rows <= rows_max:
                return self._tree(waves, shown, width, has_waves=has_waves)
        return self._cut(shown, width, max(1, rows_max))

    def _tree(
        self,
        waves: list[list[str]],
        shown: Mapping[int, list[str]],
        width: int,
        *,
        has_waves: bool,
    ) -> Tree:
        tree = Tree("", hide_root=True, guide_style="dim")
        for n, tasks in shown.items():
            branch = tree
            if has_waves:
                states = [self._run.frontier.states[id] for id in waves[n]]
                done = sum(state is TaskState.COMPLETED for state in states)
                label = _("Wave {n}").format(n=self._run.graph.wave_of(waves[n][0]))
                branch = tree.add(display.text(f"{label}  {done}/{len(states)}", "dim"))
            for id in tasks:
                branch.add(self._row(id, width))
        return tree

    def _cut(self, shown: Mapping[int, list[str]], width: int, rows_max: int) -> Tree:
        """More runs than there are rows."""
        tree = Tree("", hide_root=True, guide_style="dim")
        tasks = [id for ids in shown.values() for id in ids]
        fits = tasks if len(tasks) <= rows_max else tasks[: rows_max - 1]
        for id in fits:
            tree.add(self._row(id, width))
        if left := len(tasks) - len(fits):
            tree.add(display.text(_("… and {n} more").format(n=left), "dim"))
        return tree

    def _is_interesting(self, id: str) -> bool:
        return self._run.frontier.states[id] in INTERESTING

    def _row(self, id: str, width: int) -> RenderableType:
        state = self._run.frontier.states[id]
        icon, style = LOOKS[state]
        note, is_waiting = self._note(id, state)
        note = clean(note)
        if state is TaskState.IN_PROGRESS and not is_waiting:
            icon = SPINNER[int(datetime.now(UTC).timestamp() / SPIN_S) % len(SPINNER)]
        title = clean(self._run.graph.task(id).title)
        room = max(TITLE_CELLS_MIN, width - cell_len(id + note) - 12)
        if cell_len(title) > room:
            title = set_cell_size(title, room - 1).rstrip() + "…"
        name = "" if is_step({"task": id}) else f" {id}"
        row = display.assemble((f"{icon}{name}", style), f" {title}", (f"  {note}", "dim"))
        row.no_wrap, row.overflow = True, "ellipsis"
        return row

    def _note(self, id: str, state: TaskState) -> tuple[str, bool]:
        """What is beside the title; whether the task waits for something."""
        run, now = self._run, datetime.now(UTC)
        if state is TaskState.COMPLETED:
            return format_duration(self._spent[id]) if id in self._spent else "", False
        if held := run.deferred.get(id):
            at = held.wakes_at and datetime.fromisoformat(held.wakes_at)
            return _waits(held.kind, at or None, now), True
        if state is not TaskState.IN_PROGRESS:
            return "", False
        for park in run.ledger.parks.values():
            if park.task == id:
                return _waits(park.kind, park.wakes_at, now), True
        for attempt in run.jobs.values():
            if attempt.task.id == id:
                spent = format_duration(int((now - attempt.run.created_at).total_seconds()))
                again = f" ×{attempt.run.attempt}" if attempt.run.attempt > 1 else ""
                return f"{spent}{again}  {self._said.get(id, '')}", False
        if any(gate.task == id for gate in run.ledger.gates.values()):
            return "❓ " + _("waits for you"), True
        return "", False


def _waits(kind: str, at: datetime | None, now: datetime) -> str:
    if at is None:
        return f"⏳ {limit_name(kind)}"
    left = format_duration(max(0, int((at - now).total_seconds())))
    return _("⏳ {kind}, resumes in {time}").format(kind=limit_name(kind), time=left)
