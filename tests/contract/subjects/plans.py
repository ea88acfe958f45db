"""What task lists, books and features share: a command in the foreground that prints events."""

from __future__ import annotations

from kit.command import Event, Going

from .base import Subject
from .records import DONE, FAILED, PARKED, PENDING, RUNNING, SKIPPED, WAITING, Park, epoch

STATES = {
    "task_started": RUNNING, "task_resumed": RUNNING, "task_retrying": RUNNING,
    "task_restarted": RUNNING, "task_handed_over": RUNNING, "run_adopted": RUNNING,
    "task_parked": PARKED, "park_kept": PARKED, "gate_opened": WAITING,
    "task_completed": DONE, "task_failed": FAILED, "task_skipped": SKIPPED,
}  # fmt: skip


class Plan(Subject):
    """A plan whose owner is a command with `--json`."""

    def events(self, task: int) -> list[Event]:
        """What the owners said of a task, in order."""
        found = [event for going in self.owners_of(task) for event in going.result.events]
        return [event for event in found if self.is_of(event, task)]

    def owners_of(self, task: int) -> list[Going]:
        return self.owners

    def is_of(self, event: Event, task: int) -> bool:
        return bool(event.get("task") == self.name(task))

    def history(self, task: int) -> list[str]:
        states = [STATES[e["event"]] for e in self.events(task) if e["event"] in STATES]
        return [state for n, state in enumerate(states) if n == 0 or states[n - 1] != state]

    def state(self, task: int) -> str:
        return (self.history(task) or [PENDING])[-1]

    def park_of(self, task: int) -> Park:
        """From the event: a short park may be over before `status` has been asked."""
        self.wait(task, PARKED, unless=[WAITING])
        parked = [e for e in self.events(task) if e["event"] == "task_parked"][-1]
        return Park(task, parked["kind"], epoch(parked["wakes_at"]), parked["account"])

    def exit_code(self) -> int:
        """Wait until the owner has ended; its exit code."""
        return self.owners[-1].end(60).code
