"""What runs have used: tokens and cost, summed up over a plan, a task or an account.

`cost_usd` is None where no agent reported a price; Segue does not guess.
"""

from __future__ import annotations

from typing import Any

from segue.store.sqlite import Store

Usage = dict[str, Any]  # input_tokens, output_tokens, cost_usd

_SUMS = (
    "SUM(input_tokens) AS input_tokens, SUM(output_tokens) AS output_tokens,"
    " SUM(cost_usd) AS cost_usd FROM runs"
)


def of_plan(store: Store, plan: str) -> Usage:
    return _read(store.one(f"SELECT {_SUMS} WHERE work = ?", plan))


def of_task(store: Store, task: str) -> Usage:
    return _read(store.one(f"SELECT {_SUMS} WHERE task = ?", task))


def of_conversation(store: Store, resume_id: str, *, but: str) -> Usage:
    """Of all runs in one conversation but one."""
    sql = f"SELECT {_SUMS} WHERE resume_id = ? AND id != ?"
    return _read(store.one(sql, resume_id, but))


def by_task(store: Store, plan: str) -> dict[str, Usage]:
    """Of every task of a plan that has used anything, by its id in the plan."""
    sql = f"SELECT task, {_SUMS} WHERE work = ? AND input_tokens IS NOT NULL GROUP BY task"
    return {row["task"].removeprefix(f"{plan}/"): _read(row) for row in store.all(sql, plan)}


def by_account(store: Store) -> dict[str, Usage]:
    sql = f"SELECT account, {_SUMS} WHERE input_tokens IS NOT NULL GROUP BY account"
    return {row["account"]: _read(row) for row in store.all(sql)}


def nothing() -> Usage:
    return {"input_tokens": 0, "output_tokens": 0, "cost_usd": None}


def _read(row: Any) -> Usage:
    assert row is not None
    return {
        "input_tokens": row["input_tokens"] or 0,
        "output_tokens": row["output_tokens"] or 0,
        "cost_usd": row["cost_usd"],
    }
