"""What people outside are told of a plan or a pane: a row beside what it tells, in one transaction.

A question, a failure or the end of the work is told once, whatever dies in between. Nothing is
written where no way is set: one that is added later is not flooded with what was.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from segue.core.machines import PlanState
from segue.drivers.notify import Notice
from segue.engine.outbox import TABLE, PendingNotices, Row
from segue.engine.question_texts import BREAKER, DESIGN, ESCALATED
from segue.i18n import _
from segue.store.changes import Put, stamp
from segue.store.rows import PANES, SERVER
from segue.store.sqlite import Store
from segue.work import reminders
from segue.work.plans.finish import ALL_DONE, PARKED, SOMETHING_FAILED

if TYPE_CHECKING:
    from segue.work.plans.plan_run import PlanRun

GATES = {DESIGN: "review", ESCALATED: "escalated", BREAKER: "escalated", "dependency": "dependency"}
ENDS = {ALL_DONE: "completed", SOMETHING_FAILED: "failed", PARKED: "limit"}
UNFINISHED = (PlanState.RUNNING, PlanState.INTERRUPTED)  # whose end nobody was told of


def headline(kind: str, title: str, gate: str | None = None, name: str = "") -> str:
    """What is needed or has happened, in a few words. `gate`: the kind of what waits."""
    needed = {
        "review": _("Review needed: {title}"),
        "question": _("Answer needed: {title}"),
        "dependency": _("{name} needed: {title}"),
        "escalated": _("Decision needed: {title}"),
    }
    told = {
        "completed": _("Completed: {title}"),
        "failed": _("Failed: {title}"),
        "error": _("Cannot continue: {title}"),
        "trouble": _("Trouble: {title}"),
        "limit": _("Parked at a limit: {title}"),
        "refused": _("An agent tried to act as a person: {title}"),
        "remind": _("Reminder: {needed}"),
        "urgent": _("Urgent: {needed}"),
        "escalate": _("Waits for too long: {needed}"),
    }
    own = needed.get(gate or kind, "{title}").format(title=title, name=name)
    return told.get(kind, "{needed}").format(title=title, needed=own)


def row(
    work: str, about: str, kind: str, title: str, text: str, place: str, at: datetime,
    *, task: str = "", gate: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    return {
        "work": work, "about": about, "kind": kind, "task": task, "title": title, "gate": gate,
        "text": text, "place": f"{platform.node()}:{place}", "next_at": stamp(at),
        "created_at": stamp(at),
    }  # fmt: skip


OF_PLANS = f"work NOT IN ('{SERVER}', '{PANES}')"


class WorkNotices(PendingNotices):
    """The rows of all plans of a project, or of the panes. Nobody sends both: the panes are told by
    the user's own channels only."""

    def __init__(self, store: Store, *, of_panes: bool = False) -> None:
        super().__init__(
            store, "work = ?" if of_panes else OF_PLANS, *([PANES] if of_panes else ())
        )
        self._where_kept = sha256(str(store.path).encode()).hexdigest()[:8]

    def notice(self, row: Row) -> Notice | None:
        name = f"{PANES}-{self._where_kept}" if row["work"] == PANES else row["work"]
        return Notice(
            id=f"{name}-{row['id']}",
            kind=row["kind"],
            task=row["task"],
            title=row["title"],
            gate=row["gate"],
            headline=headline(row["kind"], row["title"], _waits(row["kind"])),
            text=row["text"],
            link=row["place"],
            at=row["created_at"],
        )


def _waits(kind: str) -> str | None:
    """A plan's dependency is something to be answered: that it is there now."""
    return "question" if kind == "dependency" else None


@dataclass(slots=True)
class NoticeWriter:
    """What a plan tells: an event becomes a row of the next commit. `wake`: there may be one."""

    store: Store
    wake: Callable[[], None] = lambda: None
    known: set[str] = field(default_factory=set)

    def event(self, run: PlanRun, event: str, facts: Mapping[str, Any]) -> None:
        match event:
            case "gate_opened":
                kind = GATES.get(facts["category"], "question")
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
        now, steps = run.clock.now(), run.options.reminders
        for gate in run.ledger.gates.values():
            kind = reminders.due(gate.created_at or now, now, steps)
            if kind is not None:
                text = reminders.in_words(kind, gate.text)
                self._add(run, f"{kind}:{gate.id}", kind, text, gate.task, gate.id)
        waiting = [gate.created_at or now for gate in run.ledger.gates.values()]
        return reminders.next_at(waiting, now, steps)

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
        work = run.ledger.plan
        if about in self.known or self.store.one(
            f"SELECT 1 FROM {TABLE} WHERE work = ? AND about = ?",  # noqa: S608 - its name is ours
            work,
            about,
        ):
            return
        self.known.add(about)
        title = run.file.path.name
        if task is not None:
            title = f"{task}: {run.graph.task(task).title}" if task in run.graph else f"{task}"
            title = f"{title} ({run.file.path.name})"
        values = row(
            work, about, kind, title, text, str(run.file.path), run.clock.now(),
            task=task or "", gate=gate,
        )  # fmt: skip
        run.ledger.stage(Put(TABLE, values))
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
