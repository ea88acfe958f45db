"""Filters, orders and cursors of the list of tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.app import House, Open, play
from segue.work.phases.create import NewTask
from segue.work.phases.refused import Refused
from segue.work.phases.task_list import TaskFilter


@pytest.fixture
def house(tmp_path: Path) -> House:
    made = House(tmp_path)
    made.program("#!/bin/sh\nexit 3\n")
    made.program("#!/bin/sh\nexit 3\n", "other")
    return made


def titles(work: Open, **only: object) -> list[str]:
    found = work.commands.list_tasks(only=TaskFilter(**only))  # type: ignore[arg-type]
    assert found["total"] == len(found["items"])
    return [task["title"] for task in found["items"]]


def drafts(work: Open, *names: str, agent: str = "player", type: str = "custom") -> list[str]:
    made = [NewTask(name, "d", type, agent) for name in names]
    return [str(work.commands.create_task(one)["id"]) for one in made]


def test_filters_take_any_of_their_values(house: House) -> None:
    async def scene() -> None:
        async with house.open() as work:
            drafts(work, "a")
            drafts(work, "b", agent="other")
            drafts(work, "c", type="report")
            assert titles(work, types=("custom", "report"), sort="title") == ["a", "b", "c"]
            assert titles(work, types=("report",)) == ["c"]
            assert titles(work, agents=("other",)) == ["b"]
            assert titles(work, agent_statuses=("idle", "running"), sort="-title") == [
                "c",
                "b",
                "a",
            ]
            assert titles(work, agent_statuses=("paused",)) == []
            assert titles(work, statuses=("draft", "failed"), sort="createdAt") == ["a", "b", "c"]
            assert titles(work, since="2000-01-01T00:00:00.000000Z") == ["c", "b", "a"]
            assert titles(work, since="2999-01-01T00:00:00.000000Z") == []

    play(scene)


@pytest.mark.parametrize(
    "sort", ["title", "-title", "createdAt", "-createdAt", "priority", "status"]
)
def test_cursors_pass_every_task_once_whatever_is_added(house: House, sort: str) -> None:
    async def scene() -> None:
        async with house.open() as work:
            names = [f"t{n}" for n in range(7)]
            ids = drafts(work, *names)
            seen: list[str] = []
            cursor = None
            while True:
                only = TaskFilter(sort=sort, cursor=cursor)
                page = work.commands.list_tasks(page_size=3, only=only)
                assert page["total"] >= 7
                seen += [task["id"] for task in page["items"]]
                cursor = page["nextCursor"]
                if cursor is None:
                    break
                if len(seen) == 3:
                    drafts(work, "t0", "zz")
            mine = [id for id in seen if id in ids]
            assert sorted(mine) == sorted(ids)
            assert len(seen) == len(set(seen))

    play(scene)


def test_what_is_no_order_and_no_cursor_is_refused(house: House) -> None:
    async def scene() -> None:
        async with house.open() as work:
            drafts(work, "a", "b")
            other = work.commands.list_tasks(page_size=1, only=TaskFilter(sort="title"))[
                "nextCursor"
            ]
            for wrong in (
                TaskFilter(sort="colour"),
                TaskFilter(cursor="x"),
                TaskFilter(cursor="W10="),
                TaskFilter(cursor=other),
            ):
                with pytest.raises(Refused) as why:
                    work.commands.list_tasks(only=wrong)
                assert why.value.status == 400

    play(scene)


def test_a_task_says_that_it_waits_for_a_slot_and_who_paused_it(house: House) -> None:
    house.program("#!/bin/sh\nsleep 1000\n", "slow")

    async def scene() -> None:
        async with house.open(slots=1) as work:
            first = work.new("custom", "slow")
            await work.status(first, "in_progress", "running")
            second = work.new("custom", "slow")
            assert work.commands.task(second)["waitsFor"] == ["slot"]
            paused = work.commands.pause(first)
            assert (paused["pausedBy"], paused["limitKind"], paused["wakesAt"]) == (
                "person",
                None,
                None,
            )
            work.commands.cancel(first)
            work.commands.cancel(second)

    play(scene)
