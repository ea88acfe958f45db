"""A feature in IMPLEMENT whose checkpoints do not depend on each other: `segue develop --resume`."""

from __future__ import annotations

import json

from kit.feature import Checkpoint, cp

from .plans import Plan

HEAD = """\
phase: IMPLEMENT
strategy: subagent
feature: "real-time chat"
started_at: "2026-02-16T10:00:00"
updated_at: "2026-02-16T11:30:00"
checkpoints:
"""


class FeatureWork(Plan):
    """Checkpoints `cp-1`, `cp-2`, …; each makes a file of its own."""

    kind = "feature"
    fails_after = 3  # iterations
    _jobs = 1

    @property
    def status_kind(self) -> str:
        return "develop"

    def begin(self, tasks: int = 1, *, is_side_by_side: bool = True) -> None:
        parts = [cp(self.name(task)) for task in range(tasks)]
        self._begin(tasks if is_side_by_side else 1, parts)

    def begin_in_turn(self) -> None:
        self._begin(1, [cp(self.name(0)), cp(self.name(1), self.name(0))])

    def _begin(self, jobs: int, parts: list[Checkpoint]) -> None:
        self.count, self._jobs = len(parts), jobs
        self.configure()
        block = "\n".join("- " + json.dumps(part) for part in parts)
        design = self.box.root / "docs/design/real-time-chat.md"
        design.parent.mkdir(parents=True)
        design.write_text(f"# Design\n\n```yaml checkpoints\n{block}\n```\n", "utf-8")
        marks = [f"  {part['id']}: {{ status: pending, iteration: 0 }}\n" for part in parts]
        state = self.box.root / ".develop-workflow/state.yaml"
        state.parent.mkdir()
        state.write_text(HEAD + "".join(marks), "utf-8")
        self.drive()

    def drive(self) -> None:
        if not self.is_driven():
            self.box.start("develop", "--resume", "--json", "--jobs", str(self._jobs))

    def key(self, task: int) -> str:
        return self.name(task)

    def name(self, task: int) -> str:
        return f"cp-{task + 1}"
