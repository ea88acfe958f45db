"""Interrupted work of any kind: each kind says what is its own, what continuing would do,
what would be redone and what was lost. One registry; `segue resume` and `segue` ask it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from segue.core.machines import PlanState
from segue.core.plan import TaskState
from segue.i18n import _, ngettext
from segue.plans.tasklist import Document
from segue.store.lock import Holder
from segue.work.overview import Standing, look


@dataclass(frozen=True, slots=True)
class Found:
    """One piece of work that was begun, and what can be done about it."""

    path: Path
    kind: str
    resumable: bool
    why: str
    next: str
    redone: str
    lost: str
    cost: str
    state: dict[str, Any]
    holder: Holder | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "path": str(self.path),
            "kind": self.kind,
            "resumable": self.resumable,
            "why": self.why,
            "next": self.next,
            "redone": self.redone,
            "lost": self.lost,
            "cost": self.cost,
        }


def find(path: Path) -> list[Found]:
    """Everything that was begun under this path, of every kind."""
    begun = [one for one in look(path) if one.state is not PlanState.PENDING]
    return [KINDS[one.kind](one) for one in begun]


def nothing_here() -> str:
    """The sentence of the original, and below it what a task list takes."""
    begin = _("Found no interrupted work here. Start with: segue write-all")
    return f"{begin}\n" + _("A task list begins with: segue run PLAN.md")


def _book(standing: Standing) -> Found:
    from segue.work.book import resuming  # noqa: PLC0415 - most folders have none
    from segue.work.book.standing import facts, in_figures  # noqa: PLC0415

    seen = resuming.look(standing.path)
    return Found(
        path=standing.path,
        kind="book",
        cost=_cost(standing),
        state={**standing.to_json(), **in_figures(seen.state)},
        holder=standing.holder,
        **facts(seen, standing),
    )


def _tasklist(standing: Standing) -> Found:
    tasks = Document.parse(standing.path.read_bytes(), file=str(standing.path)).tasks
    parked = {park["task"] for park in standing.parks}
    asked = {gate["task"] for gate in standing.gates}
    cut_off = [id for id in standing.in_progress if id not in parked and id not in asked]
    again = [id for id in cut_off if id not in standing.goes_on]
    left = [task for task in tasks if task.state is TaskState.PENDING]
    return Found(
        path=standing.path,
        kind="tasklist",
        resumable=standing.is_interrupted and standing.problem is None,
        why=_why(standing, cut_off),
        next=_next(standing, again, len(left)),
        redone=", ".join(again) if again else _("nothing"),
        lost=_lost(standing),
        cost=_cost(standing),
        state=standing.to_json(),
        holder=standing.holder,
    )


def _why(standing: Standing, cut_off: list[str]) -> str:
    if standing.problem:
        return _("the plan has an error: {problem}").format(problem=standing.problem)
    if standing.holder is not None:
        return _("it is being run by process {pid}").format(pid=standing.holder.pid)
    match standing.state:
        case PlanState.FINISHED:
            return _("everything is done")
        case PlanState.PARKED:
            return _("a limit stopped it: {tasks}").format(
                tasks=", ".join(park["task"] for park in standing.parks)
            )
        case PlanState.WAITING if standing.gates:
            return _("it waits for an answer: {text}").format(text=standing.gates[0]["text"])
        case PlanState.FAILED | PlanState.WAITING:
            names = ", ".join(failed["task"] for failed in standing.failed) or _("skipped tasks")
            return _("it ended with failed tasks: {tasks}").format(tasks=names)
        case _:
            if cut_off:
                return _("it was cut off during {tasks}").format(tasks=", ".join(cut_off))
            return _("it was stopped before its end")


def _next(standing: Standing, again: list[str], left: int) -> str:
    parts = []
    if again:
        text = _(
            "start {tasks} again from the beginning, in the same conversation where there is one;"
            " the agent is told that it was interrupted (one that still runs is followed)"
        )
        parts.append(text.format(tasks=", ".join(again)))
    parked = [park["task"] for park in standing.parks if park["task"] in standing.in_progress]
    if going_on := [*standing.goes_on, *parked]:
        tasks = ", ".join(going_on)
        parts.append(_("continue {tasks} in the same conversation").format(tasks=tasks))
    if standing.gates:
        parts.append(_("ask again what was asked"))
    if standing.failed:
        tasks = ", ".join(failed["task"] for failed in standing.failed)
        parts.append(_("ask about the failed {tasks}").format(tasks=tasks))
    if left:
        text = ngettext("run the {n} task that is left", "run the {n} tasks that are left", left)
        parts.append(text.format(n=left))
    return "; ".join(parts) or _("nothing is left to do")


def _lost(standing: Standing) -> str:
    if standing.is_known or standing.state is PlanState.PENDING:
        return _("nothing")
    return _("Segue's memory of it (.segue/): what the marks do not say, such as summaries")


def _cost(standing: Standing) -> str:
    used = standing.usage
    if not used.get("input_tokens"):
        return _("unknown; nothing was reported so far")
    tokens = used["input_tokens"] + used["output_tokens"]
    price = "" if used["cost_usd"] is None else f" (${used['cost_usd']:.2f})"
    return _("so far {n} tokens{price}").format(n=tokens, price=price)


def _feature(standing: Standing) -> Found:
    from segue.work.feature.standing import facts  # noqa: PLC0415 - most folders have none

    return _of(standing, facts(standing))


def _server(standing: Standing) -> Found:
    from segue.work.phases.standing import facts  # noqa: PLC0415 - few projects have any

    return _of(standing, facts(standing))


def _panes(standing: Standing) -> Found:
    from segue.work.panes.standing import pane_facts  # noqa: PLC0415 - few projects have any

    return _of(standing, pane_facts(standing))


def _of(standing: Standing, facts: dict[str, Any]) -> Found:
    state = standing.to_json()
    holder = standing.holder
    return Found(
        standing.path, standing.kind, cost=_cost(standing), state=state, holder=holder, **facts
    )


KINDS: dict[str, Callable[[Standing], Found]] = {
    "tasklist": _tasklist,
    "book": _book,
    "develop": _feature,
    "server": _server,
    "panes": _panes,
}
