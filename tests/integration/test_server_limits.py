"""Limits of the server's tasks: parks as rows, a person's hand on them, stand-ins, the budget."""

from __future__ import annotations

import json
import shlex
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kit.app import House, Open, play
from segue.engine.clock import SystemClock
from segue.store.changes import stamp
from segue.work import overview
from segue.work.panes.pane_records import PaneRecords
from segue.work.phases.refused import Refused

LIMITED = "limit session_limit 1h\n"


def rows(server: Open, sql: str, *values: object) -> list[dict[str, Any]]:
    return [dict(row) for row in server.app.supervisor.records.store.all(sql, *values)]


def parks(server: Open, id: str) -> list[str]:
    sql = "SELECT state FROM parks WHERE task = ? ORDER BY created_at, rowid"
    return [row["state"] for row in rows(server, sql, id)]


async def limited(server: Open) -> str:
    id = server.new("custom")
    await server.status(id, "in_progress", "paused")
    return id


def test_a_limit_is_one_transaction(house: House) -> None:
    """The run's end, the agent's pause, the park and the account's park: all or nothing."""
    house.add(house.script(LIMITED))

    async def scene() -> None:
        async with house.open() as server:
            id = await limited(server)
            found = rows(server, "SELECT entity, at FROM journal WHERE cause IN ('park', 'limit')")
            assert {row["entity"] for row in found} == {"run", "agent", "park", "account"}
            assert len({row["at"] for row in found}) == 1
            (park,) = server.commands.limits()["parks"]
            assert (park["taskId"], park["account"], park["kind"]) == (
                id,
                "player",
                "session_limit",
            )
            assert rows(server, "SELECT 1 FROM timers WHERE kind = 'wake'") == []
            (standing,) = overview.look(house.folder)
            assert [one["wakes_at"] for one in standing.parks] == [park["wakesAt"]]

    play(scene)


def test_parks_of_every_kind_of_work_are_listed(house: House) -> None:
    """A pane of the same project that waits for a limit is one of them."""

    async def scene() -> None:
        async with house.open() as server:
            store, clock = server.app.supervisor.records.store, SystemClock()
            at = clock.now() + timedelta(hours=1)
            records = PaneRecords(store, clock)
            pane = records.adopt("job", "%3", "claude", "work")
            records.park(pane, kind="weekly_limit", resets_at=at, wakes_at=at)
            (park,) = server.commands.limits()["parks"]
            assert (park["taskId"], park["account"], park["kind"], park["work"]) == (
                "%3",
                "work",
                "weekly_limit",
                {"id": "panes", "kind": "panes"},
            )
            assert park["wakesAt"] == stamp(at)

    play(scene)


@pytest.mark.parametrize("act", ["resume", "cancel", "rewind"])
def test_a_persons_act_ends_the_park(house: House, act: str) -> None:
    """What a person resumes, cancels or rewinds does not wake by itself as well."""
    house.add(house.script(LIMITED))

    async def scene() -> None:
        async with house.open() as server:
            id = await limited(server)
            await server.app.supervisor.saving.settle()
            if act == "rewind":
                server.commands.rewind(id, server.commands.checkpoints(id)["items"][0]["id"])
            else:
                getattr(server.commands, act)(id)
            assert parks(server, id) == ["cancelled"]
            if act == "resume":  # it tries at once, and is refused again
                await server.until(lambda: parks(server, id) == ["cancelled", "waiting"])
            elif act == "rewind":
                step = server.commands.agent(id)["currentStep"]
                assert step == "waits for its account's limit to end"

    play(scene)


WORKS = """#!/bin/sh
cat >> ../heard; echo >> ../heard
if [ -e ../../../../limited ]; then
  rm ../../../../limited; echo half of it is made
  echo "You've hit your usage limit. Please try again in 2 hours."; exit 1
fi
mkdir -p docs; echo "{name} was here" > docs/draft.md; cp docs/draft.md docs/final.md
echo "{name}" >> ../agents
echo "=== PHASE {phase} COMPLETE $SEGUE_NONCE ==="
"""


def test_the_tasks_own_agent_returns_with_the_next_phase(house: House) -> None:
    """Another agent takes over with a summary; once the account is open, the next phase goes back
    to the task's own agent, with a summary as well."""
    house.program(
        WORKS.format(name="own", phase="$SEGUE_PHASE"),
        more='fallback = "other"\nfallback_after = "1m"\n',
    )
    house.program(WORKS.format(name="other", phase="$SEGUE_PHASE"), "other")
    (house.folder / "limited").touch()

    async def scene() -> None:
        async with house.open() as server:
            supervisor = server.app.supervisor
            id = server.new()
            review = await server.pending(id, "review")
            folder = Path(server.commands.task(id)["workspace"]).parent
            assert (folder / "agents").read_text().split() == ["other"]
            assert "half of it is made" in (folder / "heard").read_text()
            assert parks(server, id) == [], "it did not wait"
            assert supervisor.accounts.is_parked("player")
            supervisor.accounts.opened("player")
            server.commands.approve(review["id"])
            await server.until(lambda: (folder / "agents").read_text().split()[1:] == ["own"])
            await server.pending(id, "review")

    play(scene)


def test_a_used_up_budget_is_asked_about_once(house: House) -> None:
    """About all tasks: what runs works on, nothing new starts; yes allows as much again."""
    house.add("[leash]\nbudget_usd = 2.0\n" + house.script("usage 1 1 1.5\nhang\n"))

    async def scene() -> None:
        async with house.open() as server:
            first, second = server.new("custom"), server.new("custom")
            items = await server.until(lambda: server.commands.inbox()["items"])
            (gate,) = items
            assert (gate["kind"], gate["category"], gate["taskId"]) == ("question", "budget", None)
            assert gate["options"] == ["yes", "no"]
            assert server.runs(first) == server.runs(second) == ["running"]
            third = server.new("custom")
            with pytest.raises(Refused):
                server.commands.answer(gate["id"], "maybe", own_words=True)
            assert server.commands.task(third)["status"] == "pending"
            assert server.commands.answer(gate["id"], "yes")["status"] == "answered"
            with pytest.raises(Refused) as refused:
                server.commands.answer(gate["id"], "yes")
            assert refused.value.status == 409
            await server.status(third, "in_progress")
            (again,) = await server.until(lambda: server.commands.inbox()["items"])
            assert again["id"] != gate["id"], "as much again is used up, too"
            server.commands.answer(again["id"], "no")
            fourth = server.new("custom")
            await server.until(lambda: not server.app.supervisor.may_start)
            assert server.commands.task(fourth)["status"] == "pending"
            assert server.commands.inbox()["items"] == [], "until the next start"

    play(scene)


def test_a_budget_used_up_by_the_last_run_asks_nobody(house: House) -> None:
    """What a run cost is reported with its end: nothing is left that could cost more. The next
    task asks."""
    init = {
        "type": "system",
        "subtype": "init",
        "session_id": "0a0a0a0a-0000-4000-8000-000000000000",
    }
    result = {"type": "result", "subtype": "success", "is_error": False, "result": "done",
              "total_cost_usd": 3.0, "usage": {"input_tokens": 1, "output_tokens": 1}}  # fmt: skip
    lines = "".join(f"echo {shlex.quote(json.dumps(line))}\n" for line in (init, result))
    program = house.folder / "player.sh"
    program.write_text(f"#!/bin/sh\n{lines}until [ -e go ]; do sleep 0.05; done\n", "utf-8")
    program.chmod(0o755)
    house.add('[leash]\nbudget_usd = 2.0\n[agents.player]\nkind = "claude"\nmcp = false\n')
    house.add('command = ["./player.sh"]\n')

    async def scene() -> None:
        async with house.open(slots=1) as server:
            supervisor = server.app.supervisor
            server.new("custom")
            await server.until(lambda: [a for a in supervisor.attempts.values() if a.finished])
            await server.until(lambda: not supervisor.may_start)
            assert supervisor.held == "budget"
            assert server.commands.inbox()["items"] == []
            server.new("custom")
            (gate,) = await server.until(lambda: server.commands.inbox()["items"])
            assert gate["category"] == "budget"
            (house.folder / "go").touch()

    play(scene)
