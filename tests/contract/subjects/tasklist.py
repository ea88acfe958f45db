"""A task list: `segue run PLAN.md`."""

from __future__ import annotations

from .plans import Plan


class TaskList(Plan):
    """Tasks without blockers."""

    kind = "tasklist"
    _jobs = 1

    def begin(self, tasks: int = 1, *, is_side_by_side: bool = True) -> None:
        self._begin(tasks if is_side_by_side else 1, *[""] * tasks)

    def begin_in_turn(self) -> None:
        self._begin(1, "", f"  - blocked by: {self.name(0)}\n")

    def _begin(self, jobs: int, *more: str) -> None:
        self.count, self._jobs = len(more), jobs
        self.configure()
        lines = [
            f"- [ ] {self.name(task)}: do part {task}\n  - retries: {self.retries}\n{fields}"
            for task, fields in enumerate(more)
        ]
        self.box.plan("".join(lines))
        self.drive()

    def drive(self) -> None:
        if not self.is_driven():
            self.box.start_run("--jobs", str(self._jobs))

    def key(self, task: int) -> str:
        return self.name(task)

    def name(self, task: int) -> str:
        return f"T-{task + 1}"
