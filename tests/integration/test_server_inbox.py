"""What waits for people, a page at a time; and what is shown of it without their secrets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kit.app import House, Open, play
from segue.core.machines import GateState, Trigger
from segue.core.plan import TaskState
from segue.core.serving import AgentState
from segue.store.changes import Add, Change, Put
from segue.store.rows import SERVER
from segue.work.phases.commands import Commands, NewTask
from segue.work.phases.refused import Refused

MANY = 10_000


def fill(server: Open, count: int) -> None:
    """Tasks with one gate each: every third a review, every hundredth urgent."""
    supervisor = server.app.supervisor
    changes: list[Change] = []
    for n in range(count):
        task = f"task_{n:012x}"
        row: dict[str, str | int | float | None] = {
            "work": SERVER, "key": task, "title": f"task {n}", "description": "x" * 500,
            "type": "report", "agent": "shell",
        }  # fmt: skip
        changes.append(Add("task", task, TaskState.REVIEW, row, Trigger.OPEN))
        changes.append(Add("agent", task, AgentState.WAITING_REVIEW, {}, Trigger.OPEN))
        kind = "review" if n % 3 == 0 else "question"
        gate: dict[str, str | int | float | None] = {
            "work": SERVER, "task": task, "kind": kind, "text": f"question {n}", "phase": 1,
            "priority": int(n % 100 == 0), "about": json.dumps({"deliverables": ["x" * 2000]}),
        }  # fmt: skip
        changes.append(Add("gate", f"q_{n:012x}", GateState.PENDING, gate, Trigger.OPEN))
    assert supervisor.records.store.move(*changes, at=supervisor.clock.now())


def test_the_inbox_is_paged_with_thousands(house: House) -> None:
    """The most urgent first, each once over all pages, and their count."""

    async def scene() -> None:
        async with house.open() as server:
            fill(server, MANY)
            first = server.commands.inbox(page_size=50)
            count = server.commands.inbox(page_size=1)["total"]
            assert (first["total"], count) == (MANY, MANY)
            assert (first["page"], first["pageSize"], len(first["items"])) == (1, 50, 50)
            urgent = [item["taskTitle"] for item in first["items"]]
            assert all(int(title.split()[1]) % 100 == 0 for title in urgent)
            seen = [
                item["id"]
                for page in range(1, MANY // 200 + 1)
                for item in server.commands.inbox(page=page, page_size=200)["items"]
            ]
            assert len(seen) == len(set(seen)) == MANY
            assert server.commands.inbox(page=MANY, page_size=200)["items"] == []

    play(scene)


def test_pages_do_not_read_what_they_do_not_show(house: House) -> None:
    """The order is that of an index: nothing is sorted, whatever waits."""

    async def scene() -> None:
        async with house.open() as server:
            plan = server.app.supervisor.records.store.all(
                "EXPLAIN QUERY PLAN SELECT * FROM gates WHERE work = 'server' AND state = 'pending'"
                " ORDER BY priority DESC, created_at LIMIT 50 OFFSET 0"
            )
            told = " ".join(str(row["detail"]) for row in plan)
            assert "gates_waiting" in told
            assert "TEMP B-TREE" not in told

    play(scene)


def test_the_inbox_of_one_kind_and_of_one_task(house: House) -> None:
    """By kind, by task, by both; the total is of what fits."""

    async def scene() -> None:
        async with house.open() as server:
            fill(server, 9)
            assert server.commands.inbox(kind="review")["total"] == 3
            assert {i["kind"] for i in server.commands.inbox(kind="question")["items"]} == {
                "question"
            }
            (one,) = server.commands.inbox(task="task_000000000004")["items"]
            assert one["taskTitle"] == "task 4"
            assert server.commands.inbox(task="task_000000000004", kind="review")["total"] == 0

    play(scene)


SECRET = "sk-live-0123456789"
ASKS = f"""#!/bin/sh
cat > /dev/null
n=$(cat n 2>/dev/null || echo 0); n=$((n + 1)); echo $n > n
block() {{ echo "[$1 $SEGUE_NONCE]"; cat; echo "[/$1]"; }}
case $n in
1) printf 'question: Is {SECRET} right?\\noptions:\\n  - {SECRET}\\n  - no\\n' | block USER_QUESTION ;;
2) printf 'type: api_key\\nname: KEY\\ndescription: as {SECRET}\\n' | block DEPENDENCY_REQUEST ;;
3) printf 'question: Still {SECRET}?\\noptions:\\n  - {SECRET}\\n  - no\\n' | block USER_QUESTION ;;
*) mkdir -p docs; echo "with $KEY in it" > docs/draft.md; echo "=== PHASE 1 COMPLETE $SEGUE_NONCE ===" ;;
esac
"""


def test_what_was_said_before_it_was_a_secret_is_masked_too(house: House) -> None:
    """Once provided, the value is in nothing that the server shows: gates, reviews, journal, events
    and what is written about a review."""
    program = house.folder / "asks.sh"
    program.write_text(ASKS, encoding="utf-8")
    program.chmod(0o755)
    house.add('[agents.asks]\nkind = "command"\ncommand = ["./asks.sh"]\n')

    async def scene() -> None:
        async with house.open() as server:
            commands = server.commands
            id = server.new(agent="asks")
            first = await server.pending(id, "question")
            assert SECRET in first["question"], "it is not known as a secret yet"
            commands.answer(first["id"], SECRET)
            needed = await server.pending(id, "dependency")
            told = [commands.provide(needed["id"], SECRET)]
            second = await server.pending(id, "question")
            assert "••••" in second["question"]
            told += [commands.answer(second["id"], second["options"][0])]
            review = await server.pending(id, "review")
            await server.app.supervisor.saving.settle()
            told += [
                commands.task(id), commands.list_tasks(), commands.agent(id), commands.inbox(), commands.questions(id),
                commands.dependencies(id), commands.journal(id), commands.reviews(id),
                {"events": commands.events_after(0)}, commands.review(review["id"]),
            ]  # fmt: skip
            for shown in told:
                assert SECRET not in json.dumps(shown, default=str)
            assert "••••" in commands.review(review["id"])["deliverables"][0]["text"]

    play(scene)


def test_an_open_question_about_a_secret(house: House) -> None:
    """Its options are shown masked, can be chosen so, and reach the agent as they are; neither a
    refusal nor a checkpoint has the value."""
    program = house.folder / "asks.sh"
    heard = ASKS.replace("cat > /dev/null", "cat >> heard")
    program.write_text(heard, encoding="utf-8")
    program.chmod(0o755)
    house.add('[agents.asks]\nkind = "command"\ncommand = ["./asks.sh"]\n')

    async def scene() -> None:
        async with house.open() as server:
            commands, saving = server.commands, server.app.supervisor.saving
            id = server.new(agent="asks")
            asked = await server.pending(id, "question")
            await saving.settle()
            sealed: dict[str, str | int | float | bytes | None] = {"task": id, "name": "KEY", "value": saving.secrets.seal(SECRET),
                      "created_at": "2026-11-16"}  # fmt: skip
            saving.records.store.move(Put("secrets", sealed), at=saving.clock.now())
            saving.redactor.renew()
            shown = await server.pending(id, "question")
            assert shown["question"] == "Is •••• right?"
            assert shown["options"] == ["••••", "no"]
            with pytest.raises(Refused) as refused:
                commands.answer(asked["id"], "nonsense")
            assert refused.value.facts["options"] == ["••••", "no"]
            before = set((server.app.data / "checkpoints" / id).iterdir())
            saving.save(id, "timer")
            await saving.settle()
            (new,) = set((server.app.data / "checkpoints" / id).iterdir()) - before
            assert "Is •••• right?" in new.read_text() and SECRET not in new.read_text()
            commands.answer(asked["id"], "••••")
            await server.pending(id, "dependency")
            workspace = Path(commands.task(id)["workspace"])
            assert (workspace / "heard").read_text().endswith(f"{SECRET}\n")

    play(scene)


@pytest.mark.parametrize(
    "wanted",
    [{}, {"archived": None}, {"status": "review"}, {"status": "failed", "outcome": "failed"}],
)
def test_lists_of_tasks_do_not_read_what_they_do_not_show(
    house: House, monkeypatch: pytest.MonkeyPatch, wanted: dict[str, Any]
) -> None:
    """Each list comes in the order of an index of its own, and is counted by one."""
    asked: list[tuple[str, tuple[object, ...]]] = []

    async def scene() -> None:
        async with house.open() as server:
            store = server.app.supervisor.records.store
            for name in ("all", "one"):
                read = getattr(store, name)

                def spied(sql: str, *values: object, read: Any = read) -> Any:
                    asked.append((sql, values))
                    return read(sql, *values)

                monkeypatch.setattr(store, name, spied)
            server.commands.list_tasks(**wanted)
            monkeypatch.undo()
            listed = [(sql, values) for sql, values in asked if "tasks t" in sql]
            assert len(listed) == 2, "a count and a page"
            for sql, values in listed:
                steps = store.all(f"EXPLAIN QUERY PLAN {sql}", *values)
                said = [str(row["detail"]) for row in steps]
                assert not [step for step in said if step.startswith("SCAN")]
                found = [step for step in said if step.startswith("SEARCH t USING")]
                assert any("INDEX tasks_" in step for step in found), said
                # Only the rows of the page are sorted; which ones they are, an index says.
                inner = [row["detail"] for row in steps if row["parent"] or "count(" in sql]
                assert "TEMP B-TREE" not in " ".join(inner), said

    play(scene)


def test_the_pages_of_a_list_are_the_whole_list(house: House) -> None:
    """Page after page, from either end, with any filter: each task once, the newest first."""

    async def scene() -> None:
        async with house.open() as server:
            made = [_draft(server.commands, n) for n in range(11)]
            for size in (1, 3, 4, 11, 50):
                seen: list[str] = []
                for page in range(1, 11 // size + 3):
                    found = server.commands.list_tasks(page=page, page_size=size, type="custom")
                    assert found["total"] == 11
                    assert len(found["items"]) == max(0, min(size, 11 - (page - 1) * size))
                    seen += [item["id"] for item in found["items"]]
                assert seen == made[::-1], size
            server.commands.delete_task(made[0])
            assert server.commands.list_tasks()["total"] == 10
            assert server.commands.list_tasks(status="pending")["total"] == 0

    play(scene)


def _draft(commands: Commands, n: int) -> str:
    return str(commands.create_task(NewTask(f"Task {n}", "About the sea", "custom"))["id"])
