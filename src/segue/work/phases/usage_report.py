"""Tokens and cost of all works of a project, and the types of tasks: what the API shows of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from segue.engine import budget
from segue.i18n import _
from segue.store.rows import SERVER
from segue.work.phases import shapes
from segue.work.phases.shapes import Json
from segue.work.phases.task_output import OutputReading

RUNS = (
    "SELECT runs.id, runs.account, runs.agent, runs.work, works.kind, works.path,"
    " substr(runs.created_at, 1, 10) AS day, coalesce(input_tokens, 0) AS input_tokens,"
    " coalesce(output_tokens, 0) AS output_tokens, cost_usd FROM runs"
    " JOIN works ON works.id = runs.work ORDER BY runs.created_at"
)


@dataclass(slots=True)
class UsageReading(OutputReading):
    def used(self) -> Json:
        """By day (UTC, of the run's start), account, agent and work."""
        rows = [self._with_live(dict(row)) for row in self.supervisor.records.store.all(RUNS)]
        works = {row["work"]: {"kind": row["kind"], "path": row["path"]} for row in rows}
        return {
            "total": _sum(rows),
            "byDay": _by(rows, "day", lambda day: {"day": day}),
            "byAccount": _by(rows, "account", lambda name: {"account": name}),
            "byAgent": _by(rows, "agent", lambda name: {"agent": name}),
            "byWork": _by(rows, "work", lambda id: {"work": {"id": id, **works[id]}}),
        }

    def _with_live(self, row: Json) -> Json:
        """What an agent of the server has used so far in its turn is not in its row yet."""
        attempt = self.supervisor.attempts.get(row["id"]) if row["work"] == SERVER else None
        if attempt is None:
            return row
        used = budget.used_by(attempt, self.supervisor.records.usage_before)
        if used is None:
            return row
        return {
            **row,
            "input_tokens": used.input_tokens,
            "output_tokens": used.output_tokens,
            "cost_usd": used.cost_usd,
        }

    def list_types(self) -> Json:
        items = []
        for name in self.types.names():
            found = self.types.get(name)
            assert found is not None
            items.append(
                {
                    "name": name,
                    "about": _(found.about) if found.about else "",
                    "phases": [
                        {
                            "name": phase.name,
                            "deliverables": list(phase.deliverables),
                            "steps": [_(step) for step in phase.steps],
                            "verify": phase.verify,
                        }
                        for phase in found.phases
                    ],
                    "inputs": [],
                }
            )
        return shapes.page(items, len(items), 1, max(50, len(items)))


def _by(rows: list[Json], key: str, named: Callable[[Any], Json]) -> list[Json]:
    groups: dict[Any, list[Json]] = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return [{**named(value), **_sum(group)} for value, group in groups.items()]


def _sum(rows: list[Json]) -> Json:
    costs = [row["cost_usd"] for row in rows if row["cost_usd"] is not None]
    return {
        "inputTokens": sum(row["input_tokens"] for row in rows),
        "outputTokens": sum(row["output_tokens"] for row in rows),
        "costUsd": sum(costs) if costs else None,
    }
