"""Notices about a plan: a row beside the change that it reports, in one transaction.

A question, a failure or the end of the work is sent once, whatever dies in between. Nothing is
written where no way is set: one that is added later is not flooded with what was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from segue.core.machines import PlanState
from segue.engine.gates import Reminder, Reminders
from segue.engine.notices import GATES, is_told, notice
from segue.engine.plan.finish import ALL_DONE, PARKED, SOMETHING_FAILED
from segue.engine.plan.plan_run import PlanRun
from segue.i18n import _
from segue.store.changes import stamp
from segue.store.sqlite import Store

KINDS = {**GATES, "dependency": "dependency"}  # of the notice of a gate, by its category
ENDS = {ALL_DONE: "completed", SOMETHING_FAILED: "failed", PARKED: "limit"}
UNFINISHED = (PlanState.RUNNING, PlanState.INTERRUPTED)  # whose end was not reported


@dataclass(slots=True)
class NoticeWriter:
    """What a plan tells: an event becomes a row of the next commit. `wake`: there may be one."""

    store: Store
    wake: Callable[[], None] = lambda: None
    known: set[str] = field(default_factory=set)
    reminders: Reminders | None = None

    def event(self, run: PlanRun, event: str, facts: Mapping[str, Any]) -> None:
        match event:
            case "gate_opened":
                kind = KINDS.get(facts["category"], "question")
                text = "\n".join([facts["text"], *(f"· {option}" for option in facts["options"])])
                self._add(run, f"gate:{facts['gate']}", kind, text, facts["task"], facts["gate"])
            case "task_failed" if run.file.kind == "tasklist":
                about = f"failed:{facts['task']}:{stamp(run.clock.now())}"
                self._add(run, about, "failed", facts["error"], facts["task"])
            case "chapter_failed":
                n, error = facts["chapter"], facts["error"] or ""
                title = _("chapter {n}").format(n=n)
                self._add(run, f"chapter:{n}:{error}", "failed", error, title)
            case "book_paused":
                self._add(run, f"paused:{facts['why']}", "question", facts["why"] or "")
            case _:
                pass

    def remind(self, run: PlanRun) -> datetime | None:
        """Tell again what has waited for long; when the next reminder is due."""

        def tell(reminder: Reminder) -> None:
            gate, text = reminder.gate, reminder.in_words(reminder.gate.text)
            self._add(run, reminder.about, reminder.kind, text, gate.task, gate.id)

        if self.reminders is None:
            waiting = run.ledger.gates
            self.reminders = Reminders(run.options.reminders, waiting.values, tell)
        return self.reminders.look(run.clock.now())

    def end(self, run: PlanRun, code: int, counts: Mapping[str, int]) -> None:
        """The work is over. A start that did nothing has nothing to tell."""
        kind = ENDS.get(code)
        if kind is not None and (run.has_moved or run.ledger.found in UNFINISHED):
            at = stamp(run.clock.now())
            self._add(run, f"end:{at}", kind, in_counts(counts))

    def _add(
        self,
        run: PlanRun,
        about: str,
        kind: str,
        text: str,
        task: str | None = None,
        gate: str | None = None,
    ) -> None:
        if about in self.known:
            return
        self.known.add(about)
        title = run.file.path.name
        if task is not None:
            title = f"{task}: {run.graph.task(task).title}" if task in run.graph else f"{task}"
            title = f"{title} ({run.file.path.name})"
        told = notice(
            run.ledger.work, about, kind, text, run.clock.now(),
            task=task or "", gate=gate, title=title, place=str(run.file.path),
        )  # fmt: skip
        if not is_told(self.store, run.ledger.work, about):
            run.ledger.stage(told)
            self.wake()


def in_counts(counts: Mapping[str, int]) -> str:
    """How many of each, those that there are."""
    words = {
        "completed": _("{n} done"),
        "failed": _("{n} failed"),
        "skipped": _("{n} skipped"),
        "parked": _("{n} parked"),
        "waiting": _("{n} waiting"),
    }
    return ", ".join(words[name].format(n=n) for name, n in counts.items() if n)
